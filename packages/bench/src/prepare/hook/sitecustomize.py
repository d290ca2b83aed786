"""Writes the files of all imported modules when it is sent a signal. Costs nothing until then."""

# pathlib would be imported into the server.
# ruff: noqa: PTH100, PTH105, PTH120, PTH123

import os
import sys


def _install() -> None:
    import _signal  # type: ignore[import-not-found]  # signal itself would import enum

    target = os.environ.get("BENCH_IMPORTS")
    here = os.path.dirname(os.path.abspath(__file__))
    # The module search finds no trace of this folder.
    sys.path[:] = [path for path in sys.path if path != here]
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401 -- that of the interpreter or of the user
    except ImportError:
        if own is not None:
            sys.modules["sitecustomize"] = own
    if target is None:
        return
    module = type(sys)

    def write(number: int, frame: object) -> None:
        files = set()
        for one in list(sys.modules.values()):
            # A lazy module is left alone: a plain look at its attributes would load it.
            if isinstance(one, module):
                file = module.__getattribute__(one, "__dict__").get("__file__")
                if isinstance(file, str):
                    files.add(os.path.abspath(file))
        path = f"{target}-{os.getpid()}"
        with open(path + ".part", "w", encoding="utf-8") as out:
            out.write("\n".join(sorted(files)))
        os.replace(path + ".part", path)

    _signal.signal(29 if sys.platform == "darwin" else 50, write)


_install()
