"""The same answers in four ways: each factory makes the app of one variant."""

from fastapi import FastAPI, Response
from pydantic import BaseModel

from bench_contract.devices import load_devices
from bench_contract.gather import Upstream
from bench_fastapi import repository
from bench_fastapi.data import encode, make_app, route_annotated, route_plain, route_raw
from bench_fastapi.work import route_work


class Device(BaseModel):
    """A device, as clients see it."""

    id: int
    uuid: str
    mac: str
    firmware: str
    created_at: str
    updated_at: str


PATH = "/api/devices"
ROWS = load_devices()
DEVICES = [Device(**row) for row in ROWS]


def model() -> FastAPI:
    """Make the app as the documentation writes it: coroutines that return what their annotations say."""
    upstream = Upstream("aiohttp")
    app = make_app(upstream)

    @app.get(PATH)
    async def devices() -> list[Device]:
        return DEVICES

    route_annotated(app, upstream)
    route_work(app)
    repository.route_coroutines(app)
    return app


def raw() -> FastAPI:
    """Make an app whose routes serialise by themselves, past the framework's encoder."""
    upstream = Upstream("aiohttp")
    app = make_app(upstream)

    @app.get(PATH)
    async def devices() -> Response:
        return encode(ROWS)

    route_raw(app, upstream)
    return app


def plain() -> FastAPI:
    """Make an app that leaves dicts, without a model, to the framework's encoder."""
    upstream = Upstream("aiohttp")
    app = make_app(upstream)

    @app.get(PATH, response_model=None)
    async def devices() -> object:
        return ROWS

    route_plain(app, upstream)
    return app


def threaded() -> FastAPI:
    """Make the app of `model` with plain functions where nothing is awaited; they run in the thread pool."""
    upstream = Upstream("aiohttp")
    app = make_app(upstream)

    @app.get(PATH)
    def devices() -> list[Device]:
        return DEVICES

    route_annotated(app, upstream)
    route_work(app)
    repository.route_threads(app)
    return app
