"""Fetching fixtures with aiohttp."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector

from bench_contract.gather import FETCH_SECONDS, Fetch, Row, parse_fixture, unanswered


@asynccontextmanager
async def open_fetch(connections: int) -> AsyncIterator[Fetch]:
    """Open a function that fetches one fixture, over at most this many connections."""
    connector = TCPConnector(limit=connections)
    async with ClientSession(connector=connector, timeout=ClientTimeout(total=FETCH_SECONDS)) as session:
        # It would ask again, unseen, when the upstream closes a kept connection instead of answering.
        session._retry_connection = False

        async def fetch(url: str) -> list[Row]:
            try:
                async with session.get(url) as answer:
                    body = await answer.read()
            except (ClientError, TimeoutError) as error:
                raise unanswered(url, error) from error
            return parse_fixture(url, answer.status, body)

        yield fetch
