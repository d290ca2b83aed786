"""An order service: FastAPI and SQLAlchemy, with a token from a login."""

import os
import secrets
from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, FastAPI, Header, HTTPException, Query
from pydantic import BaseModel
from sqlalchemy import String, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

engine = create_engine(os.environ.get("DATABASE_URL", "sqlite:///orders.db"))
token = secrets.token_hex(16)


class Base(DeclarativeBase):
    """The tables of the service."""


class Order(Base):
    """One row for each order."""

    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    customer: Mapped[str] = mapped_column(String(80))
    cents: Mapped[int]


class Login(BaseModel):
    """The body of a login."""

    user: str
    password: str


class OrderAnswer(BaseModel):
    """An order, as clients see it."""

    id: int
    customer: str
    cents: int


def seed() -> None:
    """Add 200 orders to an empty database."""
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        if session.get(Order, 1) is not None:
            return
        for number in range(1, 201):
            customer = f"customer {number}"
            session.add(Order(id=number, customer=customer, cents=100 * number))
        session.commit()


def open_session() -> Iterator[Session]:
    """Give each request its own session."""
    with Session(engine) as session:
        yield session


def require_token(authorization: Annotated[str, Header()] = "") -> None:
    """Refuse a request without the token of the login."""
    if authorization != f"Bearer {token}":
        raise HTTPException(401, "log in first")


seed()
app = FastAPI(title="Orders")
Database = Annotated[Session, Depends(open_session)]


@app.get("/health")
def check_health() -> dict[str, str]:
    """Say that the service runs."""
    return {"status": "ok"}


@app.post("/login")
def log_in(login: Login) -> dict[str, str]:
    """Exchange the password for a token."""
    if login.password != os.environ.get("ORDERS_PASSWORD", "open sesame"):
        raise HTTPException(401, "wrong password")
    return {"access_token": token}


@app.get("/orders", dependencies=[Depends(require_token)])
def list_orders(session: Database, limit: Annotated[int, Query(le=100)] = 20) -> list[OrderAnswer]:
    """List the first orders."""
    orders = session.scalars(select(Order).order_by(Order.id).limit(limit))
    return [OrderAnswer(id=one.id, customer=one.customer, cents=one.cents) for one in orders]


@app.get("/orders/{number}", dependencies=[Depends(require_token)])
def read_order(number: int, session: Database) -> OrderAnswer:
    """Read one order."""
    order = session.get(Order, number)
    if order is None:
        raise HTTPException(404, "no such order")
    return OrderAnswer(id=order.id, customer=order.customer, cents=order.cents)
