import asyncio
import json
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import version
from types import ModuleType, SimpleNamespace

import pytest
from anyio import to_thread

from bench_contract import attest, devices
from bench_contract.attest import Attestation
from bench_contract.pool import size_pool


async def describe_here(framework: str | None) -> Attestation:
    return attest.describe(devices, http="h11", framework=framework, server="pytest")


def test_this_process() -> None:
    attestation = asyncio.run(describe_here("pluggy"))
    assert attestation["pid"] == os.getpid()
    assert attestation["implementation"] == sys.implementation.name
    assert attestation["version"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
    assert attestation["loop"] == "asyncio"
    assert attestation["http"] == "h11"
    assert attestation["framework"] == f"pluggy {version('pluggy')}"
    assert attestation["server"] == f"pytest {version('pytest')}"
    assert attestation["mypyc"] is False


def test_no_framework_is_absent() -> None:
    assert "framework" not in asyncio.run(describe_here(None))


def test_a_loop_that_is_not_of_asyncio_is_named() -> None:
    attestation = attest.describe(devices, http="h11", framework=None, server="pytest", loop="gevent")
    assert attestation["loop"] == "gevent"


def test_threads_are_those_of_the_pool() -> None:
    async def size_and_describe() -> Attestation:
        threads = size_pool(3)
        assert to_thread.current_default_thread_limiter().total_tokens == 3
        return attest.describe(devices, http="h11", framework=None, server="pytest", threads=threads)

    assert asyncio.run(size_and_describe())["threads"] == 3
    assert "threads" not in asyncio.run(describe_here(None))


def test_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    async def speak() -> None:
        attest.attest(devices, http="h11", framework=None, server="pytest")

    asyncio.run(speak())
    line = capsys.readouterr().out
    assert line.startswith("bench-attest {")
    assert line.endswith("}\n")
    assert line.count("\n") == 1
    assert json.loads(line.removeprefix("bench-attest "))["pid"] == os.getpid()


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ((3, 13, 0, "final", 0), "3.13.0"),
        ((3, 15, 0, "alpha", 2), "3.15.0a2"),
        ((3, 15, 0, "beta", 1), "3.15.0b1"),
        ((3, 15, 0, "candidate", 3), "3.15.0rc3"),
    ],
)
def test_version(monkeypatch: pytest.MonkeyPatch, info: tuple[object, ...], expected: str) -> None:
    monkeypatch.setattr(sys, "version_info", info)
    assert attest.python_version() == expected


@pytest.mark.parametrize("on", [True, False])
def test_gil_and_jit_are_asked_for(monkeypatch: pytest.MonkeyPatch, on: bool) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: on, raising=False)
    monkeypatch.setattr(sys, "_jit", SimpleNamespace(is_enabled=lambda: on), raising=False)
    assert attest.gil_enabled() is on
    assert attest.jit_enabled() is on


def test_an_old_interpreter_has_a_gil_and_no_jit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys, "_is_gil_enabled", raising=False)
    monkeypatch.delattr(sys, "_jit", raising=False)
    assert attest.gil_enabled() is True
    assert attest.jit_enabled() is False


def module_of(suffix: str, **functions: object) -> ModuleType:
    module = ModuleType("app")
    module.__file__ = f"/somewhere/app{suffix}"
    vars(module).update(functions, imported=json.dumps, kind=dict)
    return module


def interpreted() -> None:
    pass


class CompiledFunction:
    """Stands for mypyc's own kind of function, which has no module."""

    __module__ = None  # type: ignore[assignment]

    def __call__(self) -> None:
        """Do nothing."""


def test_compiled_is_an_extension_and_its_functions() -> None:
    extension = EXTENSION_SUFFIXES[0]
    interpreted.__module__ = "app"
    assert attest.is_compiled(module_of(extension, app=CompiledFunction()))
    assert not attest.is_compiled(module_of(".py", app=CompiledFunction()))
    assert not attest.is_compiled(module_of(extension, app=interpreted))
    assert not attest.is_compiled(module_of(extension, app=CompiledFunction(), other=interpreted))
    assert not attest.is_compiled(module_of(extension))
