"""Running uWSGI, the same way for every stack that does."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import gettempdir

from bench_contract.files import lift_file_limit

SERVER = "pyuwsgi"
"""The distribution: uWSGI as an extension module, for which there are wheels."""

SOMAXCONN = Path("/proc/sys/net/core/somaxconn")


def name_sockets(program: str, count: int) -> list[str]:
    """Give paths for sockets of uWSGI's own protocol, without which it does not start.

    Paths, because strangers could come by a port.
    """
    return [f"{gettempdir()}/{program}-{os.getpid()}-{number}.sock" for number in range(count)]


def run(program: str, backlog: int, sockets: Sequence[str], options: Sequence[str]) -> None:
    """Become uWSGI's master, with these options, until SIGTERM or SIGINT. Logs no requests.

    Ends the process with status 1 when uWSGI is not installed.
    """
    uwsgi = Path(sys.executable).with_name("uwsgi")
    if not uwsgi.is_file():
        sys.exit(f'{program}: uWSGI is not installed: in stack.json, see "build" of the variant')
    own = ["--master", "--die-on-term", "--enable-threads", "--disable-logging", "--vacuum"]
    own += [f"--socket={socket}" for socket in sockets]
    own += [f"--listen={queue_length(backlog)}"]
    lift_file_limit()
    os.execv(uwsgi, [str(uwsgi), *own, *options])  # noqa: S606


def queue_length(backlog: int) -> int:
    """Give as much of a backlog as the kernel allows: with more, uWSGI refuses to start."""
    if not SOMAXCONN.exists():  # not Linux
        return backlog
    return min(backlog, int(SOMAXCONN.read_text(encoding="ascii")))
