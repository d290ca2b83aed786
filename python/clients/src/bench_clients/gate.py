"""Who may send, and when."""

import threading
from collections.abc import Callable

from bench_clients.account import Slot


class Gate:
    """Lets requests leave: any number, an exact number, or none.

    `on_change` is called whenever that has changed.
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

    def refuse(self, slot: Slot) -> None:
        """The slot's connect failed: another request may leave in place of the one that did not."""
        with self.changed:
            slot.refuse()
            self._budget += 1
        self.on_change()

    def open(self, budget: float) -> None:
        """So many requests may leave from now on."""
        with self.changed:
            self.arming = False
            self._budget = budget
        self.on_change()

    def shut(self) -> None:
        """No request leaves from now on: none in place of one that is refused either."""
        self.open(float("-inf"))

    @property
    def is_used_up(self) -> bool:
        """Whether no more may leave."""
        return self._budget <= 0

    def _notify(self) -> None:
        with self.changed:
            self.changed.notify_all()
