import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bench_contract.gather import Client, Gathered, GatherError, Upstream

PATHS = ["/b.json", "/a.json", "/c.json"]
BODIES = {path: json.dumps([{"path": path, "name": "é"}]).encode() for path in PATHS}
ROWS = [{"path": path, "name": "é"} for path in PATHS]


@dataclass
class Fake:
    """An upstream that answers once every fixture was requested, and counts the requests.

    Where its answer is empty, as all are after a number of requests, it closes the connection.
    """

    answers: dict[str, bytes] = field(default_factory=lambda: {path: answer(BODIES[path]) for path in PATHS})
    patience: int = 1000
    connections: int = 0
    requests: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer on one connection."""
        self.connections += 1
        while line := await reader.readline():
            while await reader.readline() != b"\r\n":
                pass
            self.requests += 1
            await self.all_asked.wait()
            found = self.answers[line.split()[1].decode()] if self.requests <= self.patience else b""
            writer.write(found)
            if not found:
                break
        writer.close()

    @asynccontextmanager
    async def listen(self) -> AsyncIterator[int]:
        """Give the port."""
        self.all_asked = asyncio.Barrier(len(PATHS))
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        async with server:
            yield server.sockets[0].getsockname()[1]


def answer(body: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@pytest.fixture(params=["aiohttp", "httpx"])
def client(request: pytest.FixtureRequest) -> Client:
    name: Client = request.param
    return name


@pytest.fixture(autouse=True)
def fixtures_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "fixtures.json"
    path.write_text(json.dumps(PATHS), encoding="utf-8")
    monkeypatch.setenv("BENCH_FIXTURES", str(path))


async def gather_once(client: Client) -> Gathered:
    upstream = Upstream(client)
    async with upstream.lifespan():
        return await upstream.gather()


def gather(fake: Fake, client: Client, *, times: int = 1, kept: bool = True) -> list[Gathered]:
    async def run() -> list[Gathered]:
        with pytest.MonkeyPatch.context() as patch:
            async with fake.listen() as port:
                patch.setenv("BENCH_UPSTREAM", f"http://127.0.0.1:{port}")
                upstream = Upstream(client, kept=kept)
                async with upstream.lifespan():
                    return [await upstream.gather() for _ in range(times)]

    return asyncio.run(run())


@pytest.mark.parametrize(("kept", "connections"), [(True, 3), (False, 6)])
def test_all_at_once_and_in_order(client: Client, kept: bool, connections: int) -> None:
    fake = Fake()
    for gathered in gather(fake, client, times=2, kept=kept):
        assert gathered.rows == ROWS
    assert (fake.requests, fake.connections) == (6, connections)


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        (answer(b"[]", "500 Internal Server Error"), "status 500"),
        (answer(b"{}"), "not a JSON array"),
        (b"", "Server"),
    ],
)
def test_one_wrong_answer_is_a_bad_gateway(client: Client, kept: bool, wrong: bytes, fault: str) -> None:
    with pytest.raises(GatherError, match=f"^upstream: http://[^ ]+/a.json: .*{fault}") as caught:
        gather(Fake({path: answer(BODIES[path]) for path in PATHS} | {"/a.json": wrong}), client, kept=kept)
    assert caught.value.status == 502


def test_a_request_is_never_sent_twice(client: Client) -> None:
    fake = Fake(patience=3)
    with pytest.raises(GatherError, match=r"^upstream: "):
        gather(fake, client, times=2)
    assert fake.requests == 6


def test_nobody_there_is_a_bad_gateway(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_UPSTREAM", "http://127.0.0.1:1")

    with pytest.raises(GatherError, match=r"^upstream: http://127\.0\.0\.1:1/[abc]\.json: ") as caught:
        asyncio.run(gather_once(client))
    assert caught.value.status == 502


def test_without_an_upstream_it_says_so(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_UPSTREAM", raising=False)

    with pytest.raises(GatherError, match=r"^BENCH_UPSTREAM is not set$") as caught:
        asyncio.run(gather_once(client))
    assert caught.value.status == 503
