"""Carries out the orders of the harness, and reports."""

import time
from collections.abc import Callable
from typing import Any

from bench_clients.account import count_lifetime, count_warmup, count_window
from bench_clients.load import Load

POLL_SECONDS = 0.005
# The longest wait for open answers at the end of the window.
DRAIN_SECONDS = 5.0


class Session:
    """One arm and one fire of one process. Its reports follow the protocol of the harness (`protocol.ts`)."""

    def __init__(self, load: Load, tell: Callable[[dict[str, Any]], None]) -> None:
        self._load = load
        self._tell = tell
        self._started = time.monotonic()

    def arm(self) -> None:
        """Connects, and waits until every connection has answered once, or the deadline."""
        self._load.start()
        deadline = self._started + self._load.order["barrierSeconds"]
        wait_until(lambda: all(slot.stands for slot in self._load.slots), deadline)
        self._finish("arm", self._connect(time.monotonic() - self._started))

    def count(self) -> None:
        """Reports the outcomes of all requests so far, at any time."""
        self._finish("count", count_lifetime(self._load.slots))

    def fire(self, order: dict[str, Any]) -> None:
        """Warms up, opens the window, closes it, drains, and reports the account."""
        load, amount = self._load, order.get("amount")
        sleep_until(order["atMs"])
        woken = begun = time.monotonic_ns()
        load.gate.open(float("inf"))
        sleep_until(order["atMs"] + order["warmupSeconds"] * 1000)
        warmed = time.monotonic_ns()
        if amount is not None:
            self._fall_silent()
        connect = self._connect(0)
        opened, opened_at_ms, cpu = time.monotonic_ns(), time.time() * 1000, time.process_time()
        self._tell({"event": "opened"})
        closed = opened + round(order["windowSeconds"] * 1e9)
        if amount is None:
            time.sleep(max(0, (closed - time.monotonic_ns()) / 1e9))
        else:
            woken = opened
            load.gate.open(amount)
            wait_until(lambda: load.gate.is_used_up and self._is_quiet(), closed / 1e9)
        use = {
            "cpuUs": (time.process_time() - cpu) * 1e6,
            "seconds": (time.monotonic_ns() - opened) / 1e9,
        }
        closed_at_ms = time.time() * 1000
        self._tell({"event": "closed"})
        self._fall_silent()
        if amount is not None:
            # It ends just after its last answer: an answer exactly at `closed` would not count.
            closed = min(closed, 1 + max(slot.ended[-2] for slot in load.slots if slot.ended))
        self._finish(
            "fire",
            {
                "connect": connect,
                "openedAtMs": opened_at_ms,
                "closedAtMs": closed_at_ms,
                "windowSeconds": (closed - opened) / 1e9,
                "lifetime": count_lifetime(load.slots),
                "bodyBytes": load.checker.body_bytes,
                "bodiesHashed": load.checker.bodies_hashed,
                "use": use,
                "warmup": count_warmup(load.slots, begun, warmed, opened),
                **count_window(load.slots, woken, opened, closed),
            },
        )

    def _finish(self, order: str, result: dict[str, Any]) -> None:
        self._tell({"event": "done", "order": order, "result": result})

    def _is_quiet(self) -> bool:
        return all(slot.pending_since is None for slot in self._load.slots)

    def _fall_silent(self) -> None:
        self._load.gate.shut()
        patience = min(DRAIN_SECONDS, self._load.order["timeoutSeconds"])
        wait_until(self._is_quiet, time.monotonic() + patience)

    def _connect(self, seconds: float) -> dict[str, Any]:
        slots = self._load.slots
        refused = sum(slot.refused for slot in slots)
        return {
            "planned": len(slots),
            "established": sum(slot.stands for slot in slots),
            "seconds": seconds,
            "refused": refused,
            "retried": refused,
        }


def wait_until(condition: Callable[[], bool], deadline: float) -> None:
    """Waits for a condition, or until a moment of the monotonic clock."""
    while not condition() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)


def sleep_until(at_ms: float) -> None:
    """Sleeps until a moment in ms since the epoch; not at all if it has passed."""
    time.sleep(max(0.0, at_ms / 1000 - time.time()))
