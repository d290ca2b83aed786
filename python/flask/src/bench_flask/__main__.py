"""The command `bench-flask`."""

from functools import partial

from bench_contract.settings import KEEP_ALIVE_SECONDS, Settings, read_settings

PROGRAM = "bench-flask"

GREENLETS = 1000
"""The requests that a worker handles at the same time; others wait in its queues."""

QUEUES = 4
"""The sockets between router and workers. The usual 4096 of the kernel is not enough as their backlog."""

ROUTERS = 2
"""A router needs two open files per connection, and not every system allows 20,000."""


VARIANTS = ["uwsgi-gevent", "gunicorn", "gunicorn-gthread", "waitress", "dev-global", "dev-instances"]


def main() -> None:
    """Serve until told to stop."""
    settings = read_settings(PROGRAM, VARIANTS, threaded=["gunicorn-gthread", "waitress"])
    # Only the server in use: the others would take memory and time to start.
    match settings.variant:
        case "uwsgi-gevent":
            serve_uwsgi_gevent(settings)
        case "gunicorn" | "gunicorn-gthread":
            serve_gunicorn(settings)
        case "waitress":
            from bench_contract import processes
            from bench_flask import waitress

            processes.serve(PROGRAM, settings, partial(waitress.serve, settings))
        case _:
            from bench_contract import processes
            from bench_flask import dev

            processes.serve(PROGRAM, settings, partial(dev.serve, settings))


def serve_gunicorn(settings: Settings) -> None:
    """Serve by gunicorn's own workers."""
    from bench_contract import gunicorn
    from bench_flask.gunicorn import THREADS

    is_threaded = settings.variant == "gunicorn-gthread"
    gunicorn.serve(
        "bench_flask.app:make_app",
        settings,
        worker=f"bench_flask.gunicorn.{'Threads' if is_threaded else 'Sync'}",
        framework="flask",
        threads=(settings.threads or THREADS) if is_threaded else 1,
    )


def serve_uwsgi_gevent(settings: Settings) -> None:
    """Become uWSGI, with the app in greenlets behind uWSGI's own HTTP router."""
    from bench_contract import uwsgi

    sockets = uwsgi.name_sockets(PROGRAM, QUEUES)
    options = [
        f"--http={settings.host}:{settings.port}",
        f"--http-keepalive={KEEP_ALIVE_SECONDS}",
        f"--http-processes={ROUTERS}",
        *(f"--http-to={socket}" for socket in sockets),
        f"--processes={settings.workers}",
        f"--gevent={GREENLETS}",
        "--gevent-early-monkey-patch",
        "--lazy-apps",
        "--need-app",
        "--module=bench_flask.uwsgi_gevent:app",
    ]
    uwsgi.run(PROGRAM, settings.backlog, sockets, options)


if __name__ == "__main__":
    main()
