import asyncio
import re
from time import perf_counter

from bench_contract.fib import asyncfib, fib
from bench_contract.timing import timing


def test_begins_with_one_and_one() -> None:
    assert [fib(n) for n in range(7)] == [1, 1, 2, 3, 5, 8, 13]
    assert fib(20) == 10_946


def test_coroutines_give_the_same() -> None:
    assert [asyncio.run(asyncfib(n)) for n in range(12)] == [fib(n) for n in range(12)]


def test_time_is_told_in_seconds_and_in_ms() -> None:
    headers = timing("fib", perf_counter() - 0.25)
    seconds = float(headers["X-Process-Time"])
    assert seconds >= 0.25
    told = re.fullmatch(r"fib;dur=(\d+\.\d{3})", headers["Server-Timing"])
    assert told is not None
    assert float(told[1]) == round(seconds * 1000, 3)
