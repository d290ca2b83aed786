"""The app as the documentation has it: a coroutine that returns msgspec structs."""

import msgspec
from litestar import Litestar, get

from bench_contract.devices import load_devices


class Device(msgspec.Struct):
    """What a client gets to see of a device."""

    id: int
    uuid: str
    mac: str
    firmware: str
    created_at: str
    updated_at: str


DEVICES = msgspec.convert(load_devices(), list[Device])


@get("/api/devices")
async def devices() -> list[Device]:
    """Answer with all devices."""
    return DEVICES


app = Litestar([devices])
