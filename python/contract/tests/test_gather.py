import asyncio
import json
import re
from pathlib import Path
from time import perf_counter

import pytest

from bench_contract.gather import (
    FixturesError,
    GatherError,
    Row,
    gather,
    load_urls,
    merge,
    parse_fixture,
)

URL = "http://127.0.0.1:9/fixtures/0.json"


@pytest.fixture
def fixtures_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "fixtures.json"
    monkeypatch.setenv("BENCH_UPSTREAM", "http://127.0.0.1:9")
    monkeypatch.setenv("BENCH_FIXTURES", str(path))
    return path


def test_no_urls_without_an_upstream(fixtures_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fixtures_file.write_text('["/0.json"]', encoding="utf-8")
    monkeypatch.delenv("BENCH_UPSTREAM")
    assert load_urls() == []


def test_urls_in_the_order_of_the_list(fixtures_file: Path) -> None:
    fixtures_file.write_text('["/b.json", "/a.json"]', encoding="utf-8")
    assert load_urls() == ["http://127.0.0.1:9/b.json", "http://127.0.0.1:9/a.json"]


@pytest.mark.parametrize("content", ["[", "{}", "[]", "[1]", '"/0.json"'])
def test_a_wrong_list_is_named(fixtures_file: Path, content: str) -> None:
    fixtures_file.write_text(content, encoding="utf-8")
    with pytest.raises(FixturesError, match=re.escape(f"BENCH_FIXTURES: {fixtures_file}: ")):
        load_urls()


def test_a_missing_list_is_named(fixtures_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FixturesError, match="No such file"):
        load_urls()
    monkeypatch.delenv("BENCH_FIXTURES")
    with pytest.raises(FixturesError, match="not set"):
        load_urls()


def test_a_fixture_is_its_rows() -> None:
    assert parse_fixture(URL, 200, '[{"a": "é"}, {}]'.encode()) == [{"a": "é"}, {}]


@pytest.mark.parametrize(
    ("status", "body", "fault"),
    [
        (404, b"[]", "status 404"),
        (204, b"", "status 204"),
        (200, b"[{", "Expecting property name"),
        (200, b'["\xff"]', "codec can't decode"),
        (200, b'{"a": 1}', "not a JSON array"),
    ],
)
def test_a_wrong_fixture_is_a_bad_gateway(status: int, body: bytes, fault: str) -> None:
    with pytest.raises(GatherError, match=fault) as caught:
        parse_fixture(URL, status, body)
    assert caught.value.status == 502
    assert str(caught.value).startswith(f"upstream: {URL}: ")


def test_merged_in_order_with_the_time_it_took() -> None:
    gathered = merge([[{"a": 1}, {"a": 2}], [], [{"a": 3}]], perf_counter() - 0.5)
    assert gathered.rows == [{"a": 1}, {"a": 2}, {"a": 3}]
    told = re.fullmatch(r"gather;dur=(\d+\.\d{3})", gathered.headers["Server-Timing"])
    assert told is not None
    assert float(told[1]) >= 500


def test_all_fetches_are_in_flight_at_once() -> None:
    async def run() -> list[Row]:
        all_in = asyncio.Barrier(3)

        async def fetch(url: str) -> list[Row]:
            await all_in.wait()
            return [{"url": url}]

        return (await gather(["c", "a", "b"], fetch)).rows

    assert json.dumps(asyncio.run(run())) == '[{"url": "c"}, {"url": "a"}, {"url": "b"}]'


def test_one_failure_is_thrown_and_ends_the_others() -> None:
    ended: list[str] = []

    async def fetch(url: str) -> list[Row]:
        if url == "bad":
            raise GatherError(502, "upstream: bad")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(url)
        return []

    with pytest.raises(GatherError, match="upstream: bad"):
        asyncio.run(gather(["one", "bad", "two"], fetch))
    assert sorted(ended) == ["one", "two"]
