import asyncio
import os
import signal
import sys
import time
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from bench_cluster.agent import Agent


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> "Agent":
    # An agent needs Ray only to name its node.
    monkeypatch.setitem(sys.modules, "ray", ModuleType("ray"))
    from bench_cluster.agent import Agent

    return Agent()


async def kill_a_process(agent: "Agent") -> list[object]:
    """Start a process and kill it. Return the kinds of the events and the statuses."""
    await agent.start(1, ["sleep", "600"], "/")
    os.kill(agent._processes[1].pid, signal.SIGKILL)
    await asyncio.gather(*agent._readers)
    return (
        [] if agent._events.empty() else [(event["event"], event["status"]) for event in await agent.events()]
    )


def test_the_end_of_a_killed_process_is_an_event(agent: "Agent") -> None:
    assert asyncio.run(kill_a_process(agent)) == [("ended", -signal.SIGKILL)]


def test_a_process_that_ends_with_its_node_is_no_event(
    agent: "Agent", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getppid", lambda: 1)
    assert asyncio.run(kill_a_process(agent)) == []


def test_an_order_that_comes_too_late_is_an_event(agent: "Agent") -> None:
    async def tell(not_after_ms: float) -> list[dict[str, object]]:
        await agent.tell(1, "fire", not_after_ms)
        return [] if agent._events.empty() else await agent.events()

    now_ms = time.time() * 1000
    assert asyncio.run(tell(now_ms + 60_000)) == []
    [event] = asyncio.run(tell(now_ms - 60_000))
    assert (event["process"], event["event"]) == (1, "late")
    assert float(str(event["byMs"])) >= 60_000
