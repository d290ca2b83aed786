"""The app as the documentation writes it: coroutines that answer with `json`, which is ujson's."""

from contextlib import AsyncExitStack
from types import SimpleNamespace

from sanic import Request, Sanic
from sanic.config import Config
from sanic.response import JSONResponse, json

from bench_contract.devices import load_devices
from bench_contract.gather import GatherError, Upstream
from bench_contract.settings import KEEP_ALIVE_SECONDS, STOP_SECONDS

App = Sanic[Config, SimpleNamespace]

DEVICES = load_devices()


def make_app() -> App:
    """Make the app of one worker."""
    app = Sanic("bench")
    app.config.KEEP_ALIVE_TIMEOUT = KEEP_ALIVE_SECONDS
    app.config.GRACEFUL_SHUTDOWN_TIMEOUT = STOP_SECONDS
    upstream = Upstream("aiohttp")
    held = AsyncExitStack()

    @app.before_server_start
    async def open_client(_app: App) -> None:
        await held.enter_async_context(upstream.lifespan())

    @app.after_server_stop
    async def close_client(_app: App) -> None:
        await held.aclose()

    @app.get("/api/devices")
    async def devices(_request: Request) -> JSONResponse:
        return json(DEVICES)

    @app.get("/data")
    async def data(_request: Request) -> JSONResponse:
        gathered = await upstream.gather()
        return json(gathered.rows, headers=gathered.headers)

    @app.exception(GatherError)
    async def answer_gather_error(_request: Request, error: GatherError) -> JSONResponse:
        return json({"error": str(error)}, status=error.status)

    return app
