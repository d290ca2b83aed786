"""Flask on waitress: one thread that reads and writes, and several that answer."""

import logging
import os
from socket import socket

from waitress.server import create_server  # type: ignore[import-untyped]

from bench_contract.attest import attest
from bench_contract.settings import KEEP_ALIVE_SECONDS, Settings
from bench_flask import app as module

THREADS = 4
"""The default of waitress."""

CONNECTIONS = int(os.environ.get("BENCH_WAITRESS_CONNECTIONS") or 100)
"""The most accepted connections, by default that of waitress. Others wait in the kernel."""


def serve(settings: Settings, sock: socket) -> None:
    """Serve from this process until SystemExit."""
    # It would write a line for each request that waits for a thread.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    server = create_server(
        module.make_app(),
        sockets=[sock],
        threads=settings.threads or THREADS,
        connection_limit=CONNECTIONS,
        channel_timeout=KEEP_ALIVE_SECONDS,
        backlog=settings.backlog,
        asyncore_use_poll=True,  # select() ends at 1024 files
    )
    attest(
        module,
        http="waitress",
        framework="flask",
        server="waitress",
        threads=None if settings.threads is None else server.adj.threads,
        loop="none",
    )
    server.run()
