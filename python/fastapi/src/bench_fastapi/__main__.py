"""The command `bench-fastapi`."""

from bench_contract.settings import read_settings
from bench_contract.uvicorn import serve

FACTORIES = {"model": "model", "raw": "raw", "plain": "plain", "def": "threaded"}


def main() -> None:
    """Serve until told to stop."""
    settings = read_settings("bench-fastapi", list(FACTORIES), threaded=["def"])
    factory = FACTORIES[settings.variant]
    serve(f"bench_fastapi.app:{factory}", settings, framework="fastapi", factory=True)


if __name__ == "__main__":
    main()
