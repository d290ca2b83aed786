"""Tells what requests cause in a server: collections, statements of SQLite, and where they wait.

The first SIGURG begins, the second one ends and writes it. A request waits at the innermost line of the
user's own code on the stack of a thread, or on the awaits of a task that waits for a future.
"""

# Modules that the server may not need are imported when it is asked, or not at all.
# ruff: noqa: ANN401, PTH105, PTH123
from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType
    from typing import Any

    Place = tuple[str, str, int, str]

INTERVAL_SECONDS = 0.02
PACKAGES = ("/site-packages/", "/dist-packages/", "/lib/python")
# An event loop or a server runs these until it ends: what called them is no part of a request.
FOREVER = ("run_until_complete", "run_forever", "serve_forever", "Runner.run")


def _outward(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _awaits(at: Any) -> list[FrameType]:
    """Return the frames of a coroutine and of what it awaits, the innermost first."""
    frames: list[FrameType] = []
    while at is not None:
        for kind, following in (("cr", "cr_await"), ("gi", "gi_yieldfrom"), ("ag", "ag_await")):
            frame = getattr(at, f"{kind}_frame", None)
            if frame is not None:
                frames.insert(0, frame)
                at = getattr(at, following)
                break
        else:
            if not type(at).__name__.startswith("async_generator_"):
                break
            import gc

            # The next value of an asynchronous generator only refers to it.
            at = next((one for one in gc.get_referents(at) if hasattr(one, "ag_frame")), None)
    return frames


def _is_blocked(thread: int) -> bool:
    """Return False for a thread that runs, or would if this one did not hold the interpreter."""
    try:
        with open(f"/proc/self/task/{thread}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "R"
    except OSError:
        return False


class _Places:
    """The places at which threads and tasks wait in code below a folder, and how many did."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.own: dict[str, bool] = {}
        self.loop: object = None

    def _is_own(self, file: str) -> bool:
        if file not in self.own:
            self.own[file] = file.startswith(self.root) and not any(part in file for part in PACKAGES)
        return self.own[file]

    def _find(self, frames: Iterable[FrameType]) -> Place | None:
        """Return the file, function and line of the innermost own code, and the functions that wait."""
        below: list[str] = []
        for frame in frames:
            code = frame.f_code
            name: str = getattr(code, "co_qualname", code.co_name)
            if self._is_own(code.co_filename):
                if name == "<module>" or any(one in FOREVER for one in below):
                    return None
                called = [one for one in below if "__" not in one]
                within = " … ".join(dict.fromkeys(called[-1:] + called[:1]))
                return code.co_filename, name, frame.f_lineno, within
            below.append(name)
        return None

    def look(self, places: dict[Place, int]) -> None:
        frames = sys._current_frames()
        found: list[Place | None] = []
        for thread in sys.modules["threading"].enumerate() if "threading" in sys.modules else ():
            place = self._find(_outward(frames.get(thread.ident)))
            if place is not None and _is_blocked(thread.native_id):
                found.append(place)
        del frames
        for task in sys.modules["asyncio"].all_tasks(self.loop) if self.loop is not None else ():
            waiter = getattr(task, "_fut_waiter", None)
            # Without one, or if it is done, the task waits for nothing but its turn.
            if waiter is not None and not waiter.done():
                found.append(self._find(_awaits(task.get_coro())))
        for place in found:
            if place is not None:
                places[place] = places.get(place, 0) + 1


def watch(file: str, root: str, signal: Callable[[int, Callable[[int, object], None]], object]) -> None:
    """Tell of the requests from the first SIGURG to the second one, below this folder."""
    import _thread
    import gc
    from time import perf_counter, sleep

    try:
        import sqlite3
    except ImportError:
        sqlite3 = None  # type: ignore[assignment]

    places = _Places(root)
    began = spent = started = 0.0
    count = samples = asked = 0
    statements: dict[str, int] = {}
    idle: dict[Place, int] = {}
    waits: dict[Place, int] = {}

    def notice(phase: str, info: object) -> None:
        nonlocal began, count, spent
        if phase == "start":
            began = perf_counter()
            return
        count += 1
        spent += 1000 * (perf_counter() - began)

    def trace(text: str) -> None:
        if asked == 1:
            statements[text] = statements.get(text, 0) + 1

    def connect(*args: Any, **options: Any) -> Any:
        connection = plain(*args, **options)
        connection.set_trace_callback(trace)
        return connection

    def sample() -> None:
        nonlocal samples, started
        # What waits without load does not belong to requests.
        places.look(idle)
        started = perf_counter()
        write()
        while asked == 1:
            places.look(waits)
            samples += 1
            sleep(INTERVAL_SECONDS)
        # Its response is the last that this thread does: a profiler that follows counts threads.
        write()

    def write() -> None:
        import json

        each = 1000 * (perf_counter() - started) / max(1, samples)
        waited = [
            {"file": place[0], "name": place[1], "line": place[2], "in": place[3], "ms": ms}
            for place, seen in list(waits.items())
            if (ms := each * (seen - samples * idle.get(place, 0))) > 0
        ]
        told = {"count": count, "ms": spent, "statements": dict(statements), "waits": waited}
        path = f"{file}-{os.getpid()}"
        with open(path + ".part", "w", encoding="utf-8") as out:
            json.dump(told, out)
        os.replace(path + ".part", path)

    def answer(number: int, frame: object) -> None:
        nonlocal asked
        asked += 1
        if asked > 1:
            return
        if "asyncio" in sys.modules:
            places.loop = sys.modules["asyncio"]._get_running_loop()
        _thread.start_new_thread(sample, ())

    getattr(gc, "callbacks", []).append(notice)
    if sqlite3 is not None:
        plain = sqlite3.connect
        sqlite3.connect = sqlite3.dbapi2.connect = connect
    signal(16 if sys.platform == "darwin" else 23, answer)
