"""The work of `POST /customers`, `/products` and `/orders`: a logged call that waits."""

import logging
import os
from collections.abc import Callable
from typing import Generic, TypeVar

USUAL_MS = 2000
"""The default wait of a call."""

LOG = logging.getLogger("repository")
LOG.setLevel(logging.INFO)
# A separate logger: the root logger would also carry the request logs of servers.
LOG.propagate = False

Waited = TypeVar("Waited")


class WaitError(ValueError):
    """`BENCH_REPOSITORY_MS` is not a duration."""


def load_seconds() -> float:
    """Return the wait of a call from `BENCH_REPOSITORY_MS`. Raises WaitError."""
    text = os.environ.get("BENCH_REPOSITORY_MS") or str(USUAL_MS)
    if not text.isdecimal():
        raise WaitError(f"BENCH_REPOSITORY_MS: {text}: not a whole number of ms")
    return int(text) / 1000


class Repository(Generic[Waited]):
    """Saves nothing. Each call is logged and waits with `time.sleep` or, if awaited, `asyncio.sleep`."""

    def __init__(self, wait: Callable[[float], Waited]) -> None:
        self._wait = wait
        self._seconds = load_seconds()
        if not LOG.handlers:
            LOG.addHandler(logging.StreamHandler())

    def save_customer(self, key: str, name: str, email: str) -> Waited:
        """Save a customer."""
        return self._save(f"customer {key}: {name}, {email}")

    def save_product(self, key: str, title: str, cents: int) -> Waited:
        """Save a product."""
        return self._save(f"product {key}: {title}, {cents}")

    def save_order(self, key: str, customer: int, product: int, quantity: int) -> Waited:
        """Save an order."""
        return self._save(f"order {key}: {quantity} of {product} for {customer}")

    def _save(self, call: str) -> Waited:
        LOG.info("%s", call)
        return self._wait(self._seconds)
