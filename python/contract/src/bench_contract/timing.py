"""Headers with the duration of the work behind an answer."""

from time import perf_counter


def timing(name: str, started: float) -> dict[str, str]:
    """Return the headers for work that started at `started` (of `perf_counter`) and is done now.

    `X-Process-Time` is in seconds, `Server-Timing` in ms. The wait for a thread is in neither.
    """
    seconds = perf_counter() - started
    return {"X-Process-Time": f"{seconds:.6f}", "Server-Timing": f"{name};dur={seconds * 1000:.3f}"}
