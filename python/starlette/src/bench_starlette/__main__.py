"""The command `bench-starlette`."""

from bench_contract.settings import read_settings
from bench_contract.uvicorn import serve


def main() -> None:
    """Serve until told to stop."""
    settings = read_settings("bench-starlette", ["uvicorn"])
    serve("bench_starlette.app:app", settings, framework="starlette")


if __name__ == "__main__":
    main()
