"""The command `bench-sanic`."""

from bench_contract.settings import read_settings


def main() -> None:
    """Serve until told to stop."""
    settings = read_settings("bench-sanic", ["sanic", "uvicorn"])
    # Only the server in use: the other would take memory and time to start.
    if settings.variant == "uvicorn":
        from bench_contract import uvicorn

        uvicorn.serve("bench_sanic.app:make_app", settings, framework="sanic", factory=True)
    else:
        from bench_sanic import server

        server.serve(settings)


if __name__ == "__main__":
    main()
