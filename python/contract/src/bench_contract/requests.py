"""Fetching fixtures with requests."""

from collections.abc import Callable

from requests import RequestException, Session
from requests.adapters import HTTPAdapter

from bench_contract.gather import FETCH_SECONDS, Row, parse_fixture, unanswered


def open_fetch(connections: int) -> Callable[[str], list[Row]]:
    """Return a function that fetches one fixture, in any thread or greenlet.

    It keeps this many connections open, and opens another one rather than wait.
    """
    session = Session()
    # Ignore the environment: a proxy of this machine must not take part in the measurement.
    session.trust_env = False
    session.mount("http://", HTTPAdapter(pool_maxsize=connections))

    def fetch(url: str) -> list[Row]:
        try:
            answer = session.get(url, timeout=FETCH_SECONDS)
        except RequestException as error:
            raise unanswered(url, error) from error
        return parse_fixture(url, answer.status_code, answer.content)

    return fetch
