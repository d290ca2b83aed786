"""A worker as a uWSGI mule: a process that uWSGI starts and watches, but sends no requests to."""

import sys
from socket import socket

import uvloop

from bench_aiohttp.server import work
from bench_contract import uwsgi
from bench_contract.processes import listen
from bench_contract.settings import Settings

PROGRAM = "bench-aiohttp"


def serve(settings: Settings) -> None:
    """Become uWSGI's master of the requested number of mules, which all accept from one socket."""
    sock = listen(settings)
    sock.set_inheritable(True)
    mules = ["--mule=bench_aiohttp.mule:main"] * settings.workers
    handed = f"--pyargv={sock.fileno()} {settings.backlog}"
    sockets = uwsgi.name_sockets(PROGRAM, 1)
    uwsgi.run(PROGRAM, settings.backlog, sockets, ["--processes=0", handed, *mules])


def main() -> None:
    """Serve, when uWSGI has started this mule."""
    _, descriptor, backlog = sys.argv
    sock = socket(fileno=int(descriptor))
    work(sock, int(backlog), uvloop.new_event_loop(), server=f"{uwsgi.SERVER}+aiohttp")
