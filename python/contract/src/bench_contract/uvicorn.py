"""Serving an ASGI app with uvicorn, the same way in every stack."""

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Literal

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from bench_contract.attest import attest
from bench_contract.ending import end_soon
from bench_contract.files import lift_file_limit
from bench_contract.processes import without_delay
from bench_contract.settings import HEALTH_SECONDS, KEEP_ALIVE_SECONDS, STOP_SECONDS, Settings


class Config(uvicorn.Config):
    """A configuration with which every worker attests once, in its running loop, as soon as it listens."""

    framework: str | None = None
    threads: int | None = None

    async def begin(self) -> None:
        """Attest this worker; uvicorn calls it on its first tick, before it reads any request."""
        self.timeout_notify = sys.maxsize  # never again
        signal.signal(signal.SIGTERM, ending(signal.getsignal(signal.SIGTERM)))
        signal.signal(signal.SIGINT, ending(signal.getsignal(signal.SIGINT)))
        threads = None
        if self.threads is not None:
            from bench_contract.pool import size_pool  # not every stack has anyio

            threads = size_pool(self.threads)
        attest(
            sys.modules[str(self.app).partition(":")[0]],
            http=name_parser(self),
            framework=self.framework,
            server="uvicorn",
            threads=threads,
        )


def ending(handler: object) -> Callable[[int, FrameType | None], None]:
    """Return a signal handler that also makes sure that the process ends."""

    def stop(number: int, frame: FrameType | None) -> None:
        end_soon()
        if callable(handler):
            handler(number, frame)

    return stop


def name_parser(config: uvicorn.Config) -> str:
    """Return the parser in use, `httptools` or `h11`; the configuration must be loaded."""
    return config.http_protocol_class.__module__.rpartition(".")[2].removesuffix("_impl")


def serve(
    app: str,
    settings: Settings,
    *,
    framework: str | None,
    factory: bool = False,
    loop: Literal["uvloop", "asyncio"] = "uvloop",
    http: Literal["httptools", "h11"] = "httptools",
) -> None:
    """Serve the app `module:name` until SIGTERM or SIGINT; `framework` is its distribution, if it has one.

    Logs no requests. Ends the process with a status other than 0 if the server cannot start.
    """
    config = Config(
        app,
        factory=factory,
        # Compiled callables do not look like coroutine functions, by which uvicorn detects the interface.
        interface="asgi3",
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        backlog=settings.backlog,
        loop=loop,
        http=http,
        access_log=False,
        log_level="warning",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
        timeout_worker_healthcheck=HEALTH_SECONDS,
    )
    config.framework = framework
    config.threads = settings.threads
    config.callback_notify = config.begin
    lift_file_limit()
    if settings.workers > 1:
        supervise(config)
    else:
        run(config)


def run(config: Config) -> None:
    """Serve from this process."""
    server = uvicorn.Server(config)

    def stop(_signal: int, _frame: FrameType | None) -> None:
        # uvicorn raises the signal once more after it has stopped: by then it is a normal end.
        if not server.started:
            sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    server.run()
    if not server.started:
        sys.exit(STARTUP_FAILURE)


def supervise(config: Config) -> None:
    """Serve from the configured number of processes, under uvicorn's own supervisor."""
    supervisor = Multiprocess(config, sockets=[without_delay(config.bind_socket())])
    supervisor.run()
    if any(process.exitcode == STARTUP_FAILURE for process in supervisor.processes):
        sys.exit(STARTUP_FAILURE)
