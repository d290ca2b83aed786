"""`GET /data` by each upstream client, returned or encoded: each factory makes the app of one variant."""

import json
from collections.abc import Mapping
from functools import partial

from fastapi import FastAPI, Response

from bench_contract.gather import Client, GatherError, Upstream
from bench_contract.starlette import answer_gather_error

PATH = "/data"


def make_app(upstream: Upstream) -> FastAPI:
    """Make an app that has no route yet, and the upstream's client for as long as it is served."""
    return FastAPI(lifespan=upstream.lifespan, exception_handlers={GatherError: answer_gather_error})


def encode(rows: object, headers: Mapping[str, str] | None = None) -> Response:
    """Serialise past the framework's encoder."""
    body = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    return Response(body, headers=headers, media_type="application/json")


def returned(client: Client, *, kept: bool = True) -> FastAPI:
    """Make an app that leaves what it gathered, without a model, to the framework's encoder."""
    upstream = Upstream(client, kept=kept)
    app = make_app(upstream)

    @app.get(PATH, response_model=None)
    async def data(response: Response) -> object:
        gathered = await upstream.gather()
        response.headers.update(gathered.headers)
        return gathered.rows

    return app


def encoded(client: Client, *, kept: bool = True) -> FastAPI:
    """Make an app that serialises what it gathered by itself, past the framework's encoder."""
    upstream = Upstream(client, kept=kept)
    app = make_app(upstream)

    @app.get(PATH)
    async def data() -> Response:
        gathered = await upstream.gather()
        return encode(gathered.rows, gathered.headers)

    return app


httpx_per_request = partial(returned, "httpx", kept=False)
httpx_per_request_raw = partial(encoded, "httpx", kept=False)
httpx = partial(returned, "httpx")
httpx_raw = partial(encoded, "httpx")
aiohttp = partial(returned, "aiohttp")
aiohttp_raw = partial(encoded, "aiohttp")
