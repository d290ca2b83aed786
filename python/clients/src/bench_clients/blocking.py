"""The blocking client: requests, in as many threads as there are connections."""

import http.client
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle
from typing import Any

import requests
import urllib3.exceptions

from bench_clients.account import Outcome, Slot
from bench_clients.load import RETRY_SECONDS, Load


class BlockingLoad(Load):
    """A pool of threads, with a `requests.Session` in each.

    A session keeps its connection alive, as requests' documentation recommends for several requests to
    one host; each thread has its own, because sessions are not to be shared. Proxies and `.netrc` of the
    environment are ignored (`trust_env`): the load goes to the server itself. The timeout is that of a read,
    as in requests.
    """

    def start(self) -> None:
        """Begins to connect."""
        pool = ThreadPoolExecutor(max_workers=len(self.slots))
        for index, slot in enumerate(self.slots):
            pool.submit(self._work, slot, self.delay_of(index)).add_done_callback(self._tell_failure)

    def _tell_failure(self, work: "Future[None]") -> None:
        if (error := work.exception()) is not None:
            self.on_failure(error)

    def _work(self, slot: Slot, delay: float) -> None:
        time.sleep(delay)
        with requests.Session() as session:
            session.trust_env = False
            session.verify = self.verifies
            for request, expected in cycle(self.cycle):
                with self.gate.changed:
                    while not self.gate.try_enter(slot):
                        self.gate.changed.wait()
                self._ask(session, slot, request, expected)
                if self.gate.arming:
                    with self.gate.changed:
                        self.gate.changed.wait(self.rest_seconds if slot.stands else RETRY_SECONDS)

    def _ask(
        self,
        session: requests.Session,
        slot: Slot,
        request: dict[str, Any],
        expected: dict[str, Any] | None,
    ) -> None:
        timeout = self.order["timeoutSeconds"]
        body = request.get("body")
        try:
            answer = session.request(
                request["method"],
                self.url + request["path"],
                headers=request["headers"],
                data=None if body is None else body.encode(),
                timeout=(timeout, timeout),
                allow_redirects=False,
            )
        except requests.RequestException as error:
            outcome, was_sent = outcome_of(error)
            if was_sent:
                slot.end(outcome)
            else:
                self.gate.refuse(slot, outcome)
                time.sleep(RETRY_SECONDS)
        else:
            outcome = self.checker.judge(answer.status_code, answer.content, expected)
            slot.end(outcome, answer.status_code)


def outcome_of(error: BaseException) -> tuple[Outcome, bool]:
    """Returns the outcome of a request that was not answered, and False if its connect failed."""
    causes = list(causes_of(error))

    def has(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if has(urllib3.exceptions.NewConnectionError):
        return "reset", False
    if has(urllib3.exceptions.ConnectTimeoutError):
        return "timeout", False
    if has(requests.ReadTimeout, urllib3.exceptions.ReadTimeoutError):
        return "timeout", True
    # In urllib3, the end of the connection is a kind of reset.
    if has(http.client.RemoteDisconnected):
        return "closedEarly", True
    return "reset" if has(ConnectionResetError, BrokenPipeError) else "closedEarly", True


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Returns the error and all of its causes."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
