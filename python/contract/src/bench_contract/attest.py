"""The attestation of a live worker: one line on stdout, `bench-attest {json}`."""

import asyncio
import json
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import version
from types import FunctionType, ModuleType
from typing import NotRequired, TypedDict

CLIENTS = ("aiohttp", "httpx", "requests")
"""Upstream clients; the one in use has its module of this name in this package loaded."""

DRIVERS = {"asyncpg": "asyncpg", "psycopg": "psycopg", "psycopg2": "psycopg2-binary"}
"""Distributions of PostgreSQL drivers by their modules; the one in use is loaded."""


class Attestation(TypedDict):
    """The actual properties of this process."""

    pid: int
    implementation: str
    version: str
    gil: bool
    jit: bool
    loop: str
    http: str
    framework: NotRequired[str]
    server: str
    client: NotRequired[str]
    mypyc: bool
    threads: NotRequired[int]


def attest(
    app: ModuleType,
    *,
    http: str,
    framework: str | None,
    server: str,
    threads: int | None = None,
    loop: str | None = None,
) -> None:
    """Print the attestation of this worker once the app is imported. Without `loop`, name the running one."""
    told = describe(app, http=http, framework=framework, server=server, threads=threads, loop=loop)
    sys.stdout.write(f"bench-attest {json.dumps(told)}\n")
    sys.stdout.flush()


def describe(
    app: ModuleType,
    *,
    http: str,
    framework: str | None,
    server: str,
    threads: int | None = None,
    loop: str | None = None,
) -> Attestation:
    """Describe this process. `framework` and `server` are distributions, `http` is the parser in use.

    A supervisor and the server of its workers are written `gunicorn+uvicorn`. `threads` is the size of the
    handlers' pool, if one was set. `loop` names a loop that asyncio does not know.
    """
    attestation: Attestation = {
        "pid": os.getpid(),
        "implementation": sys.implementation.name,
        "version": python_version(),
        "gil": gil_enabled(),
        "jit": jit_enabled(),
        "loop": loop or type(asyncio.get_running_loop()).__module__.partition(".")[0],
        "http": http,
        "server": " + ".join(name_version(part) for part in server.split("+")),
        "mypyc": is_compiled(app),
    }
    if framework is not None:
        attestation["framework"] = name_version(framework)
    clients = [name for name in CLIENTS if f"bench_contract.{name}" in sys.modules]
    drivers = [name for module, name in DRIVERS.items() if module in sys.modules]
    if asking := clients + drivers:
        attestation["client"] = " + ".join(map(name_version, asking))
    if threads is not None:
        attestation["threads"] = threads
    return attestation


def name_version(distribution: str) -> str:
    """Return a distribution with its version, such as `uvicorn 0.54.0`."""
    return f"{distribution} {version(distribution)}"


def python_version() -> str:
    """Return the interpreter's version, such as `3.13.0` or `3.15.0rc1`."""
    major, minor, micro, level, serial = sys.version_info
    stage = "" if level == "final" else f"{ {'alpha': 'a', 'beta': 'b', 'candidate': 'rc'}[level] }{serial}"
    return f"{major}.{minor}.{micro}{stage}"


def gil_enabled() -> bool:
    """Return True if the GIL is on: an extension module can switch it back on in a free-threaded build."""
    ask = getattr(sys, "_is_gil_enabled", None)
    return True if ask is None else bool(ask())


def jit_enabled() -> bool:
    """Return True if the interpreter compiles hot code to machine code."""
    jit = getattr(sys, "_jit", None)
    return False if jit is None else bool(jit.is_enabled())


def is_compiled(module: ModuleType) -> bool:
    """Return True if a module is an extension whose own functions are machine code, not bytecode."""
    own = (None, module.__name__)  # mypyc gives some of its functions no module
    functions = [
        value
        for value in vars(module).values()
        if callable(value) and not isinstance(value, type) and getattr(value, "__module__", None) in own
    ]
    return (
        str(module.__file__).endswith(tuple(EXTENSION_SUFFIXES))
        and functions != []
        and not any(isinstance(function, FunctionType) for function in functions)
    )
