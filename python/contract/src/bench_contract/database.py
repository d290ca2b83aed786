"""The database of the table `users`, and the connection pool that a server may open to it."""

import os
from dataclasses import dataclass
from typing import final


class DatabaseUnsetError(Exception):
    """`DATABASE_URL` is not set, so there is no database."""

    def __init__(self) -> None:
        super().__init__("DATABASE_URL is not set")


@final
@dataclass(frozen=True)
class Database:
    """A database address, and the size of the connection pool."""

    url: str
    pool: int
    overflow: int
    timeout_seconds: int


def load_database() -> Database | None:
    """Return the database of the environment, or None if it names none. The pool defaults to SQLAlchemy's."""
    url = os.environ.get("DATABASE_URL")
    if not url:
        return None
    return Database(
        url=url,
        pool=int(os.environ.get("BENCH_POOL_SIZE", "5")),
        overflow=int(os.environ.get("BENCH_POOL_OVERFLOW", "10")),
        timeout_seconds=int(os.environ.get("BENCH_POOL_TIMEOUT", "30")),
    )
