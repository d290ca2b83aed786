"""Writes the files of all imported modules, or the state of the runtime, when it is sent a signal.

Costs nothing until then.
"""

# pathlib would be imported into the server.
# ruff: noqa: PTH100, PTH105, PTH120, PTH123

import os
import sys


def _save(path: str, text: str) -> None:
    with open(path + ".part", "w", encoding="utf-8") as out:
        out.write(text)
    os.replace(path + ".part", path)


def _install() -> None:
    import _signal  # type: ignore[import-not-found]  # signal itself would import enum

    target = os.environ.get("BENCH_IMPORTS")
    runtime = os.environ.get("BENCH_RUNTIME")
    collections = os.environ.get("BENCH_COLLECTIONS")
    here = os.path.dirname(os.path.abspath(__file__))
    if collections is not None:
        import caused

        del sys.modules["caused"]
        caused.watch(collections, os.environ.get("BENCH_OWN", "/"), _signal.signal)
    # The module search finds no trace of this folder.
    sys.path[:] = [path for path in sys.path if path != here]
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401 -- that of the interpreter or of the user
    except ImportError:
        if own is not None:
            sys.modules["sitecustomize"] = own
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
