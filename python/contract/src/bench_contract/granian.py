"""Serving an ASGI app with granian, the same way in every stack."""

import sys
import sysconfig
from functools import partial

from granian import Granian
from granian.constants import Interfaces, Loops
from granian.http import HTTP1Settings
from granian.log import LogLevels

from bench_contract import asgi
from bench_contract.files import lift_file_limit
from bench_contract.settings import KEEP_ALIVE_SECONDS, STOP_SECONDS, Settings

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def serve(app: str, settings: Settings, *, framework: str) -> None:
    """Serve the app of the factory `module:name` until SIGTERM or SIGINT; `framework` is its distribution.

    Each worker is a process with one event loop, and `threads` the size of its pool for plain functions.
    Under a free-threaded interpreter granian has one process, whose workers are threads with a loop each:
    `threads` of them, with one thread for plain functions each.

    Logs no requests. Ends the process with a status other than 0 if the server cannot start.
    """
    workers, pool = settings.workers, settings.threads
    if FREE_THREADED:
        if workers > 1:
            sys.exit("granian has one process on a free-threaded interpreter: use --threads, not --workers")
        workers, pool = (1, None) if pool is None else (pool, 1)
    lift_file_limit()
    module, _, factory = app.partition(":")
    load = partial(asgi.load, module, factory, http="hyper", framework=framework, server="granian", pool=pool)
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
    ).serve(target_loader=load, wrap_loader=False)
