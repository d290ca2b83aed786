"""aiohttp's own server in the requested number of processes: it cannot start several itself."""

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
    # Each variant is named after the module of its loop, the only one that its environment has.
    loop = import_module(settings.variant).new_event_loop()
    work(sock, settings.backlog, loop, server="aiohttp")
