"""aiohttp's own server in as many processes as are asked for: it has no way to that of its own."""

import asyncio
from functools import partial
from socket import socket

import uvloop

from bench_aiohttp.server import work
from bench_contract import processes
from bench_contract.settings import Settings

LOOPS = {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, on the loop that the variant names."""
    processes.serve("bench-aiohttp", settings, partial(serve_here, settings))


def serve_here(settings: Settings, sock: socket) -> None:
    """Serve from this process."""
    work(sock, settings.backlog, LOOPS[settings.variant](), server="aiohttp")
