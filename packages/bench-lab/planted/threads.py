"""A planted server with one thread per connection: the CPU time of ended threads is a known answer.

Each connection carries one request: the answer says `Connection: close`, the server ends its side, reads
until the client has ended its own, and the thread exits. Only the standard library; Python 3.11 or newer.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import resource
import signal
import socket
import sys
import threading
import time
from array import array
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any

BACKLOG = 1024
LINGER_SECONDS = 75  # longer than any pause of a load
CONTENT_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)
BY_HAND = [
    {
        "id": n,
        "uuid": f"00000000-0000-4000-8000-00000000000{n}",
        "mac": f"5E:00:00:00:00:0{n}",
        "firmware": f"1.0.{n}",
        "created_at": "2025-01-01T00:00:00.000Z",
        "updated_at": "2025-01-01T00:00:00.000Z",
    }
    for n in (1, 2, 3)
]


class Account:
    """Counts what this server does; its shape is `Snapshot` in account.ts."""

    def __init__(self, burn_us: float, allocate_mib: int) -> None:
        self.lock = threading.Lock()
        self.faults = {"burn-us": burn_us, "allocate-mib": allocate_mib}
        self.started = time.monotonic()
        self.accepted = self.open = self.closed_after_answer = self.errors = 0
        self.read = self.ok = self.not_found = self.late = self.abandoned = self.pending = 0
        self.leftover = self.readings = self.burns = 0
        self.burned_us = self.thread_us = 0.0
        self.latencies_us = array("d")
        self.threads_ended = 0
        self.memory: list[bytearray] = []

    def allocate(self) -> None:
        """Allocates and writes the planted memory."""
        for _ in range(int(self.faults["allocate-mib"])):
            self.memory.append(bytearray(b"\xb5" * 2**20))

    def snapshot(self, occasion: str) -> dict[str, Any]:
        """Returns the account so far."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return {
            "pid": os.getpid(),
            "faults": {name: value for name, value in self.faults.items() if value},
            "occasion": occasion,
            "uptimeSeconds": time.monotonic() - self.started,
            "connections": {
                "accepted": self.accepted,
                "open": self.open,
                "closedAtAccept": 0,
                "unserved": 0,
                "closedAfterAnswer": self.closed_after_answer,
                "errors": self.errors,
            },
            "requests": {
                "read": self.read,
                "answered": {
                    "ok": self.ok,
                    "status500": 0,
                    "wrongBody": 0,
                    "wrongLength": 0,
                    "notFound": self.not_found,
                },
                "resets": 0,
                "closedEarly": 0,
                "late": self.late,
                "abandoned": self.abandoned,
                "pending": self.pending,
            },
            "unread": {"leftover": self.leftover, "malformed": 0},
            "burn": {
                "burns": self.burns,
                "askedUs": self.burns * self.faults["burn-us"],
                "burnedUs": self.burned_us,
                "clock": "thread",
            },
            "memory": {"allocatedBytes": len(self.memory) * 2**20},
            "latencyUs": summarise(self.latencies_us),
            "threads": {"ended": self.threads_ended, "cpuUs": self.thread_us},
            "cpu": {"userUs": usage.ru_utime * 1e6, "systemUs": usage.ru_stime * 1e6},
            "readings": self.readings,
        }


def summarise(latencies_us: array[float]) -> dict[str, float]:
    """Summarises the latencies, in µs; returns only the count if there are none."""
    count = len(latencies_us)
    if count == 0:
        return {"count": 0}
    ordered = sorted(latencies_us)
    return {
        "count": count,
        "mean": sum(ordered) / count,
        "min": ordered[0],
        **{f"p{share}": ordered[min(count - 1, count * share // 100)] for share in (50, 90, 99)},
        "max": ordered[-1],
    }


def frame(status: str, body: bytes) -> bytes:
    """Returns the bytes of an answer."""
    head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close"
    return f"HTTP/1.1 {status}\r\n{head}\r\n\r\n".encode() + body


class Planted:
    """The load port: starts a thread for each connection."""

    def __init__(self, account: Account, devices: object) -> None:
        self.account = account
        body = json.dumps(devices, separators=(",", ":"), ensure_ascii=False).encode()
        self.right = frame("200 OK", body)
        self.not_found = frame("404 Not Found", b'{"error":"not found"}')

    def serve(self, listener: socket.socket) -> None:
        """Accepts connections for ever."""
        while True:
            connection, _ = listener.accept()
            with self.account.lock:
                self.account.accepted += 1
                self.account.open += 1
            threading.Thread(target=self.attend, args=(connection,), daemon=True).start()

    def attend(self, connection: socket.socket) -> None:
        """Serves one connection in its thread."""
        account = self.account
        try:
            with connection:
                connection.settimeout(LINGER_SECONDS)
                self.answer(connection)
        except OSError:
            with account.lock:
                account.errors += 1
        finally:
            with account.lock:
                account.open -= 1
                account.threads_ended += 1
                account.thread_us += time.thread_time() * 1e6

    def answer(self, connection: socket.socket) -> None:
        """Reads one request, answers it and closes the connection."""
        account = self.account
        head, rest = read_request(connection)
        if not head:
            with account.lock:
                account.leftover += bool(rest)
            return
        read_at = time.perf_counter()
        right = head.startswith((b"GET /api/devices ", b"GET /api/devices?"))
        with account.lock:
            account.read += 1
            account.pending += 1
            if account.read == 1:
                account.allocate()
        burned = burn(account.faults["burn-us"])
        try:
            connection.sendall(self.right if right else self.not_found)
        except OSError:
            with account.lock:
                account.pending -= 1
                account.abandoned += 1
            raise
        latency_us = (time.perf_counter() - read_at) * 1e6
        with account.lock:
            account.pending -= 1
            account.ok, account.not_found = account.ok + right, account.not_found + (not right)
            account.latencies_us.append(latency_us)
            account.burns += burned > 0
            account.burned_us += burned
            account.closed_after_answer += 1
        connection.shutdown(socket.SHUT_WR)
        # Closing with unread bytes would send a reset: read and count requests that are in flight.
        while True:
            head, rest = read_request(connection, rest)
            with account.lock:
                account.read += bool(head)
                account.late += bool(head)
                account.leftover += bool(rest) and not head
            if not head:
                return


def read_request(connection: socket.socket, text: bytes = b"") -> tuple[bytes, bytes]:
    """Returns the next request and the bytes after it. The request is empty if the client closed its side."""
    while True:
        end = text.find(b"\r\n\r\n")
        if end >= 0:
            body = CONTENT_LENGTH.search(text, 0, end + 2)
            length = end + 4 + (int(body[1]) if body else 0)
            if len(text) >= length:
                return text[:length], text[length:]
        chunk = connection.recv(65_536)
        if not chunk:
            return b"", text
        text += chunk


def burn(us: float) -> float:
    """Burns this many µs of this thread's CPU time; returns the exact time."""
    if us == 0:
        return 0.0
    start = time.thread_time()
    spent = 0.0
    while spent < us:
        spent = (time.thread_time() - start) * 1e6
    return spent


def serve_account(account: Account, host: str, port: int) -> int:
    """Answers `GET /account` on a separate port; returns the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with account.lock:
                account.readings += 1
                body = json.dumps(account.snapshot("reading")).encode()
                if self.path.endswith("latency=restart"):
                    account.latencies_us = array("d")
            self.send_response(200 if self.path.split("?")[0] == "/account" else 404)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_request(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer((host, port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return int(server.server_address[1])


def read_devices() -> object:
    """Returns the list in the file that BENCH_DEVICES names, or three rows without it."""
    path = os.environ.get("BENCH_DEVICES")
    return BY_HAND if path is None else json.loads(Path(path).read_bytes())


def print_line(name: str, value: object) -> None:
    """Writes one line to stdout immediately."""
    os.write(sys.stdout.fileno(), f"{name} {json.dumps(value)}\n".encode())


def main() -> None:
    """Listens, attests, and prints the account at SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--account-port", type=int, default=0)
    parser.add_argument("--burn-us", type=float, default=0.0)
    parser.add_argument("--allocate-mib", type=int, default=0)
    options = parser.parse_args()
    account = Account(options.burn_us, options.allocate_mib)

    def stop(number: int, _frame: FrameType | None) -> None:
        # Without the lock: the interrupted thread may hold it.
        print_line("planted-account", account.snapshot(signal.Signals(number).name))
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    listener = socket.create_server((options.host, options.port), backlog=BACKLOG)
    attestation = {
        "pid": os.getpid(),
        "implementation": platform.python_implementation().lower(),
        "version": platform.python_version(),
        "framework": "planted",
        "server": "socket, a thread per connection",
        "port": listener.getsockname()[1],
        "accountPort": serve_account(account, options.host, options.account_port),
    }
    print_line("bench-attest", attestation)
    Planted(account, read_devices()).serve(listener)


if __name__ == "__main__":
    main()
