"""The work of `GET /fib/{n}`: naive recursion, because the CPU it takes is the point."""


def fib(n: int) -> int:
    """Give the number at `n`, where those at 0 and 1 are 1."""
    return 1 if n < 2 else fib(n - 1) + fib(n - 2)


async def asyncfib(n: int) -> int:
    """Give the same by coroutines, of which none ever waits."""
    return 1 if n < 2 else await asyncfib(n - 1) + await asyncfib(n - 2)
