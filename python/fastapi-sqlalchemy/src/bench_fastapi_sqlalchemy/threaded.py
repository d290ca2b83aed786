"""The variant `sync`: plain functions, which FastAPI runs in threads."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from fastapi import Depends
from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session

from bench_contract.database import DatabaseUnsetError
from bench_fastapi_sqlalchemy.users import PATH, NewUser, PublicUser, User, make_app, make_engine

engine = make_engine(create_engine, "psycopg")
app = make_app()


def open_session() -> Iterator[Session]:
    """Give a request its session, and end it after the answer."""
    if engine is None:
        raise DatabaseUnsetError
    # Without reading the row again: its id came with the insert.
    with Session(engine, expire_on_commit=False) as session:
        yield session


@app.get(PATH, response_model=list[PublicUser])
def users(session: Annotated[Session, Depends(open_session)]) -> Sequence[User]:
    """Read the table."""
    return session.scalars(select(User).order_by(User.id)).all()


@app.post(PATH, response_model=PublicUser, status_code=201)
def insert(new: NewUser, session: Annotated[Session, Depends(open_session)]) -> User:
    """Store a row, and answer when it is stored."""
    user = User(name=new.name, email=new.email)
    session.add(user)
    session.commit()
    return user
