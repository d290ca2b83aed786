"""uvicorn as gunicorn's worker."""

from typing import Any, ClassVar

from uvicorn_worker import UvicornWorker  # type: ignore[import-untyped]

from bench_contract.settings import STOP_SECONDS
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
        """Report to the supervisor that this worker is alive; uvicorn calls it regularly."""
        await super().callback_notify()
        if not self.has_attested:
            self.has_attested = True
            self.app.attest(http=name_parser(self.config), server="uvicorn")
