"""aiohttp's own server in as many processes as are asked for: it has no way to that of its own."""

from functools import partial
from importlib import import_module
from socket import socket

from bench_aiohttp.server import work
from bench_contract import processes
from bench_contract.settings import Settings


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, on the loop that the variant names."""
    processes.serve("bench-aiohttp", settings, partial(serve_here, settings))


def serve_here(settings: Settings, sock: socket) -> None:
    """Serve from this process."""
    # Named as its variant; the environment of one does not hold the other.
    loop = import_module(settings.variant).new_event_loop()
    work(sock, settings.backlog, loop, server="aiohttp")
