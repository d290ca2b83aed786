"""One generator process: `python -m bench_clients requests|threads|aiohttp`.

Orders come on stdin and reports go to stdout, one JSON object a line. It ends with its stdin, whatever its
threads are waiting for, so that it never outlives the harness.
"""

import json
import os
import queue
import sys
import threading
from typing import Any

from bench_clients.blocking import BlockingLoad
from bench_clients.concurrent import ConcurrentLoad
from bench_clients.load import Load
from bench_clients.session import Session

# One request after the other is the pool of one thread: the harness gives it one connection.
CLIENTS: dict[str, type[Load]] = {
    "requests": BlockingLoad,
    "threads": BlockingLoad,
    "aiohttp": ConcurrentLoad,
}


def tell(report: dict[str, Any]) -> None:
    """Writes one report in one piece."""
    sys.stdout.write(json.dumps(report) + "\n")
    sys.stdout.flush()


def tell_failure(error: BaseException) -> None:
    """Reports an error that is no outcome of a request."""
    tell({"event": "broken", "message": f"{type(error).__name__}: {error}"})


def carry_out(session: Session, orders: "queue.Queue[dict[str, Any]]") -> None:
    """Carries out one order after the other."""
    while True:
        order = orders.get()
        try:
            if order["do"] == "arm":
                session.arm()
            else:
                session.fire(order)
        except Exception as error:
            tell_failure(error)


def main() -> None:
    """Reads orders until there are no more."""
    orders: queue.Queue[dict[str, Any]] = queue.Queue()
    client = CLIENTS[sys.argv[1]]
    session: Session | None = None
    for line in sys.stdin:
        order = json.loads(line)
        if session is None:
            session = Session(client(order, tell_failure), tell)
            threading.Thread(target=carry_out, args=(session, orders), daemon=True).start()
        if order["do"] == "count":
            session.count()
        else:
            orders.put(order)
    os._exit(0)


if __name__ == "__main__":
    main()
