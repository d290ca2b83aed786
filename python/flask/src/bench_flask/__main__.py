"""The command `bench-flask`."""

from bench_contract import uwsgi
from bench_contract.settings import KEEP_ALIVE_SECONDS, Settings, read_settings

PROGRAM = "bench-flask"

GREENLETS = 1000
"""Requests that a worker works at; others wait in its queues."""

QUEUES = 4
"""Between router and workers: the kernel's usual 4096 is not a backlog."""

ROUTERS = 2
"""A connection takes two of a router's files, and as many as 20,000 are not always allowed."""


def main() -> None:
    """Serve until told to stop."""
    serve_uwsgi_gevent(read_settings(PROGRAM, ["uwsgi-gevent"]))


def serve_uwsgi_gevent(settings: Settings) -> None:
    """Become uWSGI, with the app in greenlets behind uWSGI's own HTTP router."""
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
