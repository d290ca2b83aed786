"""The command `bench-fastapi`."""

from bench_contract.settings import read_settings

FACTORIES = {
    "model": "app:model",
    "raw": "app:raw",
    "plain": "app:plain",
    "def": "app:threaded",
    "httpx-per-request-plain": "data:httpx_per_request_plain",
    "httpx-per-request-raw": "data:httpx_per_request_raw",
    "httpx-plain": "data:httpx_plain",
    "httpx-raw": "data:httpx_raw",
    "granian": "app:model",
    "granian-def": "app:threaded",
    "hypercorn": "app:model",
    "hypercorn-raw": "app:raw",
    "gunicorn": "app:model",
}


def main() -> None:
    """Serve until told to stop."""
    settings = read_settings("bench-fastapi", list(FACTORIES), threaded=["def", "granian", "granian-def"])
    app = f"bench_fastapi.{FACTORIES[settings.variant]}"
    # Only the server in use: the others would take memory and time to start.
    match settings.variant:
        case "granian" | "granian-def":
            from bench_contract import granian

            granian.serve(app, settings, framework="fastapi")
        case "hypercorn" | "hypercorn-raw":
            from bench_contract import hypercorn

            hypercorn.serve(app, settings, framework="fastapi")
        case "gunicorn":
            from bench_contract import gunicorn

            worker = "bench_contract.uvicorn_worker.Worker"
            gunicorn.serve(app, settings, worker=worker, framework="fastapi")
        case _:
            from bench_contract import uvicorn

            uvicorn.serve(app, settings, framework="fastapi", factory=True)


if __name__ == "__main__":
    main()
