"""The agent of a host: one Ray actor that starts generator processes and passes on their lines."""

import asyncio
import os
import resource
import time
from pathlib import Path
from typing import Any

import ray

from bench_cluster import facts

#: The longest line of a generator: its report, with histograms and slices.
LONGEST_LINE = 2**26
KEPT_STDERR = 2000
#: Variables that Ray sets for its workers, beside those that begin with its name. Servers inherit none.
OF_RAY = ("OMP_NUM_THREADS", "PYTHONBREAKPOINT", "SPT_NOENV")


class Agent:
    """Starts processes on its host, and passes their lines on without reading them."""

    def __init__(self) -> None:
        """Allow each process as many connections as the host does."""
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self._events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._processes: dict[int, asyncio.subprocess.Process] = {}
        self._readers: set[asyncio.Task[None]] = set()
        self._node = os.getppid()

    async def describe(self, checkout: str, nodes: list[str], version: str) -> dict[str, Any]:
        """Return the facts of this host, the digest of its checkout, and its Node."""
        digest = await asyncio.to_thread(facts.digest_checkout, Path(checkout))
        node = await asyncio.to_thread(facts.find_node, nodes, version)
        return {**facts.read_facts(), "node": node, **({} if digest is None else {"digest": digest})}

    async def read_node(self) -> str:
        """Return Ray's id of this host."""
        return str(ray.get_runtime_context().get_node_id())

    async def read_clock(self) -> float:
        """Return the time of this host, in ms since the epoch."""
        return time.time() * 1000

    async def start(self, process: int, argv: list[str], cwd: str) -> None:
        """Start a process. Its lines and its end become events."""
        env = {
            name: value
            for name, value in os.environ.items()
            if name not in OF_RAY and not name.startswith("RAY_")
        }
        child = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            cwd=cwd,
            env=env,
        )
        self._processes[process] = child
        reader = asyncio.create_task(self._read(process, child))
        self._readers.add(reader)
        reader.add_done_callback(self._readers.discard)

    async def tell(self, process: int, line: str, not_after_ms: float | None) -> None:
        """Pass a line to a process, unless it comes too late: that becomes an event."""
        late = 0.0 if not_after_ms is None else time.time() * 1000 - not_after_ms
        child = self._processes.get(process)
        if late > 0:
            self._emit(process, event="late", byMs=late)
        elif child is not None and child.stdin is not None:
            child.stdin.write(f"{line}\n".encode())

    async def end(self, process: int) -> None:
        """Kill a process and wait for its end."""
        child = self._processes.pop(process, None)
        if child is not None and child.returncode is None:
            child.kill()
            await child.wait()

    async def events(self) -> list[dict[str, Any]]:
        """Wait for the next events."""
        events = [await self._events.get()]
        while not self._events.empty():
            events.append(self._events.get_nowait())
        return events

    async def _read(self, process: int, child: asyncio.subprocess.Process) -> None:
        stderr = asyncio.create_task(_tail(child.stderr))
        while child.stdout is not None and (line := await child.stdout.readline()):
            self._emit(process, event="line", line=line.decode().rstrip("\n"))
        status = await child.wait()
        # If the node is lost, Ray kills these processes just before the agent. The loss is the only cause.
        if os.getppid() == self._node:
            self._emit(process, event="ended", status=status, stderr=await stderr)

    def _emit(self, process: int, **event: object) -> None:
        self._events.put_nowait({"process": process, **event})


async def _tail(stream: asyncio.StreamReader | None) -> str:
    kept = b""
    while stream is not None and (chunk := await stream.read(4096)):
        kept = (kept + chunk)[-KEPT_STDERR:]
    return kept.decode(errors="replace").strip()
