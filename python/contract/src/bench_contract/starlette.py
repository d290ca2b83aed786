"""What Starlette answers when nothing could be gathered, and FastAPI with it."""

from starlette.requests import Request
from starlette.responses import JSONResponse

from bench_contract.gather import GatherError


async def answer_gather_error(_request: Request, error: Exception) -> JSONResponse:
    """Answer as a GatherError says."""
    if not isinstance(error, GatherError):
        raise error
    return JSONResponse({"error": str(error)}, error.status)
