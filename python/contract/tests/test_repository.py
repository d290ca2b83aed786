import asyncio

import pytest

from bench_contract.repository import LOG, Repository, WaitError, load_seconds


@pytest.fixture(autouse=True)
def no_time_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_REPOSITORY_MS", raising=False)


def test_waits_two_seconds_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_seconds() == 2
    monkeypatch.setenv("BENCH_REPOSITORY_MS", "30")
    assert load_seconds() == 0.03


@pytest.mark.parametrize("text", ["soon", "-1", "1.5"])
def test_anything_else_is_no_time(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("BENCH_REPOSITORY_MS", text)
    with pytest.raises(WaitError, match=f"^BENCH_REPOSITORY_MS: {text}: not a whole number of ms$"):
        load_seconds()


def test_each_call_is_logged_and_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_REPOSITORY_MS", "30")
    messages: list[str] = []
    monkeypatch.setattr(LOG, "info", lambda text, *args: messages.append(text % args))
    waits: list[float] = []
    repository = Repository(waits.append)
    repository.save_customer("a", "Ann", "ann@example.org")
    repository.save_product("b", "pen", 199)
    repository.save_order("c", 1, 2, 3)
    assert waits == [0.03] * 3
    assert messages == ["customer a: Ann, ann@example.org", "product b: pen, 199", "order c: 3 of 2 for 1"]


def test_a_coroutine_is_given_to_await(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_REPOSITORY_MS", "0")
    repository = Repository(asyncio.sleep)

    async def save() -> None:
        await repository.save_product("b", "pen", 199)

    asyncio.run(save())
