"""The code that both variants share: the table, the bodies, and the app without routes."""

from collections.abc import Callable
from typing import TypeVar

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from sqlalchemy import make_url
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column

from bench_contract.database import DatabaseUnsetError, load_database

PATH = "/users"

E = TypeVar("E")


class Base(MappedAsDataclass, DeclarativeBase):
    """The base of the tables."""


class User(Base):
    """One row of the table, which the harness creates."""

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(init=False, primary_key=True)
    name: Mapped[str]
    email: Mapped[str]


class NewUser(BaseModel):
    """A user, as clients send it."""

    name: str
    email: str


class PublicUser(NewUser):
    """A user, as clients see it."""

    model_config = ConfigDict(from_attributes=True)

    id: int


async def answer_unset(_request: Request, error: Exception) -> JSONResponse:
    """Answer that there is no database."""
    return JSONResponse({"error": str(error)}, 503)


def make_app() -> FastAPI:
    """Make an app without routes."""
    return FastAPI(exception_handlers={DatabaseUnsetError: answer_unset})


def make_engine(create: Callable[..., E], driver: str) -> E | None:
    """Make an engine with this driver and the pool of the settings; None without a database."""
    database = load_database()
    if database is None:
        return None
    return create(
        make_url(database.url).set(drivername=f"postgresql+{driver}"),
        pool_size=database.pool,
        max_overflow=database.overflow,
        pool_timeout=database.timeout_seconds,
    )
