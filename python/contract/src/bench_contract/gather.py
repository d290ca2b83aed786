"""The work of `GET /data`: fetching all fixtures of the upstream at once, and merging them."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from bench_contract.timing import timing

FETCH_SECONDS = 10
"""The timeout of one fetch."""

HIGHEST_RUNG = 100
"""The highest rung of the workload: a pool holds as many connections for each fixture."""

Client = Literal["aiohttp", "httpx"]
"""An upstream client that waits in an event loop: a distribution, and the module here that uses it."""

Row = dict[str, Any]
"""One object of a fixture."""

Fetch = Callable[[str], Coroutine[Any, Any, list[Row]]]
"""Returns the rows of the fixture at a URL, or raises GatherError."""

OpenFetch = Callable[[int], AbstractAsyncContextManager[Fetch]]
"""Opens a client with at most this many connections."""


class FixturesError(ValueError):
    """The file named by `BENCH_FIXTURES` cannot be used."""


class GatherError(Exception):
    """A failed `GET /data`: it answers this status, and the text as `{"error": text}`."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True)
class Gathered:
    """The answer to `GET /data` before it is serialised, and headers with the duration of gathering."""

    rows: list[Row]
    headers: dict[str, str]


def load_urls() -> list[str]:
    """Return the URL of each fixture that the file named by `BENCH_FIXTURES` lists, in its order.

    There are none if `BENCH_UPSTREAM` is unset. Raises FixturesError.
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
    """Return the URLs, or raise GatherError if there are none."""
    if not urls:
        raise GatherError(503, "BENCH_UPSTREAM is not set")
    return urls


def parse_fixture(url: str, status: int, body: bytes) -> list[Row]:
    """Return the rows of a fixture. Raises GatherError for any answer but a JSON array with status 200."""
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
    """Return the error for a fetch that ended without an answer."""
    return GatherError(502, f"upstream: {url}: {type(error).__name__}: {error}".removesuffix(": "))


def merge(fixtures: Iterable[list[Row]], started: float) -> Gathered:
    """Concatenate the fixtures in their order; `started` is the start of gathering, by `perf_counter`."""
    rows = list(chain.from_iterable(fixtures))
    return Gathered(rows, timing("gather", started))


async def gather(urls: list[str], fetch: Fetch) -> Gathered:
    """Fetch all at once and merge them. Raises the GatherError of the first that fails."""
    started = perf_counter()
    return merge(await fetch_all(urls, fetch), started)


async def fetch_all(urls: list[str], fetch: Fetch) -> list[list[Row]]:
    """Fetch all at once. The first that fails cancels the others and raises its GatherError."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(fetch(url)) for url in urls]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


class Upstream:
    """The fixtures of this worker and their HTTP client, which is loaded only if there are fixtures."""

    _open: OpenFetch
    _fetch: Fetch

    def __init__(self, client: Client, *, kept: bool = True) -> None:
        """Choose a client: one that is `kept` from request to request, or a new one for each."""
        self._urls = load_urls()
        self._kept = kept
        if self._urls:
            self._open = import_module(f"bench_contract.{client}").open_fetch

    @asynccontextmanager
    async def lifespan(self, _app: object = None) -> AsyncIterator[None]:
        """Keep the client open while the app is served, if it is `kept`."""
        if self._urls and self._kept:
            async with self._open_fetch() as self._fetch:
                yield
        else:
            yield

    async def gather(self) -> Gathered:
        """Gather all fixtures. The time includes opening a client that is not kept. Raises GatherError."""
        urls = expect_upstream(self._urls)
        if self._kept:
            return await gather(urls, self._fetch)
        started = perf_counter()
        async with self._open_fetch() as fetch:
            fixtures = await fetch_all(urls, fetch)
        return merge(fixtures, started)

    def _open_fetch(self) -> AbstractAsyncContextManager[Fetch]:
        return self._open(HIGHEST_RUNG * len(self._urls))
