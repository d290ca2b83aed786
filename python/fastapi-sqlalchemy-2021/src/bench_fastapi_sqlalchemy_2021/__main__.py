"""The command `bench-fastapi-sqlalchemy-2021`."""

from bench_contract.settings import read_settings
from bench_fastapi_sqlalchemy_2021 import server


def main() -> None:
    """Serve until told to stop."""
    settings = read_settings("bench-fastapi-sqlalchemy-2021", ["sync"], threaded=["sync"])
    server.serve("bench_fastapi_sqlalchemy_2021.app:app", settings)


if __name__ == "__main__":
    main()
