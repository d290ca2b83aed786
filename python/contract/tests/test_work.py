import asyncio

import pytest

from bench_contract import work


def test_blocking_and_by_coroutines_the_same_comes_out() -> None:
    assert work.fib(10).value == asyncio.run(work.asyncfib(10)).value == 89
    assert work.wait().value == asyncio.run(work.asyncwait()).value == 0.05


def test_tells_by_name_how_long_it_took() -> None:
    for worked, name in [(work.fib(3), "fib"), (asyncio.run(work.asyncfib(3)), "fib")]:
        assert worked.headers["Server-Timing"].startswith(f"{name};dur=")
    for waited in [work.wait(), asyncio.run(work.asyncwait())]:
        assert waited.headers["Server-Timing"].startswith("wait;dur=")
        # A loop may wake up within its clock's resolution before the time.
        assert float(waited.headers["X-Process-Time"]) >= 0.049


def test_waits_as_long_as_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert work.load_wait() == 0.05
    monkeypatch.setenv("BENCH_WAIT_MS", "7")
    assert work.load_wait() == 0.007
