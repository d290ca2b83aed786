"""The app as the documentation writes it: coroutines, or functions that block, answer with JSONResponse."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from bench_contract import work
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


def fib(request: Request) -> JSONResponse:
    """Answer with a number computed in the thread pool."""
    worked = work.fib(request.path_params["n"])
    return JSONResponse({"fib": worked.value}, headers=worked.headers)


async def asyncfib(request: Request) -> JSONResponse:
    """Answer with a number computed in the event loop."""
    worked = await work.asyncfib(request.path_params["n"])
    return JSONResponse({"fib": worked.value}, headers=worked.headers)


def wait(_request: Request) -> JSONResponse:
    """Answer when a thread of the pool has slept."""
    worked = work.wait()
    return JSONResponse({"duration": worked.value}, headers=worked.headers)


async def asyncwait(_request: Request) -> JSONResponse:
    """Answer when the time is over."""
    worked = await work.asyncwait()
    return JSONResponse({"duration": worked.value}, headers=worked.headers)


app = Starlette(
    routes=[
        Route("/api/devices", devices),
        Route("/data", data),
        Route("/fib/{n:int}", fib),
        Route("/asyncfib/{n:int}", asyncfib),
        Route("/wait", wait),
        Route("/asyncwait", asyncwait),
    ],
    lifespan=upstream.lifespan,
    exception_handlers={GatherError: answer_gather_error},
)
