"""The app of a uWSGI worker on its gevent loop: each request, and each fetch, is a greenlet."""

import sys
from importlib import import_module
from time import perf_counter
from typing import Any

import uwsgi
from flask.typing import ResponseReturnValue
from gevent import get_hub, joinall, killall, spawn

from bench_contract.attest import attest
from bench_contract.gather import HIGHEST_RUNG, Gathered, GatherError, expect_upstream, load_urls, merge
from bench_contract.uwsgi import SERVER
from bench_flask.app import make_app

URLS = load_urls()
# Loaded only if there is an upstream.
FETCH: Any = import_module("bench_contract.requests").open_fetch(HIGHEST_RUNG * len(URLS)) if URLS else None

# It is answered, not printed as the error of a greenlet.
get_hub().NOT_ERROR += (GatherError,)

app = make_app()


@app.get("/data")
def data() -> ResponseReturnValue:
    """Answer with the rows of all fixtures."""
    gathered = gather()
    return gathered.rows, gathered.headers


def gather() -> Gathered:
    """Fetch all at once and merge them. The first that fails ends the others; its GatherError is raised."""
    started = perf_counter()
    greenlets = [spawn(FETCH, url) for url in expect_upstream(URLS)]
    try:
        joinall(greenlets, raise_error=True)
    finally:
        killall(greenlets)
    return merge([greenlet.get() for greenlet in greenlets], started)


@app.errorhandler(GatherError)
def answer_gather_error(error: GatherError) -> ResponseReturnValue:
    """Answer with the status and text of a GatherError."""
    return {"error": str(error)}, error.status


attest(
    sys.modules[__name__],
    loop=(uwsgi.loop or b"none").decode(),
    http="uwsgi",
    framework="flask",
    server=SERVER,
)
