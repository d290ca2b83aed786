"""The threads of anyio, in which Starlette and FastAPI run plain functions."""

from anyio import to_thread


def size_pool(threads: int) -> int:
    """Set the number of threads of the running loop, 40 by default, and return the current number."""
    limiter = to_thread.current_default_thread_limiter()
    limiter.total_tokens = threads
    return int(limiter.total_tokens)
