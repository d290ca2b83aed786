"""The work of `fib` and `wait`, blocking and by coroutines, and how long it took."""

import asyncio
import os
import time
from dataclasses import dataclass
from time import perf_counter
from typing import Generic, TypeVar

from bench_contract import fib as naive
from bench_contract.timing import timing

WAIT_SECONDS = int(os.environ.get("BENCH_WAIT_MS", "50")) / 1000
"""How long `wait` takes."""


T = TypeVar("T")


@dataclass(frozen=True)
class Worked(Generic[T]):
    """What work came to, and the headers that say how long it took."""

    value: T
    headers: dict[str, str]


def load_wait() -> float:
    """Give the seconds that `BENCH_WAIT_MS` says, 0.05 when it is unset."""
    return int(os.environ.get("BENCH_WAIT_MS", "50")) / 1000


WAIT_SECONDS = load_wait()
"""How long `wait` takes."""


def fib(n: int) -> Worked[int]:
    """Compute the number at `n`."""
    started = perf_counter()
    return Worked(naive.fib(n), timing("fib", started))


async def asyncfib(n: int) -> Worked[int]:
    """Compute the same by coroutines."""
    started = perf_counter()
    return Worked(await naive.asyncfib(n), timing("fib", started))


def wait() -> Worked[float]:
    """Block."""
    started = perf_counter()
    time.sleep(WAIT_SECONDS)
    return Worked(WAIT_SECONDS, timing("wait", started))


async def asyncwait() -> Worked[float]:
    """Let others have the loop meanwhile."""
    started = perf_counter()
    await asyncio.sleep(WAIT_SECONDS)
    return Worked(WAIT_SECONDS, timing("wait", started))
