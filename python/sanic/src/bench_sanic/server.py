"""Serving with Sanic's own server."""

import asyncio
from functools import partial

from sanic import Sanic
from sanic.worker.loader import AppLoader

from bench_contract.attest import attest
from bench_contract.files import lift_file_limit
from bench_contract.settings import Settings
from bench_sanic import app as module
from bench_sanic.app import App

SETTLE_SECONDS = 0.5
"""Until then Sanic can lose a SIGTERM: its loop does not run for good yet, and its manager, which looks every
0.1 s for workers that are up, waits for ever for one that is stopped before it has seen it."""


def make_app() -> App:
    """Make the app of one worker, which attests once it listens and can be stopped."""
    app = module.make_app()

    @app.after_server_start
    async def tell(_app: App) -> None:
        asyncio.get_running_loop().call_later(
            SETTLE_SECONDS, partial(attest, module, http="sanic", framework="sanic", server="sanic")
        )

    return app


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT. Logs no requests."""
    lift_file_limit()
    loader = AppLoader(factory=make_app)
    app = loader.load()
    alone = settings.workers == 1
    app.prepare(
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        backlog=settings.backlog,
        single_process=alone,
        access_log=False,
        motd=False,
    )
    if alone:
        Sanic.serve_single(app)
    else:
        Sanic.serve(app, app_loader=loader)
