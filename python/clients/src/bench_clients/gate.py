"""The permission to send requests."""

import threading
from collections.abc import Callable

from bench_clients.account import Outcome, Slot


class Gate:
    """Lets requests leave: any number, an exact number, or none.

    `on_change` is called after each change of the permission.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.on_change: Callable[[], object] = self._notify
        self.arming = True
        self._budget = float("inf")

    def try_enter(self, slot: Slot) -> bool:
        """Begins the slot's next request, if it may leave."""
        with self.changed:
            if self._budget <= 0:
                return False
            self._budget -= 1
            slot.begin()
            return True

    def refuse(self, slot: Slot, outcome: Outcome) -> None:
        """Records that the connect of a slot failed.

        Before the load, another request may leave in its place. Under load, its request has failed.
        """
        with self.changed:
            if self.arming:
                slot.refuse()
                self._budget += 1
            else:
                slot.end(outcome)
        self.on_change()

    def open(self, budget: float) -> None:
        """Lets this many requests leave from now on."""
        with self.changed:
            self.arming = False
            self._budget = budget
        self.on_change()

    def shut(self) -> None:
        """Lets no request leave from now on."""
        self.open(float("-inf"))

    @property
    def is_used_up(self) -> bool:
        """True if no more requests may leave."""
        return self._budget <= 0

    def _notify(self) -> None:
        with self.changed:
            self.changed.notify_all()
