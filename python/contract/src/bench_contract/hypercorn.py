"""Serving an ASGI app with hypercorn, the same way in every stack."""

import sys
from functools import partial

from hypercorn.config import Config
from hypercorn.run import run

from bench_contract import asgi
from bench_contract.files import lift_file_limit
from bench_contract.settings import KEEP_ALIVE_SECONDS, STOP_SECONDS, Settings

load = partial(asgi.load, http="h11", server="hypercorn")


def serve(app: str, settings: Settings, *, framework: str) -> None:
    """Serve the app of the factory `module:name` until SIGTERM or SIGINT; `framework` is its distribution.

    Logs no requests. Ends the process with a status other than 0 if the server cannot start.
    """
    module, _, factory = app.partition(":")
    config = Config()
    # Each worker of hypercorn evaluates the text after the second colon.
    config.application_path = f"asgi:{__name__}:load({module!r}, {factory!r}, framework={framework!r})"
    config.bind = [f"{settings.host}:{settings.port}"]
    config.workers = settings.workers if settings.workers > 1 else 0  # 0: this process serves by itself
    config.worker_class = "uvloop"
    config.backlog = settings.backlog
    config.keep_alive_timeout = KEEP_ALIVE_SECONDS
    config.graceful_timeout = STOP_SECONDS
    config.loglevel = "WARNING"
    lift_file_limit()
    sys.exit(run(config))
