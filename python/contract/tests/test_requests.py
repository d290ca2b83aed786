from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from bench_contract.gather import GatherError
from bench_contract.requests import open_fetch

ANSWERS = {
    "/rows.json": (200, '[{"name": "é"}]'),
    "/gone.json": (404, "[]"),
    "/object.json": (200, "{}"),
    "/cut.json": (200, '[{"na'),
}


class Fixtures(BaseHTTPRequestHandler):
    """Answers each path as the table says, and notes who asked."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer."""
        status, text = ANSWERS[self.path]
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())
        clients.append(self.client_address[1])

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing."""


clients: list[int] = []


@pytest.fixture
def upstream() -> Iterator[str]:
    clients.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Fixtures) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_rows_over_a_connection_that_is_kept(upstream: str) -> None:
    fetch = open_fetch(1)
    for _ in range(3):
        assert fetch(f"{upstream}/rows.json") == [{"name": "é"}]
    assert len(clients) == 3
    assert len(set(clients)) == 1


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("/gone.json", "status 404"),
        ("/object.json", "not a JSON array"),
        ("/cut.json", "Unterminated string"),
    ],
)
def test_a_wrong_answer_is_a_bad_gateway(upstream: str, path: str, fault: str) -> None:
    with pytest.raises(GatherError, match=f"^upstream: {upstream}{path}: {fault}") as caught:
        open_fetch(1)(f"{upstream}{path}")
    assert caught.value.status == 502


def test_nobody_there_is_a_bad_gateway() -> None:
    url = "http://127.0.0.1:1/0.json"
    with pytest.raises(GatherError, match=f"^upstream: {url}: ConnectionError: ") as caught:
        open_fetch(1)(url)
    assert caught.value.status == 502
