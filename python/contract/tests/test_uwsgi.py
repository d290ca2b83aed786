from pathlib import Path

import pytest

from bench_contract import uwsgi


@pytest.mark.parametrize(("allowed", "length"), [("4096\n", 4096), ("65536\n", 16_384)])
def test_no_longer_a_queue_than_the_kernel_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: str, length: int
) -> None:
    somaxconn = tmp_path / "somaxconn"
    somaxconn.write_text(allowed, encoding="ascii")
    monkeypatch.setattr(uwsgi, "SOMAXCONN", somaxconn)
    assert uwsgi.queue_length(16_384) == length


def test_a_kernel_that_does_not_say_allows_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uwsgi, "SOMAXCONN", tmp_path / "somaxconn")
    assert uwsgi.queue_length(16_384) == 16_384


def test_without_uwsgi_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(SystemExit, match=r"^bench: uWSGI is not installed"):
        uwsgi.run("bench", 64, uwsgi.name_sockets("bench", 1), [])
