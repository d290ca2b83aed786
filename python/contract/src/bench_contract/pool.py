"""The threads of anyio, in which Starlette and FastAPI run what is no coroutine."""

from anyio import to_thread


def size_pool(threads: int) -> int:
    """Let the running loop use that many threads, 40 unless told, and give how many it may use now."""
    limiter = to_thread.current_default_thread_limiter()
    limiter.total_tokens = threads
    return int(limiter.total_tokens)
