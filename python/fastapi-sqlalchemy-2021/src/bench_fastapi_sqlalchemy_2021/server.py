"""Serving with the uvicorn of 2021, which lacks options of the current one and cannot end in time."""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from socket import socket

import uvicorn
from uvicorn.supervisors import Multiprocess

from bench_contract.attest import attest
from bench_contract.ending import end_soon
from bench_contract.files import lift_file_limit
from bench_contract.processes import without_delay
from bench_contract.settings import KEEP_ALIVE_SECONDS, Settings

STARTUP_FAILURE = 3
"""The exit status of a server that could not start, as in the current uvicorn."""


class Server(uvicorn.Server):
    """A server that attests once it listens, and that stops however long its handlers would still take."""

    threads: int | None = None

    async def main_loop(self) -> None:
        """Attest this worker, before any request is read."""
        if self.threads is not None:
            # Starlette runs plain functions in the loop's own executor.
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(self.threads))
        app = sys.modules[str(self.config.app).partition(":")[0]]
        attest(app, http="h11", framework="fastapi", server="uvicorn", threads=self.threads)
        await super().main_loop()

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Stop, after a while even if threads still wait for a connection to the database."""
        end_soon()
        await super().shutdown(sockets)


class Supervisor(Multiprocess):
    """A supervisor that passes the signal to stop on to its workers: that of 2021 only waits for them."""

    def shutdown(self) -> None:
        """Stop the workers."""
        for process in self.processes:
            process.terminate()
        super().shutdown()


def serve(app: str, settings: Settings) -> None:
    """Serve the app `module:name` until SIGTERM or SIGINT. Logs no requests.

    Ends the process with a status other than 0 when the server could not start.
    """
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        backlog=settings.backlog,
        loop="asyncio",
        http="h11",
        access_log=False,
        log_level="warning",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
    )
    server = Server(config)
    server.threads = settings.threads
    lift_file_limit()
    if settings.workers > 1:
        listening = without_delay(config.bind_socket())
        Supervisor(config, target=server.run, sockets=[listening]).run()
    else:
        server.run()
        if not server.started:
            sys.exit(STARTUP_FAILURE)
