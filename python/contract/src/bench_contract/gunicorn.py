"""Serving with gunicorn, whose workers run other servers, the same way in every stack."""

import sys
from importlib import import_module

from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]

from bench_contract.attest import attest
from bench_contract.files import lift_file_limit
from bench_contract.settings import HEALTH_SECONDS, KEEP_ALIVE_SECONDS, STOP_SECONDS, Settings


class Application(BaseApplication):  # type: ignore[misc]
    """The configuration of gunicorn, without its command line and files."""

    def __init__(self, app: str, settings: Settings, worker: str, framework: str, threads: int) -> None:
        self.module, _, self.factory = app.partition(":")
        self.settings = settings
        self.worker = worker
        self.framework = framework
        self.threads = threads
        super().__init__()

    def load_config(self) -> None:
        """Set the configuration; gunicorn calls it from the constructor."""
        settings = {
            "bind": f"{self.settings.host}:{self.settings.port}",
            "workers": self.settings.workers,
            "threads": self.threads,
            "worker_connections": self.settings.backlog,  # idle connections count too
            "worker_class": self.worker,
            "backlog": self.settings.backlog,
            "keepalive": KEEP_ALIVE_SECONDS,
            "timeout": HEALTH_SECONDS,
            "graceful_timeout": STOP_SECONDS + 1,  # more than a worker needs, so that it is not killed
            "loglevel": "warning",
            "control_socket_disable": True,
        }
        for name, value in settings.items():
            self.cfg.set(name, value)

    def load(self) -> object:
        """Make the app; gunicorn calls it in each worker."""
        return getattr(import_module(self.module), self.factory)()

    def attest(self, *, http: str, server: str | None = None, loop: str | None = None) -> None:
        """Attest this worker; `server` is the distribution that it runs, if not gunicorn alone."""
        attest(
            sys.modules[self.module],
            http=http,
            framework=self.framework,
            server="gunicorn" if server is None else f"gunicorn+{server}",
            threads=None if self.settings.threads is None else self.cfg.threads,
            loop=loop,
        )


def serve(app: str, settings: Settings, *, worker: str, framework: str, threads: int = 1) -> None:
    """Serve the app of the factory `module:name` until SIGTERM or SIGINT; `framework` is its distribution.

    The worker is a class, `module.name`, whose application attests once it listens; `threads` apply to
    gunicorn's own threaded workers. Logs no requests.
    Ends the process with a status other than 0 when the server could not start.
    """
    lift_file_limit()
    Application(app, settings, worker, framework, threads).run()
