"""The app as the documentation has it: coroutines that answer with JSONResponse."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from bench_contract.devices import load_devices
from bench_contract.gather import GatherError, Upstream
from bench_contract.starlette import answer_gather_error

DEVICES = load_devices()
upstream = Upstream("aiohttp")


async def devices(_request: Request) -> JSONResponse:
    """Answer with all devices."""
    return JSONResponse(DEVICES)


async def data(_request: Request) -> JSONResponse:
    """Answer with all fixtures."""
    gathered = await upstream.gather()
    return JSONResponse(gathered.rows, headers=gathered.headers)


app = Starlette(
    routes=[Route("/api/devices", devices), Route("/data", data)],
    lifespan=upstream.lifespan,
    exception_handlers={GatherError: answer_gather_error},
)
