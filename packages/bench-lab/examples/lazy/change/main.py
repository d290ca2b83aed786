from fastapi import FastAPI
from models import Author, Shelf, engine
from sqlalchemy import select
from sqlalchemy.orm import Session

app = FastAPI()


@app.get("/authors")
async def authors() -> list[Shelf]:
    with Session(engine) as session:
        rows = session.scalars(select(Author).order_by(Author.id))
        return [Shelf.model_validate(row) for row in rows]
