"""The part that all clients share: the order, the slots, and the gate before them."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from bench_clients.account import Checker, Slot
from bench_clients.gate import Gate

# After a failed connect, so that a server that is down is not flooded.
RETRY_SECONDS = 0.1
# A server on one core usually accepts this many.
CONNECTS_PER_SECOND = 2000.0


class Load(ABC):
    """The connections of one process to one server.

    A closed loop: each sends its next request when the last has ended.
    """

    def __init__(self, order: dict[str, Any], on_failure: Callable[[BaseException], None]) -> None:
        self.order = order
        self.on_failure = on_failure
        self.slots = [Slot() for _ in range(order["connections"])]
        self.gate = Gate()
        self.checker = Checker()
        requests = order["requests"]
        # Each request with the expected body, if it is known.
        self.cycle = list(zip(requests, order.get("expected") or [None] * len(requests), strict=True))
        # Until all are connected, each sends only this often: enough to stay alive, too little to be a load.
        self.rest_seconds = min(4.0, max(1.0, order["connections"] / 1000))

    @abstractmethod
    def start(self) -> None:
        """Begins to connect."""

    def delay_of(self, index: int) -> float:
        """Returns the time at which this slot connects, in seconds from the start."""
        return index / CONNECTS_PER_SECOND

    @property
    def url(self) -> str:
        """The address of the server, without a path."""
        scheme = "http" if self.order.get("tls") is None else "https"
        return f"{scheme}://{self.order['host']}:{self.order['port']}"

    @property
    def verifies(self) -> bool:
        """False if the certificate of the server may be self-signed."""
        tls = self.order.get("tls")
        return tls is None or bool(tls["verifies"])
