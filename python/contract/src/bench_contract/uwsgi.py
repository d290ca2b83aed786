"""Running uWSGI, the same way in every stack."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import gettempdir

from bench_contract.files import lift_file_limit

SERVER = "pyuwsgi"
"""The distribution: uWSGI as an extension module, which has wheels."""

SOMAXCONN = Path("/proc/sys/net/core/somaxconn")


def name_sockets(program: str, count: int) -> list[str]:
    """Return paths for sockets of uWSGI's own protocol, without which it does not start.

    Paths rather than ports, so that other programs cannot connect by chance.
    """
    return [f"{gettempdir()}/{program}-{os.getpid()}-{number}.sock" for number in range(count)]


def run(program: str, backlog: int, sockets: Sequence[str], options: Sequence[str]) -> None:
    """Replace this process with uWSGI's master until SIGTERM or SIGINT. Logs no requests.

    Ends the process with status 1 if uWSGI is not installed.
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
    """Return the largest backlog that the kernel allows: with more, uWSGI refuses to start."""
    if not SOMAXCONN.exists():  # not Linux
        return backlog
    return min(backlog, int(SOMAXCONN.read_text(encoding="ascii")))
