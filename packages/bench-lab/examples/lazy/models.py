from pydantic import BaseModel, ConfigDict
from sqlalchemy import ForeignKey, StaticPool, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "author"
    id: Mapped[int] = mapped_column(primary_key=True)
    books: Mapped[list["Book"]] = relationship()


class Book(Base):
    __tablename__ = "book"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    author_id: Mapped[int] = mapped_column(ForeignKey("author.id"))


class Titled(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    title: str


class Shelf(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    books: list[Titled]


engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
Base.metadata.create_all(engine)
with Session(engine) as session:
    session.add_all(Author(books=[Book(title=f"book {n}.{k}") for k in range(3)]) for n in range(20))
    session.commit()
