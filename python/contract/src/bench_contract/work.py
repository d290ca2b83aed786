"""The work of `fib` and `wait`, blocking and with coroutines, and its duration."""

import asyncio
import os
import time
from dataclasses import dataclass
from time import perf_counter
from typing import Generic, TypeVar

from bench_contract import fib as naive
from bench_contract.timing import timing

WAIT_SECONDS = int(os.environ.get("BENCH_WAIT_MS", "50")) / 1000
"""The duration of `wait`."""


T = TypeVar("T")


@dataclass(frozen=True)
class Worked(Generic[T]):
    """The result of the work, and headers with its duration."""

    value: T
    headers: dict[str, str]


def load_wait() -> float:
    """Return the seconds of `BENCH_WAIT_MS`, 0.05 if it is unset."""
    return int(os.environ.get("BENCH_WAIT_MS", "50")) / 1000


WAIT_SECONDS = load_wait()
"""The duration of `wait`."""


def fib(n: int) -> Worked[int]:
    """Compute the Fibonacci number at `n`."""
    started = perf_counter()
    return Worked(naive.fib(n), timing("fib", started))


async def asyncfib(n: int) -> Worked[int]:
    """Compute the same with coroutines."""
    started = perf_counter()
    return Worked(await naive.asyncfib(n), timing("fib", started))


def wait() -> Worked[float]:
    """Block."""
    started = perf_counter()
    time.sleep(WAIT_SECONDS)
    return Worked(WAIT_SECONDS, timing("wait", started))


async def asyncwait() -> Worked[float]:
    """Wait without blocking the loop."""
    started = perf_counter()
    await asyncio.sleep(WAIT_SECONDS)
    return Worked(WAIT_SECONDS, timing("wait", started))
