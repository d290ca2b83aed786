"""The command `bench-example`."""

from bench_contract.settings import read_settings
from bench_contract.uvicorn import serve


def main() -> None:
    """Serve until told to stop."""
    settings = read_settings("bench-example", ["uvicorn"])
    # A framework is named here instead of None: its version is attested.
    serve("bench_example.app:app", settings, framework=None)


if __name__ == "__main__":
    main()
