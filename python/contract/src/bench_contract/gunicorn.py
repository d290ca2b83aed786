"""Serving an ASGI app with gunicorn and uvicorn's worker, the same way for every stack that does."""

import sys
from importlib import import_module
from typing import Any, ClassVar

from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]
from uvicorn_worker import UvicornWorker  # type: ignore[import-untyped]

from bench_contract.attest import attest
from bench_contract.files import lift_file_limit
from bench_contract.settings import HEALTH_SECONDS, KEEP_ALIVE_SECONDS, STOP_SECONDS, Settings
from bench_contract.uvicorn import name_parser


class Worker(UvicornWorker):  # type: ignore[misc]
    """A worker that attests once, in its running loop, as soon as it listens."""

    CONFIG_KWARGS: ClassVar[dict[str, Any]] = {
        "loop": "uvloop",
        "http": "httptools",
        "interface": "asgi3",
        "access_log": False,
        "timeout_graceful_shutdown": STOP_SECONDS,
    }

    has_attested = False

    async def callback_notify(self) -> None:
        """Tell the supervisor that this worker lives: uvicorn calls it on its first tick, then regularly."""
        await super().callback_notify()
        if not self.has_attested:
            self.has_attested = True
            self.app.attest(name_parser(self.config))


class Application(BaseApplication):  # type: ignore[misc]
    """What gunicorn has to know, without its command line and files."""

    def __init__(self, app: str, settings: Settings, framework: str) -> None:
        self.module, _, self.factory = app.partition(":")
        self.settings = settings
        self.framework = framework
        super().__init__()

    def load_config(self) -> None:
        """Say how to serve: gunicorn calls it as it is made."""
        settings = {
            "bind": f"{self.settings.host}:{self.settings.port}",
            "workers": self.settings.workers,
            "worker_class": Worker,
            "backlog": self.settings.backlog,
            "keepalive": KEEP_ALIVE_SECONDS,
            "timeout": HEALTH_SECONDS,
            "graceful_timeout": STOP_SECONDS + 1,  # a worker that keeps to its own time is not killed
            "loglevel": "warning",
            "control_socket_disable": True,
        }
        for name, value in settings.items():
            self.cfg.set(name, value)

    def load(self) -> object:
        """Make the app: gunicorn calls it in each worker."""
        return getattr(import_module(self.module), self.factory)()

    def attest(self, http: str) -> None:
        """Say what this worker is."""
        attest(sys.modules[self.module], http=http, framework=self.framework, server="gunicorn+uvicorn")


def serve(app: str, settings: Settings, *, framework: str) -> None:
    """Serve what the factory `module:name` makes until SIGTERM or SIGINT; `framework` is its distribution.

    Logs no requests. Ends the process with a status other than 0 when the server could not start.
    """
    lift_file_limit()
    Application(app, settings, framework).run()
