"""The command `bench-uvicorn`."""

import sys
from importlib.util import find_spec

from bench_contract.settings import read_settings
from bench_contract.uvicorn import serve
from bench_uvicorn import COMPILED, SOURCE


def main() -> None:
    """Serve until told to stop."""
    settings = read_settings(
        "bench-uvicorn", ["mypyc", "interpreted", "interpreted-h11", "interpreted-asyncio"]
    )
    module = COMPILED if settings.variant == "mypyc" else SOURCE
    if find_spec(module) is None:
        sys.exit(
            "bench-uvicorn: not compiled: run `python -m bench_uvicorn.build`, or use --variant interpreted"
        )
    serve(
        f"{module}:app",
        settings,
        framework=None,
        loop="asyncio" if settings.variant == "interpreted-asyncio" else "uvloop",
        http="h11" if settings.variant == "interpreted-h11" else "httptools",
    )


if __name__ == "__main__":
    main()
