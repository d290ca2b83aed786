"""The answer of Starlette and FastAPI to a failed gathering."""

from starlette.requests import Request
from starlette.responses import JSONResponse

from bench_contract.gather import GatherError


async def answer_gather_error(_request: Request, error: Exception) -> JSONResponse:
    """Answer with the status and text of a GatherError."""
    if not isinstance(error, GatherError):
        raise error
    return JSONResponse({"error": str(error)}, error.status)
