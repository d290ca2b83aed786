"""A service with a function that burns PLANTED_US of CPU per request."""

import os
import time

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

steps = 0


def planted() -> int:
    """Burn what is planted."""
    total = 0
    for step in range(steps):
        total += step
    return total


def calibrate(microseconds: float) -> None:
    """Find out how many steps take that long."""
    global steps
    steps = 20_000
    planted()
    start = time.perf_counter_ns()
    planted()
    steps = round(steps * microseconds * 1000 / (time.perf_counter_ns() - start))


async def hello(request: Request) -> JSONResponse:
    """Answer with the path."""
    if steps > 0:
        planted()
    return JSONResponse({"message": "hello", "path": request.url.path})


calibrate(float(os.environ["PLANTED_US"]))
app = Starlette(routes=[Route("/", hello)])
