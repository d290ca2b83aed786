"""Writes the files of all imported modules, or the state of the runtime, when it is sent a signal.

Costs nothing until then. Collections are noted only if they are asked for, which costs less than 1 µs each.
"""

# pathlib would be imported into the server.
# ruff: noqa: PTH100, PTH105, PTH120, PTH123

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# As in collect.cjs.
_LONG_MS = 1
_MOST_LONG = 5000


def _save(path: str, text: str) -> None:
    with open(path + ".part", "w", encoding="utf-8") as out:
        out.write(text)
    os.replace(path + ".part", path)


def _watch_collections(file: str, signal: "Callable[[int, Callable[[int, object], None]], object]") -> None:
    """Note the collections from now on. SIGURG writes them."""
    import gc
    import time

    callbacks = getattr(gc, "callbacks", None)
    if callbacks is None:
        return
    clock = time.perf_counter
    began = 0.0
    count = 0
    spent = 0.0
    long: list[str] = []

    def notice(phase: str, info: object) -> None:
        nonlocal began, count, spent
        if phase == "start":
            began = clock()
            return
        milliseconds = 1000 * (clock() - began)
        count += 1
        spent += milliseconds
        if milliseconds >= _LONG_MS and len(long) < _MOST_LONG:
            long.append(f"[{1000 * time.time() - milliseconds:.3f}, {milliseconds:.3f}]")

    def write(number: int, frame: object) -> None:
        _save(f"{file}-{os.getpid()}", f'{{"count": {count}, "ms": {spent}, "long": [{", ".join(long)}]}}')

    callbacks.append(notice)
    signal(16 if sys.platform == "darwin" else 23, write)


def _install() -> None:
    import _signal  # type: ignore[import-not-found]  # signal itself would import enum

    target = os.environ.get("BENCH_IMPORTS")
    runtime = os.environ.get("BENCH_RUNTIME")
    collections = os.environ.get("BENCH_COLLECTIONS")
    here = os.path.dirname(os.path.abspath(__file__))
    # The module search finds no trace of this folder.
    sys.path[:] = [path for path in sys.path if path != here]
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401 -- that of the interpreter or of the user
    except ImportError:
        if own is not None:
            sys.modules["sitecustomize"] = own
    if collections is not None:
        _watch_collections(collections, _signal.signal)
    if target is None and runtime is None:
        return
    module = type(sys)
    took: list[str] = []
    ask = getattr(sys, "_is_gil_enabled", None)
    if runtime is not None and ask is not None and not ask():
        import _imp  # type: ignore[import-not-found]  # only an extension module can switch the GIL on

        create = _imp.create_dynamic

        def watch(spec: object, *file: object) -> object:
            before = ask()
            made = create(spec, *file)
            if ask() and not before:
                took.append(getattr(spec, "name", "?"))
            return made

        _imp.create_dynamic = watch

    def describe() -> str:
        # json would be imported into the server.
        gil = getattr(sys, "_is_gil_enabled", lambda: True)()
        jit = getattr(getattr(sys, "_jit", None), "is_enabled", lambda: False)()
        version = sys.version.split()[0]
        state = f'"gil": {str(gil).lower()}, "jit": {str(jit).lower()}'
        if took:
            state += f', "gilBy": "{took[0]}"'
        return f'{{"pid": {os.getpid()}, "python": "{version}", {state}}}'

    def write(number: int, frame: object) -> None:
        nonlocal runtime
        if runtime is not None:
            _save(f"{runtime}-{os.getpid()}", describe())
            # The state is asked for first, and the modules after the load.
            runtime = runtime if target is None else None
            return
        if target is None:
            return
        files = set()
        for one in list(sys.modules.values()):
            # A lazy module is left alone: a plain look at its attributes would load it.
            if isinstance(one, module):
                file = module.__getattribute__(one, "__dict__").get("__file__")
                if isinstance(file, str):
                    files.add(os.path.abspath(file))
        _save(f"{target}-{os.getpid()}", "\n".join(sorted(files)))

    _signal.signal(29 if sys.platform == "darwin" else 50, write)


_install()
