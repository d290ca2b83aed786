"""The app as FastAPI's documentation had it: plain functions, a dependency opens and closes a session."""

from collections.abc import Iterator

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sqlalchemy import Column, Integer, String, create_engine
from sqlalchemy.ext.declarative import declarative_base
from sqlalchemy.orm import Session, sessionmaker

from bench_contract.database import DatabaseUnsetError, load_database

Base = declarative_base()


class User(Base):
    """A row of the table, which the harness creates."""

    __tablename__ = "users"

    id = Column(Integer, primary_key=True)
    name = Column(String)
    email = Column(String)


class UserCreate(BaseModel):
    """A user, as clients send it."""

    name: str
    email: str


class UserRead(UserCreate):
    """A user, as clients see it."""

    id: int

    class Config:
        """Read from the attributes of a row."""

        orm_mode = True


database = load_database()
engine = database and create_engine(
    database.url,
    pool_size=database.pool,
    max_overflow=database.overflow,
    pool_timeout=database.timeout_seconds,
)
SessionLocal = sessionmaker(autocommit=False, autoflush=False, bind=engine)
app = FastAPI()


def get_session() -> Iterator[Session]:
    """Open a session for one request."""
    if database is None:
        raise DatabaseUnsetError
    session = SessionLocal()
    try:
        yield session
    finally:
        session.close()


@app.get("/users", response_model=list[UserRead])
def read_users(session: Session = Depends(get_session)) -> list[User]:  # noqa: B008
    """Return all users."""
    return session.query(User).order_by(User.id).all()


@app.post("/users", response_model=UserRead, status_code=201)
def create_user(user: UserCreate, session: Session = Depends(get_session)) -> User:  # noqa: B008
    """Store a user."""
    created = User(**user.dict())
    session.add(created)
    session.commit()
    session.refresh(created)
    return created


@app.exception_handler(DatabaseUnsetError)
async def answer_unset(_request: Request, error: DatabaseUnsetError) -> JSONResponse:
    """Answer that there is no database."""
    return JSONResponse({"error": str(error)}, 503)
