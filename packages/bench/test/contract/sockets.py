"""Prints the TCP sockets of processes on one local port, as the kernel has them: `sockets.py PORT PID...`.

Prints null where this process may not look at the sockets of others (kernel.yama.ptrace_scope).
"""

import ctypes
import json
import os
import socket
import sys

PIDFD_OPEN, PIDFD_GETFD = 434, 438
LISTEN = 10
INFO_BYTES = 104
QUEUE_LIMIT = slice(28, 32)  # tcpi_sacked, which is the limit of the accept queue of a listening socket

libc = ctypes.CDLL(None, use_errno=True)


def call(number: int, *words: int) -> int:
    """Make a system call; throws OSError."""
    result = int(libc.syscall(number, *words))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def sockets_of(pid: int, port: int) -> list[dict[str, int | bool]]:
    """Give the sockets of one process on that port."""
    process = call(PIDFD_OPEN, pid, 0)
    found: list[dict[str, int | bool]] = []
    for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208
        try:
            if not os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:"):  # noqa: PTH115
                continue
            with socket.socket(fileno=call(PIDFD_GETFD, process, int(name), 0)) as one:
                if one.family not in (socket.AF_INET, socket.AF_INET6) or one.getsockname()[1] != port:
                    continue
                info = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_BYTES)
                found.append(
                    {
                        "listening": info[0] == LISTEN,
                        "backlog": int.from_bytes(info[QUEUE_LIMIT], sys.byteorder),
                        "noDelay": one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0,
                    }
                )
        except PermissionError:
            raise
        except OSError:
            continue  # closed meanwhile, or no TCP socket
    return found


port, *pids = map(int, sys.argv[1:])
try:
    print(json.dumps([one for pid in pids for one in sockets_of(pid, port)]))  # noqa: T201
except PermissionError:
    print("null")  # noqa: T201
