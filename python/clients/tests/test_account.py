import random

import pytest
from hdrh.histogram import HdrHistogram  # type: ignore[import-untyped]

from bench_clients.account import OUTCOMES, Checker, Slot, count_lifetime, count_warmup, count_window
from bench_clients.blocking import causes_of
from bench_clients.gate import Gate

MS = 1_000_000


def slot_of(*requests: tuple[int, int, str], pending_since: int | None = None) -> Slot:
    """Return a slot with requests that left and ended at these ms."""
    slot = Slot()
    for began, ended, outcome in requests:
        status = 200 if outcome in ("ok", "mismatch") else 500 if outcome == "non2xx" else 0
        slot.ended.extend((began * MS, ended * MS, OUTCOMES.index(outcome) * 1000 + status))
    slot.pending_since = None if pending_since is None else pending_since * MS
    return slot


def test_a_request_belongs_to_the_window_that_it_was_under_way_in() -> None:
    slots = [
        slot_of((0, 90, "ok"), (95, 110, "ok"), (110, 150, "non2xx"), (150, 1100, "ok"), (1100, 1150, "ok")),
        slot_of((0, 100, "ok"), (100, 1099, "reset"), pending_since=1099),
        slot_of((0, 50, "ok"), pending_since=60),
        slot_of(),
    ]
    told = count_window(slots, 0, 100 * MS, 1100 * MS)
    assert told["counts"] == {
        "sent": 7,
        "ok": 2,
        "non2xx": 1,
        "mismatch": 0,
        "timeout": 0,
        "reset": 1,
        "closedEarly": 0,
        "inFlight": 3,
    }
    assert told["statusCodes"] == {"200": 2, "500": 1}
    assert told["silentConnections"] == 2
    assert told["slices"] == {"milliseconds": 250, "ok": [2, 0, 0, 0, 0]}


def test_the_first_answer_of_a_connection_has_no_latency_and_no_cycle() -> None:
    told = count_window([slot_of((0, 200, "ok"), (200, 243, "ok"))], 0, 0, 1000 * MS)
    latencies = HdrHistogram.decode(told["latencyHistogram"])
    assert latencies.get_total_count() == 1
    assert latencies.get_max_value() == pytest.approx(43_000, rel=0.001)
    assert told["cycleUs"] == {"sum": 43_000, "count": 1}


def test_the_warm_up_is_counted_in_slices_and_all_answers_before_the_window_are() -> None:
    slots = [
        slot_of((0, 90, "ok"), (100, 200, "ok"), (200, 340, "ok"), (340, 360, "reset"), (360, 700, "ok")),
        slot_of((0, 95, "non2xx"), (100, 620, "mismatch"), (620, 640, "ok"), (640, 1000, "ok")),
    ]
    told = count_warmup(slots, 100 * MS, 650 * MS, 1000 * MS)
    assert told == {"milliseconds": 250, "ok": [2, 0, 1], "answers": 7}
    silent = count_warmup([slot_of()], 0, 600 * MS, 600 * MS)
    assert silent == {"milliseconds": 250, "ok": [0, 0], "answers": 0}


def test_a_cycle_begins_when_a_slot_that_was_kept_waiting_is_woken() -> None:
    told = count_window([slot_of((0, 10, "ok"), (500, 510, "ok"))], 490 * MS, 500 * MS, 1000 * MS)
    assert told["cycleUs"] == {"sum": 20_000, "count": 1}


@pytest.mark.parametrize("seed", range(20))
def test_every_request_is_accounted_for_once(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    slots = []
    for _ in range(5):
        now, requests = 0, []
        for _ in range(draw.randrange(30)):
            began = now + draw.randrange(3)
            now = began + draw.randrange(1, 60)
            requests.append((began, now, draw.choice(OUTCOMES)))
        slots.append(slot_of(*requests, pending_since=draw.choice([None, now])))
    whole = count_lifetime(slots)
    assert whole["sent"] == sum(count for kind, count in whole.items() if kind != "sent")
    # Of two adjacent windows, an end counts in one, and a request open between them counts in both.
    first, second = (count_window(slots, 0, *span)["counts"] for span in ((0, 300 * MS), (300 * MS, 10**12)))
    for kind in OUTCOMES:
        assert first[kind] + second[kind] == whole[kind]
    for counts in (first, second):
        assert counts["sent"] == sum(count for kind, count in counts.items() if kind != "sent")


def test_an_answer_is_judged_by_status_then_by_every_byte() -> None:
    expected = {"bytes": 2, "sha256": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}
    checker = Checker()
    assert checker.judge(500, b"{}", expected) == "non2xx"
    for body, outcome in (
        (b"{}{}", "mismatch"),
        (b"[]", "mismatch"),
        (b"{}", "ok"),
        (b"{}", "ok"),
        (b"[]", "mismatch"),
    ):
        assert checker.judge(200, body, expected) == outcome
    assert checker.bodies_hashed == 5
    assert Checker().judge(204, b"", None) == "ok"


def test_the_causes_of_an_error_are_followed_to_the_first() -> None:
    last = ValueError("last")
    last.__context__ = KeyError("first")
    assert list(causes_of(last)) == [last, last.__context__]


def test_a_connect_that_fails_under_load_is_a_request_that_failed() -> None:
    gate, slot = Gate(), Slot()
    assert gate.try_enter(slot)
    gate.refuse(slot, "reset")
    assert count_lifetime([slot])["sent"] == 0
    gate.open(1)
    assert gate.try_enter(slot)
    gate.refuse(slot, "reset")
    assert (count_lifetime([slot])["reset"], gate.is_used_up) == (1, True)
