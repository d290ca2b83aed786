from typing import List, Optional

from fastapi import FastAPI
from pydantic import BaseModel

app = FastAPI()


class Part(BaseModel):
    name: str


def add(number: int, inner: type) -> type:
    fields = {"name": str, "size": Optional[int], "inner": Optional[inner], "more": List[inner]}
    defaults = {"size": None, "inner": None, "more": []}
    model = type(f"Part{number}", (BaseModel,), {"__annotations__": fields, "__module__": __name__, **defaults})

    @app.get(f"/part{number}", response_model=model)
    def read():
        return {"name": f"part {number}"}

    @app.post(f"/part{number}", response_model=model)
    def save(part: model):
        return part

    return model


last: type = Part
for number in range(60):
    last = add(number, last if number % 4 else Part)
