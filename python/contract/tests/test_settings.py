import pytest

from bench_contract.settings import BACKLOG, Settings, read_settings

VARIANTS = ["model", "raw"]


@pytest.fixture(autouse=True)
def no_devices_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_DEVICES", raising=False)


def test_defaults_serve_by_hand() -> None:
    expected = Settings(
        host="127.0.0.1", port=8080, workers=1, threads=None, variant="model", backlog=BACKLOG
    )
    assert read_settings("bench", VARIANTS, []) == expected


def test_everything_can_be_said() -> None:
    argv = ["--host", "::1", "--port", "9", "--workers", "2", "--threads", "3", "--variant", "raw"]
    expected = Settings(host="::1", port=9, workers=2, threads=3, variant="raw", backlog=64)
    assert read_settings("bench", VARIANTS, [*argv, "--backlog", "64"], threaded=["raw"]) == expected


def test_the_backlog_holds_the_highest_rung() -> None:
    assert BACKLOG >= 10_000


@pytest.mark.parametrize(
    ("argv", "fault"),
    [
        (["--port", "0"], "0 is less than 1"),
        (["--port", "65536"], "65536 is not a port"),
        (["--port", "http"], "invalid"),
        (["--workers", "0"], "0 is less than 1"),
        (["--variant", "fast"], "invalid choice: 'fast'"),
        (["--threads", "0", "--variant", "raw"], "0 is less than 1"),
        (["--threads", "2"], "model takes no --threads; those that do: raw"),
        (["--colour"], "unrecognized arguments"),
    ],
)
def test_bad_usage_ends_with_2(argv: list[str], fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        read_settings("bench", VARIANTS, argv, threaded=["raw"])
    assert caught.value.code == 2
    assert fault in capsys.readouterr().err


def test_bad_golden_data_ends_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCH_DEVICES", "/does/not/exist.json")
    with pytest.raises(SystemExit) as caught:
        read_settings("bench", VARIANTS, [])
    assert caught.value.code == 2
    assert "/does/not/exist.json" in capsys.readouterr().err
