"""The concurrent client: aiohttp on asyncio, in as many tasks as there are connections."""

import asyncio
import contextlib
import threading
from itertools import cycle
from typing import Any

import aiohttp
from yarl import URL

from bench_clients.account import Slot
from bench_clients.load import RETRY_SECONDS, Load


class ConcurrentLoad(Load):
    """A task for each connection, all in one event loop (asyncio's own, as `asyncio.run` makes it).

    aiohttp's documentation recommends one session an application, whose connector keeps connections
    alive. Here each task has its own session, with a connector of one connection: otherwise fewer connections
    than requested could be enough. The timeout is that of a read, as in the blocking client.
    """

    def start(self) -> None:
        """Begins to connect."""
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            asyncio.run(self._work_all())
        except BaseException as error:
            # The harness must know about every error.
            self.on_failure(error)

    async def _work_all(self) -> None:
        loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self.gate.on_change = lambda: loop.call_soon_threadsafe(self._wake)
        async with asyncio.TaskGroup() as tasks:
            for index, slot in enumerate(self.slots):
                tasks.create_task(self._work(slot, self.delay_of(index)))

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _work(self, slot: Slot, delay: float) -> None:
        await asyncio.sleep(delay)
        timeout = self.order["timeoutSeconds"]
        async with aiohttp.ClientSession(
            self.url,
            connector=aiohttp.TCPConnector(limit=1, ssl=self.verifies),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=timeout, sock_read=timeout),
        ) as session:
            send_once(session)
            for request, expected in cycle(self.cycle):
                while not self.gate.try_enter(slot):
                    await self._changed.wait()
                await self._ask(session, slot, request, expected)
                if self.gate.arming:
                    with contextlib.suppress(TimeoutError):
                        rest = self.rest_seconds if slot.stands else RETRY_SECONDS
                        await asyncio.wait_for(self._changed.wait(), rest)

    async def _ask(
        self,
        session: aiohttp.ClientSession,
        slot: Slot,
        request: dict[str, Any],
        expected: dict[str, Any] | None,
    ) -> None:
        body = request.get("body")
        try:
            async with session.request(
                request["method"],
                URL(request["path"], encoded=True),
                headers=request["headers"],
                data=None if body is None else body.encode(),
                allow_redirects=False,
            ) as answer:
                content = await answer.read()
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            self.gate.refuse(slot, "timeout" if isinstance(error, TimeoutError) else "reset")
            await asyncio.sleep(RETRY_SECONDS)
        except TimeoutError:
            slot.end("timeout")
        except aiohttp.ClientOSError:
            slot.end("reset")
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError):
            slot.end("closedEarly")
        else:
            slot.end(self.checker.judge(answer.status, content, expected), answer.status)


def send_once(session: aiohttp.ClientSession) -> None:
    """Keeps the session from repeating a request unseen when its kept connection ends."""
    if not hasattr(session, "_retry_connection"):
        raise RuntimeError("aiohttp's session has no _retry_connection: pin the version of the lock")
    session._retry_connection = False
