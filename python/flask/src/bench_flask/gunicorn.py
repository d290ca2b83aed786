"""gunicorn's own workers, which attest as soon as they can accept."""

from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]
from gunicorn.workers.sync import SyncWorker  # type: ignore[import-untyped]

THREADS = 4
"""The most threads that gunicorn's documentation recommends per core: 2 to 4."""


class Sync(SyncWorker):  # type: ignore[misc]
    """One request at a time; closes each connection."""

    def run(self) -> None:
        """Serve: gunicorn calls it once the app is loaded."""
        self.app.attest(http="gunicorn", loop="none")
        super().run()


class Threads(ThreadWorker):  # type: ignore[misc]
    """A request in each of its threads."""

    def run(self) -> None:
        """Serve: gunicorn calls it once the app is loaded."""
        self.app.attest(http="gunicorn", loop="none")
        super().run()
