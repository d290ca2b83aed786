"""A worker of aiohttp's own server, in any process."""

from asyncio import AbstractEventLoop
from socket import socket

from aiohttp import web
from aiohttp.http_parser import HttpRequestParser

from bench_aiohttp import app as module
from bench_contract.attest import attest
from bench_contract.settings import KEEP_ALIVE_SECONDS, STOP_SECONDS


def work(sock: socket, backlog: int, loop: AbstractEventLoop, *, server: str) -> None:
    """Serve from this process until SIGTERM or SIGINT, and attest; `server` is as in the attestation."""

    async def tell(_app: web.Application) -> None:
        attest(module, http=name_parser(), framework="aiohttp", server=server)

    app = module.make_app()
    app.on_startup.append(tell)
    web.run_app(
        app,
        sock=sock,
        backlog=backlog,  # aiohttp listens once more
        keepalive_timeout=KEEP_ALIVE_SECONDS,
        shutdown_timeout=STOP_SECONDS,
        access_log=None,
        print=None,
        loop=loop,
    )


def name_parser() -> str:
    """Return the parser in use: without its extension, aiohttp falls back to one in Python."""
    return "llhttp" if HttpRequestParser.__module__.endswith("._http_parser") else "python"
