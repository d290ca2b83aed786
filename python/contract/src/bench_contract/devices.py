"""The golden devices: the answer to `GET /api/devices`."""

import json
import os
from pathlib import Path
from typing import TypedDict, cast


class Device(TypedDict):
    """One device. The times are ISO 8601 strings and are returned as received."""

    id: int
    uuid: str
    mac: str
    firmware: str
    created_at: str
    updated_at: str


class DevicesError(ValueError):
    """The file named by `BENCH_DEVICES` cannot be used."""


BY_HAND: tuple[Device, ...] = tuple(
    {
        "id": number,
        "uuid": f"00000000-0000-4000-8000-00000000000{number}",
        "mac": f"5E:00:00:00:00:0{number}",
        "firmware": f"1.0.{number}",
        "created_at": "2025-01-01T00:00:00.000Z",
        "updated_at": "2025-01-01T00:00:00.000Z",
    }
    for number in (1, 2, 3)
)
"""The devices of a server that is started by hand."""


def load_devices() -> list[Device]:
    """Return the devices of the JSON file named by `BENCH_DEVICES`, or a short list if it is unset.

    Raises `DevicesError`, which names the file and its error.
    """
    name = os.environ.get("BENCH_DEVICES")
    if not name:
        return list(BY_HAND)
    try:
        rows = json.loads(Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DevicesError(f"BENCH_DEVICES: {name}: {error}") from error
    if not isinstance(rows, list) or not rows:
        raise DevicesError(f"BENCH_DEVICES: {name}: not a JSON array of devices")
    for index, row in enumerate(rows):
        if fault := find_fault(row):
            raise DevicesError(f"BENCH_DEVICES: {name}: device {index}: {fault}")
    return cast("list[Device]", rows)


def find_fault(row: object) -> str | None:
    """Return why a parsed JSON value is not a device, or None if it is one."""
    if not isinstance(row, dict):
        return "not an object"
    fields = Device.__annotations__
    if row.keys() != fields.keys():
        return f"has the fields {', '.join(row)}; wanted {', '.join(fields)}"
    for field, kind in fields.items():
        if type(row[field]) is not kind:
            return f"{field} is not of type {kind.__name__}"
    return None
