"""An ASGI app that attests by itself, for servers without a start-up hook."""

from collections.abc import Awaitable, Callable, MutableMapping
from importlib import import_module
from typing import Any

from bench_contract.attest import attest

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


def load(
    module_name: str, factory: str, *, http: str, framework: str, server: str, pool: int | None = None
) -> Callable[[Message, Receive, Send], Awaitable[None]]:
    """Make the app of a worker with a factory in a module; it attests in the running loop before it serves.

    `pool` is the number of threads for plain functions; None for the default.
    """
    module = import_module(module_name)
    asgi = getattr(module, factory)()

    def answer(scope: Message, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "lifespan":
            threads = None
            if pool is not None:
                from bench_contract.pool import size_pool  # not every stack has anyio

                threads = size_pool(pool)
            attest(module, http=http, framework=framework, server=server, threads=threads)
        answered: Awaitable[None] = asgi(scope, receive, send)
        return answered

    return answer
