"""The work of `GET /data`: fetching all fixtures of the upstream at once, and merging them."""

import asyncio
import json
import os
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any

from bench_contract.timing import timing

FETCH_SECONDS = 10
"""How long one fetch may take."""

HIGHEST_RUNG = 100
"""Connections that the workload goes up to: a pool holds as many for each fixture."""

Row = dict[str, Any]
"""One object of a fixture."""

Fetch = Callable[[str], Coroutine[Any, Any, list[Row]]]
"""Gives the rows of the fixture at a URL, or throws GatherError."""


class FixturesError(ValueError):
    """The file named by `BENCH_FIXTURES` cannot be used."""


class GatherError(Exception):
    """What `GET /data` answers instead of rows: this status, and the text as `{"error": text}`."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True)
class Gathered:
    """What `GET /data` answers, not yet serialised, and the headers that say how long it took to get."""

    rows: list[Row]
    headers: dict[str, str]


def load_urls() -> list[str]:
    """Give the URL of each fixture that the file named by `BENCH_FIXTURES` lists, in its order.

    There are none when `BENCH_UPSTREAM` is unset. Throws FixturesError.
    """
    upstream = os.environ.get("BENCH_UPSTREAM")
    if not upstream:
        return []
    name = os.environ.get("BENCH_FIXTURES")
    if not name:
        raise FixturesError("BENCH_FIXTURES: not set, but BENCH_UPSTREAM is")
    try:
        paths = json.loads(Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FixturesError(f"BENCH_FIXTURES: {name}: {error}") from error
    if not isinstance(paths, list) or not paths or not all(isinstance(path, str) for path in paths):
        raise FixturesError(f"BENCH_FIXTURES: {name}: not a JSON array of paths")
    return [f"{upstream}{path}" for path in paths]


def expect_upstream(urls: list[str]) -> list[str]:
    """Give the URLs back; throws GatherError where there are none."""
    if not urls:
        raise GatherError(503, "BENCH_UPSTREAM is not set")
    return urls


def parse_fixture(url: str, status: int, body: bytes) -> list[Row]:
    """Give the rows of a fixture as it was answered. Throws GatherError for any but a JSON array with status 200."""
    if status != 200:
        raise GatherError(502, f"upstream: {url}: status {status}")
    try:
        rows = json.loads(body)
    except ValueError as error:
        raise GatherError(502, f"upstream: {url}: {error}") from error
    if not isinstance(rows, list):
        raise GatherError(502, f"upstream: {url}: not a JSON array")
    return rows


def unanswered(url: str, error: Exception) -> GatherError:
    """Make the error of a fetch that ended without an answer."""
    return GatherError(502, f"upstream: {url}: {type(error).__name__}: {error}".removesuffix(": "))


def merge(fixtures: Iterable[list[Row]], started: float) -> Gathered:
    """Concatenate the fixtures in their order; `started` is when gathering began, by `perf_counter`."""
    rows = list(chain.from_iterable(fixtures))
    return Gathered(rows, timing("gather", started))


async def gather(urls: list[str], fetch: Fetch) -> Gathered:
    """Fetch all at once and merge them. The first that fails ends the others, and its GatherError is thrown."""
    started = perf_counter()
    return merge(await fetch_all(urls, fetch), started)


async def fetch_all(urls: list[str], fetch: Fetch) -> list[list[Row]]:
    """Fetch all at once. The first that fails ends the others, and its GatherError is thrown."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(fetch(url)) for url in expect_upstream(urls)]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]
