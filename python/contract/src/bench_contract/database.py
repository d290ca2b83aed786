"""Where the table `users` is, and how many connections a server may open to it."""

import os
from dataclasses import dataclass
from typing import final


class DatabaseUnsetError(Exception):
    """`DATABASE_URL` is not set: there is nobody to ask."""

    def __init__(self) -> None:
        super().__init__("DATABASE_URL is not set")


@final
@dataclass(frozen=True)
class Database:
    """A database by its address, and the pool of connections to it."""

    url: str
    pool: int
    overflow: int
    timeout_seconds: int


def load_database() -> Database | None:
    """Give what the environment says, or None where it names none; SQLAlchemy's own pool unless told."""
    url = os.environ.get("DATABASE_URL")
    if not url:
        return None
    return Database(
        url=url,
        pool=int(os.environ.get("BENCH_POOL_SIZE", "5")),
        overflow=int(os.environ.get("BENCH_POOL_OVERFLOW", "10")),
        timeout_seconds=int(os.environ.get("BENCH_POOL_TIMEOUT", "30")),
    )
