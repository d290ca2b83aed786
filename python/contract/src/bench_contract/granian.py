"""Serving an ASGI app with granian, the same way for every stack that does."""

import sys
import sysconfig
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from importlib import import_module
from typing import Any

from granian import Granian
from granian.constants import Interfaces, Loops
from granian.http import HTTP1Settings
from granian.log import LogLevels

from bench_contract.attest import attest
from bench_contract.files import lift_file_limit
from bench_contract.pool import size_pool
from bench_contract.settings import KEEP_ALIVE_SECONDS, STOP_SECONDS, Settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def serve(app: str, settings: Settings, *, framework: str) -> None:
    """Serve what the factory `module:name` makes until SIGTERM or SIGINT; `framework` is its distribution.

    Each worker is a process with one event loop, and `threads` the size of its pool for plain functions.
    Under a free-threaded interpreter granian has one process, whose workers are threads with a loop each:
    `threads` of them, with one thread for plain functions each.

    Logs no requests. Ends the process with a status other than 0 when the server could not start.
    """
    workers, pool = settings.workers, settings.threads
    if FREE_THREADED:
        if workers > 1:
            sys.exit("granian has one process on a free-threaded interpreter: use --threads, not --workers")
        workers, pool = (1, None) if pool is None else (pool, 1)
    lift_file_limit()
    Granian(
        app,
        address=settings.host,
        port=settings.port,
        interface=Interfaces.ASGI,
        workers=workers,
        loop=Loops.uvloop,
        backlog=settings.backlog,
        http1_settings=HTTP1Settings(header_read_timeout=KEEP_ALIVE_SECONDS * 1000),
        log_level=LogLevels.warning,
        workers_kill_timeout=STOP_SECONDS,
    ).serve(target_loader=partial(load, app, framework, pool), wrap_loader=False)


def load(app: str, framework: str, pool: int | None) -> Callable[[Message, Receive, Send], Awaitable[None]]:
    """Make the app of a worker, which attests in its running loop before it serves."""
    name, _, factory = app.partition(":")
    module = import_module(name)
    asgi = getattr(module, factory)()

    def answer(scope: Message, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "lifespan":
            threads = None if pool is None else size_pool(pool)
            attest(module, http="hyper", framework=framework, server="granian", threads=threads)
        answered: Awaitable[None] = asgi(scope, receive, send)
        return answered

    return answer
