"""Fetching fixtures with httpx."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from httpx import AsyncClient, HTTPError, Limits

from bench_contract.gather import FETCH_SECONDS, Fetch, Row, parse_fixture, unanswered


@asynccontextmanager
async def open_fetch(connections: int) -> AsyncIterator[Fetch]:
    """Open a function that fetches one fixture, over at most this many connections."""
    limits = Limits(max_connections=connections, max_keepalive_connections=connections)
    # Ignore the environment: a proxy of this machine must not take part in the measurement.
    async with AsyncClient(limits=limits, timeout=FETCH_SECONDS, trust_env=False) as client:

        async def fetch(url: str) -> list[Row]:
            try:
                answer = await client.get(url)
            except HTTPError as error:
                raise unanswered(url, error) from error
            return parse_fixture(url, answer.status_code, answer.content)

        yield fetch
