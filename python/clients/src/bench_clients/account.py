"""The outcomes of requests: recorded as they end, and counted when the window has closed."""

import hashlib
import time
from array import array
from collections import Counter
from typing import Any, Literal

from hdrh.histogram import HdrHistogram  # type: ignore[import-untyped]

OUTCOMES = ("ok", "non2xx", "mismatch", "timeout", "reset", "closedEarly")
Outcome = Literal["ok", "non2xx", "mismatch", "timeout", "reset", "closedEarly"]

SLICE_NS = 250_000_000
HIGHEST_US = 86_400_000_000


class Slot:
    """One connection: its requests that have ended, and the one that is open.

    Only one thread or task writes to it, so that nothing is locked under load. A request is three numbers:
    its start and its end, in ns of the monotonic clock, and its outcome.
    """

    def __init__(self) -> None:
        self.ended: array[int] = array("q")
        self.pending_since: int | None = None
        self.stands = False
        self.refused = 0

    def begin(self) -> None:
        """Records that a request leaves now."""
        self.pending_since = time.monotonic_ns()

    def end(self, outcome: Outcome, status: int = 0) -> None:
        """Records the end of the request, with its status if it was answered."""
        if self.pending_since is None:
            raise RuntimeError("no request is under way")
        code = OUTCOMES.index(outcome) * 1000 + status
        self.ended.extend((self.pending_since, time.monotonic_ns(), code))
        self.pending_since = None
        self.stands = self.stands or status > 0

    def refuse(self) -> None:
        """Records that the connect failed."""
        self.pending_since = None
        self.refused += 1


class Checker:
    """Judges answers: by status, and by every byte of the body."""

    def __init__(self) -> None:
        self._right: dict[str, bytes] = {}
        self.bodies_hashed = 0
        self.body_bytes: int | None = None

    def judge(self, status: int, body: bytes, expected: dict[str, Any] | None) -> Outcome:
        """Returns the outcome of an answer; without an expected body, it depends on the status alone."""
        if not 200 <= status <= 299:
            return "non2xx"
        if expected is not None:
            self.bodies_hashed += 1
            sha256 = expected["sha256"]
            # The first right body spares the hashes of the others.
            if body != self._right.get(sha256):
                if hashlib.sha256(body).hexdigest() != sha256:
                    return "mismatch"
                self._right[sha256] = body
        self.body_bytes = len(body)
        return "ok"


def count_lifetime(slots: list[Slot]) -> dict[str, int]:
    """Returns the outcomes of all requests so far."""
    counts = dict.fromkeys(OUTCOMES, 0)
    for slot in slots:
        for code in slot.ended[2::3]:
            counts[OUTCOMES[code // 1000]] += 1
    in_flight = sum(slot.pending_since is not None for slot in slots)
    return {"sent": sum(counts.values()) + in_flight, **counts, "inFlight": in_flight}


def count_warmup(slots: list[Slot], begun: int, ended: int, opened: int) -> dict[str, Any]:
    """Returns the load before the window, which opened at a moment of the monotonic clock, in ns.

    Right answers are counted in slices between the other two moments, the start and the end of the warm-up.
    """
    slices = [0] * ((ended - begun) // SLICE_NS)
    answers = 0
    for slot in slots:
        for first in range(0, len(slot.ended), 3):
            _, at, code = slot.ended[first : first + 3]
            if at >= opened:
                break
            answers += code % 1000 > 0
            if begun <= at < ended and OUTCOMES[code // 1000] == "ok":
                index = (at - begun) // SLICE_NS
                slices.extend([0] * (index + 1 - len(slices)))
                slices[index] += 1
    return {"milliseconds": SLICE_NS // 1_000_000, "ok": slices, "answers": answers}


def count_window(slots: list[Slot], woken: int, opened: int, closed: int) -> dict[str, Any]:
    """Returns the account of a window between two moments of the monotonic clock, in ns.

    A request belongs to the window if it was open in it: with its outcome if it ended in the window, as in
    flight if it ended later. The latency of a slot's first answer is left out, because it includes the
    connect. A cycle begins with the end of the last request, or when all slots were `woken`.
    """
    counts = dict.fromkeys(OUTCOMES, 0)
    in_flight = 0
    statuses: Counter[str] = Counter()
    latencies = HdrHistogram(1, HIGHEST_US, 3)
    cycle_us, cycles = 0.0, 0
    slices = [0] * (1 + (closed - opened) // SLICE_NS)
    silent = 0
    for slot in slots:
        completed = 0
        last_end: int | None = None
        in_flight += slot.pending_since is not None and slot.pending_since < closed
        for first in range(0, len(slot.ended), 3):
            began, ended, code = slot.ended[first : first + 3]
            outcome, status = OUTCOMES[code // 1000], code % 1000
            in_flight += began < closed <= ended
            if opened <= ended < closed:
                completed += 1
                counts[outcome] += 1
                if status > 0:
                    statuses[str(status)] += 1
                if last_end is not None:
                    cycle_us += (ended - max(last_end, woken)) / 1000
                    cycles += 1
                if outcome == "ok":
                    slices[(ended - opened) // SLICE_NS] += 1
                    if first > 0:
                        latencies.record_value(min(HIGHEST_US, max(1, round((ended - began) / 1000))))
            last_end = ended
        silent += completed == 0
    return {
        "counts": {"sent": sum(counts.values()) + in_flight, **counts, "inFlight": in_flight},
        "statusCodes": dict(statuses),
        "latencyHistogram": latencies.encode().decode(),
        "cycleUs": {"sum": cycle_us, "count": cycles},
        "silentConnections": silent,
        "slices": {"milliseconds": SLICE_NS // 1_000_000, "ok": slices},
    }
