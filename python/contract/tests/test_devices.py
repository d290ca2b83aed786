import json
from pathlib import Path

import pytest

from bench_contract.devices import BY_HAND, DevicesError, load_devices

DEVICE = {
    "id": 7,
    "uuid": "b0e42fe7-31a5-4894-a441-007e5256afea",
    "mac": "5F-33-CC-1F-43-82",
    "firmware": "2.1.6-é",
    "created_at": "2024-05-28T15:21:51.13Z",
    "updated_at": "2024-05-28T15:21:51.137Z",
}


@pytest.fixture
def devices_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "devices.json"
    monkeypatch.setenv("BENCH_DEVICES", str(path))
    return path


def test_by_hand_without_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_DEVICES", raising=False)
    assert load_devices() == list(BY_HAND)
    assert [device["id"] for device in BY_HAND] == [1, 2, 3]


def test_the_file_as_it_is(devices_file: Path) -> None:
    rows = [DEVICE, {**DEVICE, "id": 8}]
    devices_file.write_text(json.dumps(rows), encoding="utf-8")
    assert load_devices() == rows


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("[", "Expecting value"),
        ("{}", "not a JSON array of devices"),
        ("[]", "not a JSON array of devices"),
        ("[1]", "device 0: not an object"),
        (json.dumps([DEVICE, {"id": 1}]), "device 1: has the fields id; wanted id, uuid, mac"),
        (json.dumps([{**DEVICE, "extra": 1}]), "device 0: has the fields"),
        (json.dumps([{**DEVICE, "id": "7"}]), "device 0: id is not of type int"),
        (json.dumps([{**DEVICE, "id": True}]), "device 0: id is not of type int"),
        (json.dumps([{**DEVICE, "mac": None}]), "device 0: mac is not of type str"),
    ],
)
def test_a_wrong_file_is_named_with_its_fault(devices_file: Path, content: str, fault: str) -> None:
    devices_file.write_text(content, encoding="utf-8")
    with pytest.raises(DevicesError) as caught:
        load_devices()
    assert str(caught.value).startswith(f"BENCH_DEVICES: {devices_file}: ")
    assert fault in str(caught.value)


def test_a_missing_file_is_named(devices_file: Path) -> None:
    with pytest.raises(DevicesError, match="No such file") as caught:
        load_devices()
    assert str(devices_file) in str(caught.value)
