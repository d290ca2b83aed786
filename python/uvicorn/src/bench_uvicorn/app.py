"""An ASGI app in plain typed Python: run as it is, or compiled by mypyc under another name."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from bench_contract.devices import Device, load_devices

Message = MutableMapping[str, Any]

PATH: Final = "/api/devices"
DEVICES: Final[list[Device]] = load_devices()


async def app(
    scope: Message,
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    """Answer `GET /api/devices`, serialised anew each time, and anything else with 404."""
    if scope["type"] != "http":
        raise RuntimeError("HTTP only")  # ASGI: an app without lifespan events raises here
    status = 404
    body = b'{"detail":"Not Found"}'
    if scope["path"] == PATH and scope["method"] == "GET":
        status = 200
        body = json.dumps(DEVICES, ensure_ascii=False, separators=(",", ":")).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
