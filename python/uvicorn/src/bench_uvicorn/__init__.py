"""`GET /api/devices` by an ASGI app without a framework, interpreted or compiled from one source."""

from typing import Final

SOURCE: Final = "bench_uvicorn.app"

COMPILED: Final = "bench_uvicorn_compiled"
"""The same module, compiled. It has another name, so that neither can replace the other."""
