"""The command `bench-litestar`."""

from bench_contract.settings import read_settings
from bench_contract.uvicorn import serve


def main() -> None:
    """Serve until told to stop."""
    settings = read_settings("bench-litestar", ["msgspec"])
    serve("bench_litestar.app:app", settings, framework="litestar")


if __name__ == "__main__":
    main()
