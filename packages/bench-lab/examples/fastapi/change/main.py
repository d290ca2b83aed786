from fastapi import FastAPI
from pydantic import BaseModel

ORDERS = [{"id": n, "customer": f"c{n % 97}", "lines": [{"sku": f"s{k}", "count": k + 1} for k in range(3)]} for n in range(500)]

app = FastAPI()


class Line(BaseModel):
    sku: str
    count: int


class Order(BaseModel):
    id: int
    customer: str
    lines: list[Line]


@app.get("/orders")
def orders(limit: int = 20) -> list[Order]:
    return ORDERS[:limit]


@app.get("/health")
def health() -> dict[str, str]:
    return {"status": "up"}
