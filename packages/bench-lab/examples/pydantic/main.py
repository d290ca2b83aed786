from datetime import datetime

from fastapi import FastAPI
from pydantic import BaseModel


class Product(BaseModel):
    sku: str
    name: str
    price: float
    tags: list[str]


class Line(BaseModel):
    product: Product
    quantity: int


class Address(BaseModel):
    street: str
    city: str
    country: str


class Customer(BaseModel):
    id: int
    email: str
    addresses: list[Address]


class Order(BaseModel):
    id: int
    created: datetime
    customer: Customer
    lines: list[Line]


app = FastAPI()
ORDERS = [
    Order(
        id=n,
        created=datetime(2026, 1, 1 + n % 28),
        customer=Customer(
            id=n,
            email=f"user{n}@example.org",
            addresses=[Address(street=f"Main Street {k}", city="Springfield", country="US") for k in range(2)],
        ),
        lines=[
            Line(product=Product(sku=f"S{k}", name=f"Product {k}", price=k * 1.5, tags=["a", "b", "c"]), quantity=k)
            for k in range(4)
        ],
    )
    for n in range(20)
]


@app.get("/orders", response_model=list[Order])
async def orders():
    return ORDERS


@app.post("/orders", response_model=Order)
async def create(order: Order):
    return order
