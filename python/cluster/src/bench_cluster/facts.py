"""The facts that a host reports about itself, and the digest of its checkout."""

import hashlib
import os
import platform
import resource
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

#: The files of a checkout that must be the same on all hosts.
SOURCES = ("packages/bench*/src", "packages/contract/src", "packages/upstream", "python/cluster/src")
#: Folders in them that an installation makes.
IGNORED = {"__pycache__", "node_modules"}
LOCK = "pnpm-lock.yaml"
VERSION_SECONDS = 10


def digest_checkout(folder: Path) -> str | None:
    """Return the SHA-256 of the sources of Bench and the lock file, with names; None if there are none."""
    found = [path for source in SOURCES for path in folder.glob(f"{source}/**/*")]
    files = [path for path in found if path.is_file() and not IGNORED & set(path.relative_to(folder).parts)]
    if not files or not (folder / LOCK).is_file():
        return None
    digest = hashlib.sha256()
    for path in sorted([*files, folder / LOCK]):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder)}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def find_node(candidates: Iterable[str], wanted: str) -> dict[str, str]:
    """Return the first Node of the wanted version, or else the first one that answers; empty without any."""
    first: dict[str, str] = {}
    for path in candidates:
        try:
            asked = subprocess.run(  # noqa: S603 - the command names its own Node
                [path, "--version"], capture_output=True, text=True, timeout=VERSION_SECONDS, check=True
            )
        except (OSError, subprocess.SubprocessError):
            continue
        found = {"path": path, "version": asked.stdout.strip()}
        if found["version"] == wanted:
            return found
        first = first or found
    return first


def read_facts() -> dict[str, Any]:
    """Return the facts of this host that matter for a load. A fact that the system lacks is absent."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    facts = {
        "pid": os.getpid(),
        "machine": _machine(),
        "release": platform.release(),
        "cores": os.cpu_count() or 1,
        "cpuModel": _cpu_model(),
        "openFiles": None if hard == resource.RLIM_INFINITY else hard,
        "softOpenFiles": None if soft == resource.RLIM_INFINITY else soft,
        "ports": _ports(),
        "load": os.getloadavg()[0],
        "niceness": os.nice(0),
        "taskset": shutil.which("taskset"),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _machine() -> str | None:
    """Return the same text for processes that see each other's ids: the same boot and namespace."""
    boot = _read("/proc/sys/kernel/random/boot_id")
    try:
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return None


def _cpu_model() -> str | None:
    for line in (_read("/proc/cpuinfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return None


def _ports() -> int | None:
    words = (_read("/proc/sys/net/ipv4/ip_local_port_range") or "").split()
    return int(words[1]) - int(words[0]) + 1 if len(words) == 2 else None


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return None
