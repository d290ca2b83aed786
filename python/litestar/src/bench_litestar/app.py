"""The app as the documentation has it: coroutines that return msgspec structs, and dicts as they are."""

from typing import Any

import msgspec
from litestar import Litestar, Request, Response, get

from bench_contract.devices import load_devices
from bench_contract.gather import GatherError, Row, Upstream


class Device(msgspec.Struct):
    """What a client gets to see of a device."""

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


def answer_gather_error(_request: Request[Any, Any, Any], error: GatherError) -> Response[dict[str, str]]:
    """Answer as a GatherError says."""
    return Response({"error": str(error)}, status_code=error.status)


app = Litestar(
    [devices, data],
    lifespan=[upstream.lifespan],
    exception_handlers={GatherError: answer_gather_error},
)
