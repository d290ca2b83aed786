"""Fetching fixtures with requests."""

from collections.abc import Callable

from requests import RequestException, Session
from requests.adapters import HTTPAdapter

from bench_contract.gather import FETCH_SECONDS, Row, parse_fixture, unanswered


def open_fetch(connections: int) -> Callable[[str], list[Row]]:
    """Give what fetches one fixture, in any thread or greenlet.

    As many connections are kept open; one more is opened rather than waited for.
    """
    session = Session()
    # Not the environment's: a proxy of this machine is no part of what is measured.
    session.trust_env = False
    session.mount("http://", HTTPAdapter(pool_maxsize=connections))

    def fetch(url: str) -> list[Row]:
        try:
            answer = session.get(url, timeout=FETCH_SECONDS)
        except RequestException as error:
            raise unanswered(url, error) from error
        return parse_fixture(url, answer.status_code, answer.content)

    return fetch
