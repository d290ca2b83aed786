"""The app as the documentation writes it: coroutines, and a client session that lives as long as the app."""

import json
from functools import partial

from aiohttp import web

from bench_contract.devices import load_devices
from bench_contract.gather import GatherError, Upstream

DEVICES = load_devices()

dumps = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))


def make_app() -> web.Application:
    """Make the app of one worker."""
    upstream = Upstream("aiohttp")

    async def devices(_request: web.Request) -> web.Response:
        return web.json_response(DEVICES, dumps=dumps)

    async def data(_request: web.Request) -> web.Response:
        try:
            gathered = await upstream.gather()
        except GatherError as error:
            return web.json_response({"error": str(error)}, status=error.status)
        return web.json_response(gathered.rows, headers=gathered.headers, dumps=dumps)

    app = web.Application()
    app.add_routes([web.get("/api/devices", devices), web.get("/data", data)])
    app.cleanup_ctx.append(upstream.lifespan)
    return app
