"""Serving in several processes, for servers that cannot start them themselves."""

import signal
import sys
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import wait
from socket import AF_INET, AF_INET6, IPPROTO_TCP, TCP_NODELAY, create_server, socket
from types import FrameType

from bench_contract.files import lift_file_limit
from bench_contract.settings import Settings


def serve(program: str, settings: Settings, work: Callable[[socket], None]) -> None:
    """Run the work in each process until SIGTERM or SIGINT; all accept from one socket."""
    # Until the server has its own way to stop.
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    lift_file_limit()
    sock = listen(settings)
    if settings.workers == 1:
        work(sock)
        return
    # Daemons are ended and waited for when this process exits.
    fork = get_context("fork").Process
    processes = [fork(target=work, args=[sock], daemon=True) for _ in range(settings.workers)]
    for process in processes:
        process.start()
    wait([process.sentinel for process in processes])
    sys.exit(f"{program}: a worker has ended by itself")


def listen(settings: Settings) -> socket:
    """Open the socket that all workers accept from."""
    family = AF_INET6 if ":" in settings.host else AF_INET
    return create_server((settings.host, settings.port), family=family, backlog=settings.backlog)


def without_delay(listening: socket) -> socket:
    """Make all connections of a listening socket send answers immediately, and return the socket.

    Connections inherit the option. asyncio sets it only if a socket names the protocol TCP, which that of
    uvicorn does not.
    """
    listening.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    return listening


def stop(_signal: int, _frame: FrameType | None) -> None:
    """End this process as if by request."""
    sys.exit(0)
