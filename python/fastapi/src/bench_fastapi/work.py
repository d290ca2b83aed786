"""`fib` and `wait`: blocking work as plain functions in the thread pool, awaited work as coroutines."""

from fastapi import FastAPI, Response
from pydantic import BaseModel

from bench_contract import work


class Fib(BaseModel):
    """One number of the sequence."""

    fib: int


class Wait(BaseModel):
    """The duration of the wait, in seconds."""

    duration: float


def route_work(app: FastAPI) -> None:
    """Add routes that answer with the result of the work."""

    @app.get("/fib/{n}")
    def fib(n: int, response: Response) -> Fib:
        worked = work.fib(n)
        response.headers.update(worked.headers)
        return Fib(fib=worked.value)

    @app.get("/asyncfib/{n}")
    async def asyncfib(n: int, response: Response) -> Fib:
        worked = await work.asyncfib(n)
        response.headers.update(worked.headers)
        return Fib(fib=worked.value)

    @app.get("/wait")
    def wait(response: Response) -> Wait:
        worked = work.wait()
        response.headers.update(worked.headers)
        return Wait(duration=worked.value)

    @app.get("/asyncwait")
    async def asyncwait(response: Response) -> Wait:
        worked = await work.asyncwait()
        response.headers.update(worked.headers)
        return Wait(duration=worked.value)
