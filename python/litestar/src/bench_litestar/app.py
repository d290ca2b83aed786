"""The app as the documentation writes it: coroutines that return msgspec structs, and dicts as they are."""

from typing import Any

import msgspec
from litestar import Litestar, Request, Response, get

from bench_contract import work
from bench_contract.devices import load_devices
from bench_contract.gather import GatherError, Row, Upstream


class Fib(msgspec.Struct):
    """One number of the sequence."""

    fib: int


class Wait(msgspec.Struct):
    """The duration of the wait, in seconds."""

    duration: float


class Device(msgspec.Struct):
    """A device, as clients see it."""

    id: int
    uuid: str
    mac: str
    firmware: str
    created_at: str
    updated_at: str


DEVICES = msgspec.convert(load_devices(), list[Device])
upstream = Upstream("aiohttp")


@get("/api/devices")
async def devices() -> list[Device]:
    """Answer with all devices."""
    return DEVICES


@get("/data")
async def data() -> Response[list[Row]]:
    """Answer with all fixtures."""
    gathered = await upstream.gather()
    return Response(gathered.rows, headers=gathered.headers)


@get("/fib/{n:int}", sync_to_thread=True)
def fib(n: int) -> Response[Fib]:
    """Answer with a number computed in the thread pool."""
    worked = work.fib(n)
    return Response(Fib(worked.value), headers=worked.headers)


@get("/asyncfib/{n:int}")
async def asyncfib(n: int) -> Response[Fib]:
    """Answer with a number computed in the event loop."""
    worked = await work.asyncfib(n)
    return Response(Fib(worked.value), headers=worked.headers)


@get("/wait", sync_to_thread=True)
def wait() -> Response[Wait]:
    """Answer when a thread of the pool has slept."""
    worked = work.wait()
    return Response(Wait(worked.value), headers=worked.headers)


@get("/asyncwait")
async def asyncwait() -> Response[Wait]:
    """Answer when the time is over."""
    worked = await work.asyncwait()
    return Response(Wait(worked.value), headers=worked.headers)


def answer_gather_error(_request: Request[Any, Any, Any], error: GatherError) -> Response[dict[str, str]]:
    """Answer with the status and text of a GatherError."""
    return Response({"error": str(error)}, status_code=error.status)


app = Litestar(
    [devices, data, fib, asyncfib, wait, asyncwait],
    lifespan=[upstream.lifespan],
    exception_handlers={GatherError: answer_gather_error},
)
