"""The command `bench-fastapi`."""

from bench_contract.settings import read_settings

FACTORIES = {"model": "model", "raw": "raw", "plain": "plain", "def": "threaded", "granian": "threaded"}


def main() -> None:
    """Serve until told to stop."""
    settings = read_settings("bench-fastapi", list(FACTORIES), threaded=["def", "granian"])
    app = f"bench_fastapi.app:{FACTORIES[settings.variant]}"
    # Only the server in use: the other would take memory and time to start.
    if settings.variant == "granian":
        from bench_contract import granian

        granian.serve(app, settings, framework="fastapi")
    else:
        from bench_contract import uvicorn

        uvicorn.serve(app, settings, framework="fastapi", factory=True)


if __name__ == "__main__":
    main()
