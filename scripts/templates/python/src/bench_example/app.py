"""The app: replace it by that of a framework."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from bench_contract.devices import load_devices

Message = MutableMapping[str, Any]

DEVICES = load_devices()


async def app(
    scope: Message,
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    """Answer `GET /api/devices`, serialised anew each time, and anything else with 404."""
    if scope["type"] != "http":
        raise RuntimeError("HTTP only")  # ASGI: an app without lifespan events raises here
    status, body = 404, b""
    if scope["path"] == "/api/devices" and scope["method"] == "GET":
        status, body = 200, json.dumps(DEVICES, ensure_ascii=False, separators=(",", ":")).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
