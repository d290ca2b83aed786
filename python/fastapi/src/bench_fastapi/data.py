"""`GET /data` in three ways, and by httpx: each factory makes the app of one variant."""

import json
from collections.abc import Callable, Mapping
from functools import partial

from fastapi import FastAPI, Response

from bench_contract.gather import GatherError, Row, Upstream
from bench_contract.starlette import answer_gather_error

PATH = "/data"


def make_app(upstream: Upstream) -> FastAPI:
    """Make an app without routes, which keeps the upstream's client open while it is served."""
    return FastAPI(lifespan=upstream.lifespan, exception_handlers={GatherError: answer_gather_error})


def encode(rows: object, headers: Mapping[str, str] | None = None) -> Response:
    """Serialise past the framework's encoder."""
    body = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    return Response(body, headers=headers, media_type="application/json")


def route_annotated(app: FastAPI, upstream: Upstream) -> None:
    """Answer with the gathered rows, as an annotation declares them."""

    @app.get(PATH)
    async def data(response: Response) -> list[Row]:
        gathered = await upstream.gather()
        response.headers.update(gathered.headers)
        return gathered.rows


def route_plain(app: FastAPI, upstream: Upstream) -> None:
    """Leave the gathered rows, without a model, to the framework's encoder."""

    @app.get(PATH, response_model=None)
    async def data(response: Response) -> object:
        gathered = await upstream.gather()
        response.headers.update(gathered.headers)
        return gathered.rows


def route_raw(app: FastAPI, upstream: Upstream) -> None:
    """Serialise the gathered rows, past the framework's encoder."""

    @app.get(PATH)
    async def data() -> Response:
        gathered = await upstream.gather()
        return encode(gathered.rows, gathered.headers)


def alone(route: Callable[[FastAPI, Upstream], None], *, kept: bool = True) -> FastAPI:
    """Make an app with that one route. Its httpx client is kept for all requests, or new for each."""
    upstream = Upstream("httpx", kept=kept)
    app = make_app(upstream)
    route(app, upstream)
    return app


httpx_per_request_plain = partial(alone, route_plain, kept=False)
httpx_per_request_raw = partial(alone, route_raw, kept=False)
httpx_plain = partial(alone, route_plain)
httpx_raw = partial(alone, route_raw)
