"""The work of `GET /fib/{n}`: naive recursion, because the workload measures its CPU time."""


def fib(n: int) -> int:
    """Return the Fibonacci number at `n`; those at 0 and 1 are 1."""
    return 1 if n < 2 else fib(n - 1) + fib(n - 2)


async def asyncfib(n: int) -> int:
    """Return the same, computed with coroutines that never suspend."""
    return 1 if n < 2 else await asyncfib(n - 1) + await asyncfib(n - 2)
