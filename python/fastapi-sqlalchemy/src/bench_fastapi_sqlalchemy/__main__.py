"""The command `bench-fastapi-sqlalchemy`."""

from bench_contract.settings import read_settings
from bench_contract.uvicorn import serve

MODULES = {"sync": "threaded", "async": "awaited"}


def main() -> None:
    """Serve until told to stop."""
    settings = read_settings("bench-fastapi-sqlalchemy", list(MODULES), threaded=["sync"])
    serve(f"bench_fastapi_sqlalchemy.{MODULES[settings.variant]}:app", settings, framework="fastapi")


if __name__ == "__main__":
    main()
