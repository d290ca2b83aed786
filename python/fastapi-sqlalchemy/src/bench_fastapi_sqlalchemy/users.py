"""What both ways share: the table, what goes over the wire, and the app before it has routes."""

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column

from bench_contract.database import DatabaseUnsetError

PATH = "/users"


class Base(MappedAsDataclass, DeclarativeBase):
    """What tables are declared by."""


class User(Base):
    """One row of the table, which the harness makes."""

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(init=False, primary_key=True)
    name: Mapped[str]
    email: Mapped[str]


class NewUser(BaseModel):
    """What a client sends."""

    name: str
    email: str


class PublicUser(NewUser):
    """What a client gets to see."""

    model_config = ConfigDict(from_attributes=True)

    id: int


async def answer_unset(_request: Request, error: Exception) -> JSONResponse:
    """Answer that there is no database to ask."""
    return JSONResponse({"error": str(error)}, 503)


def make_app() -> FastAPI:
    """Make an app that has no route yet."""
    return FastAPI(exception_handlers={DatabaseUnsetError: answer_unset})
