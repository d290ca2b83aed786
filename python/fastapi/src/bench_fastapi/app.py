"""The same answer in four ways: each factory makes the app of one variant."""

import json
from time import perf_counter

from fastapi import FastAPI, Response
from pydantic import BaseModel

from bench_contract import fib
from bench_contract.devices import load_devices
from bench_contract.timing import timing


class Device(BaseModel):
    """What a client gets to see of a device."""

    id: int
    uuid: str
    mac: str
    firmware: str
    created_at: str
    updated_at: str


class Fib(BaseModel):
    """One number of the sequence."""

    fib: int


PATH = "/api/devices"
ROWS = load_devices()
DEVICES = [Device(**row) for row in ROWS]


def model() -> FastAPI:
    """Make the app as the documentation has it: a coroutine that returns what its annotation says."""
    app = FastAPI()

    @app.get(PATH)
    async def devices() -> list[Device]:
        return DEVICES

    return app


def raw() -> FastAPI:
    """Make an app whose route serialises by itself, past the framework's encoder."""
    app = FastAPI()

    @app.get(PATH)
    async def devices() -> Response:
        body = json.dumps(ROWS, ensure_ascii=False, separators=(",", ":"))
        return Response(body, media_type="application/json")

    return app


def plain() -> FastAPI:
    """Make an app that leaves dicts, without a model, to the framework's encoder."""
    app = FastAPI()

    @app.get(PATH, response_model=None)
    async def devices() -> object:
        return ROWS

    return app


def threaded() -> FastAPI:
    """Make the app of `model` with plain functions, which the framework runs in its thread pool."""
    app = FastAPI()

    @app.get(PATH)
    def devices() -> list[Device]:
        return DEVICES

    @app.get("/fib/{n}")
    def fib_in_thread(n: int, response: Response) -> Fib:
        started = perf_counter()
        number = fib.fib(n)
        response.headers.update(timing("fib", started))
        return Fib(fib=number)

    @app.get("/asyncfib/{n}")
    async def fib_in_loop(n: int, response: Response) -> Fib:
        started = perf_counter()
        number = await fib.asyncfib(n)
        response.headers.update(timing("fib", started))
        return Fib(fib=number)

    return app
