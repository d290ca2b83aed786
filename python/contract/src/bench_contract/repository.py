"""The work of `POST /customers`, `/products` and `/orders`: a call that is logged, and waits."""

import logging
import os
from collections.abc import Callable
from typing import Generic, TypeVar

USUAL_MS = 2000
"""How long a call waits when nobody has said."""

LOG = logging.getLogger("repository")
LOG.setLevel(logging.INFO)
# Of its own: servers would log requests by the root's.
LOG.propagate = False

Waited = TypeVar("Waited")


class WaitError(ValueError):
    """`BENCH_REPOSITORY_MS` is no time."""


def load_seconds() -> float:
    """Give how long a call waits, as `BENCH_REPOSITORY_MS` says. Throws WaitError."""
    text = os.environ.get("BENCH_REPOSITORY_MS") or str(USUAL_MS)
    if not text.isdecimal():
        raise WaitError(f"BENCH_REPOSITORY_MS: {text}: not a whole number of ms")
    return int(text) / 1000


class Repository(Generic[Waited]):
    """Saves nothing: each call is logged, and waits by `time.sleep` or, to be awaited, by `asyncio.sleep`."""

    def __init__(self, wait: Callable[[float], Waited]) -> None:
        self._wait = wait
        self._seconds = load_seconds()
        if not LOG.handlers:
            LOG.addHandler(logging.StreamHandler())

    def save_customer(self, key: str, name: str, email: str) -> Waited:
        """Save one who buys."""
        return self._save(f"customer {key}: {name}, {email}")

    def save_product(self, key: str, title: str, cents: int) -> Waited:
        """Save what is sold."""
        return self._save(f"product {key}: {title}, {cents}")

    def save_order(self, key: str, customer: int, product: int, quantity: int) -> Waited:
        """Save who buys what."""
        return self._save(f"order {key}: {quantity} of {product} for {customer}")

    def _save(self, call: str) -> Waited:
        LOG.info("%s", call)
        return self._wait(self._seconds)
