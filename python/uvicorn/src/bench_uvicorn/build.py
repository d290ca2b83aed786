"""Compiles the app with mypyc into the environment that runs this: `python -m bench_uvicorn.build`."""

import contextlib
import os
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

from bench_uvicorn import COMPILED


def find_missing() -> str | None:
    """Return what this interpreter or machine lacks to compile an extension module, or None."""
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.is_file():
        return f"no Python headers: {header} is missing"
    if find_compiler() is None:
        return "no C compiler: neither $CC nor cc, gcc or clang is on the PATH"
    return None


def find_compiler() -> str | None:
    """Return the command of a C compiler: $CC, the one that Python was built with, or a usual name."""
    candidates = [os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc", "gcc", "clang"]
    return next((text for text in candidates if text and shutil.which(shlex.split(text)[0])), None)


def compile_app(folder: Path) -> Path:
    """Compile the app inside an empty folder; return the extension module."""
    # Imported late: without a compiler there is nothing to import them for.
    from mypyc.build import mypycify
    from setuptools import Distribution

    with contextlib.chdir(folder):
        source = Path(f"{COMPILED}.py")
        shutil.copyfile(Path(__file__).with_name("app.py"), source)
        extensions = mypycify(["--strict", "--config-file=", str(source)])
        distribution = Distribution({"name": COMPILED, "ext_modules": extensions})
        distribution.command_options["build_ext"] = {
            "build_lib": ("build", "made"),
            "build_temp": ("build", "objects"),
        }
        distribution.run_command("build_ext")
    (module,) = (folder / "made").glob(f"{COMPILED}.*")
    return module


def install(module: Path) -> Path:
    """Put the module among the environment's packages, whole or not at all."""
    target = Path(sysconfig.get_path("platlib")) / module.name
    staged = target.with_name(f".{module.name}.{os.getpid()}")
    shutil.copyfile(module, staged)
    return staged.replace(target)


def main() -> None:
    """Build, or print in one line what is missing and end with status 1."""
    if missing := find_missing():
        sys.exit(f"bench-uvicorn: cannot compile with mypyc: {missing}")
    os.environ["CC"] = str(find_compiler())
    with TemporaryDirectory() as folder:
        module = compile_app(Path(folder))
        print(install(module))  # noqa: T201


if __name__ == "__main__":
    main()
