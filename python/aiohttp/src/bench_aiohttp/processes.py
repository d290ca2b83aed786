"""aiohttp's own server in as many processes as are asked for: it has no way to that of its own."""

import asyncio
import signal
import sys
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import wait
from types import FrameType

import uvloop

from bench_aiohttp.server import listen, work
from bench_contract.files import lift_file_limit
from bench_contract.settings import Settings

LOOPS = {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, on the loop that the variant names."""
    # Until the server has its own way to stop.
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    lift_file_limit()
    sock = listen(settings)

    def work_here() -> None:
        work(sock, settings.backlog, LOOPS[settings.variant](), server="aiohttp")

    if settings.workers > 1:
        supervise(work_here, settings.workers)
    else:
        work_here()


def supervise(work: Callable[[], None], count: int) -> None:
    """Do the work in as many forked processes until a signal ends this one, or one of them ends."""
    # Daemons are ended and waited for when this process exits.
    processes = [get_context("fork").Process(target=work, daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    wait([process.sentinel for process in processes])
    sys.exit("bench-aiohttp: a worker has ended by itself")


def stop(_signal: int, _frame: FrameType | None) -> None:
    """End this process as one that was told to."""
    sys.exit(0)
