"""The command `bench-aiohttp`."""

from bench_contract.settings import read_settings

WORKERS = {
    "gunicorn": "bench_aiohttp.gunicorn.UVLoopWorker",
    "gunicorn-asyncio": "bench_aiohttp.gunicorn.Worker",
}


def main() -> None:
    """Serve until told to stop."""
    settings = read_settings("bench-aiohttp", ["uvloop", "asyncio", *WORKERS, "uwsgi"])
    # Only the server in use: the others would take memory and time to start.
    match settings.variant:
        case "uvloop" | "asyncio":
            from bench_aiohttp import processes

            processes.serve(settings)
        case "uwsgi":
            from bench_aiohttp import mule

            mule.serve(settings)
        case variant:
            from bench_contract import gunicorn

            app = "bench_aiohttp.app:make_app"
            gunicorn.serve(app, settings, worker=WORKERS[variant], framework="aiohttp")


if __name__ == "__main__":
    main()
