"""The variant `async`: coroutines in the event loop."""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated

from fastapi import Depends
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

from bench_contract.database import DatabaseUnsetError
from bench_fastapi_sqlalchemy.users import PATH, NewUser, PublicUser, User, make_app, make_engine

engine = make_engine(create_async_engine, "asyncpg")
app = make_app()


async def open_session() -> AsyncIterator[AsyncSession]:
    """Give a request its session, and end it after the answer."""
    if engine is None:
        raise DatabaseUnsetError
    # Without reading the row again: its id came with the insert.
    async with AsyncSession(engine, expire_on_commit=False) as session:
        yield session


@app.get(PATH, response_model=list[PublicUser])
async def users(session: Annotated[AsyncSession, Depends(open_session)]) -> Sequence[User]:
    """Read the table."""
    return (await session.scalars(select(User).order_by(User.id))).all()


@app.post(PATH, response_model=PublicUser, status_code=201)
async def insert(new: NewUser, session: Annotated[AsyncSession, Depends(open_session)]) -> User:
    """Store a row, and answer when it is stored."""
    user = User(name=new.name, email=new.email)
    session.add(user)
    await session.commit()
    return user
