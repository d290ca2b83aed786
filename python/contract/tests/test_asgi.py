import asyncio
import json
import sys
from types import ModuleType

import pytest

from bench_contract.asgi import Message, Receive, Send


def test_an_app_attests_where_there_is_no_anyio(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "anyio"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "anyio", None)
    monkeypatch.delitem(sys.modules, "bench_contract.pool", raising=False)
    monkeypatch.delitem(sys.modules, "bench_contract.asgi")
    app = ModuleType("app_without_anyio")
    app.__file__ = "app_without_anyio.py"

    async def answer(scope: Message, receive: Receive, send: Send) -> None: ...

    monkeypatch.setattr(app, "make", lambda: answer, raising=False)
    monkeypatch.setitem(sys.modules, app.__name__, app)
    from bench_contract import asgi

    async def begin() -> None:
        async def receive() -> Message:
            return {}

        async def send(_message: Message) -> None: ...

        load = asgi.load(app.__name__, "make", http="h11", framework="pytest", server="pytest")
        await load({"type": "lifespan"}, receive, send)

    asyncio.run(begin())
    told = json.loads(capsys.readouterr().out.removeprefix("bench-attest "))
    assert told["http"] == "h11"
    assert "threads" not in told
