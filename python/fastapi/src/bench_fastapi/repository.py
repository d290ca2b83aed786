"""`POST /customers`, `/products` and `/orders`: each passes a callback to a shared method."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from fastapi import FastAPI
from pydantic import BaseModel

from bench_contract.repository import Repository


class Customer(BaseModel):
    """A customer."""

    id: str
    name: str
    email: str


class Product(BaseModel):
    """A product for sale."""

    id: str
    title: str
    cents: int


class Order(BaseModel):
    """An order: a customer, a product and a quantity."""

    id: str
    customer: int
    product: int
    quantity: int


Body = TypeVar("Body", Customer, Product, Order)


class Saved(BaseModel, Generic[Body]):
    """The saved body, and its kind."""

    saved: str
    data: Body


async def execute(saved: str, body: Body, callback: Callable[[Body], Awaitable[None]]) -> Saved[Body]:
    """Run the callback on the body."""
    await callback(body)
    return Saved(saved=saved, data=body)


def execute_in_thread(saved: str, body: Body, callback: Callable[[Body], None]) -> Saved[Body]:
    """Run the callback on the body, in this thread."""
    callback(body)
    return Saved(saved=saved, data=body)


def route_coroutines(app: FastAPI) -> None:
    """Add routes that wait in the event loop."""
    repository = Repository(asyncio.sleep)

    @app.post("/customers")
    async def customers(body: Customer) -> Saved[Customer]:
        return await execute(
            "customer", body, lambda one: repository.save_customer(one.id, one.name, one.email)
        )

    @app.post("/products")
    async def products(body: Product) -> Saved[Product]:
        return await execute(
            "product", body, lambda one: repository.save_product(one.id, one.title, one.cents)
        )

    @app.post("/orders")
    async def orders(body: Order) -> Saved[Order]:
        return await execute(
            "order",
            body,
            lambda one: repository.save_order(one.id, one.customer, one.product, one.quantity),
        )


def route_threads(app: FastAPI) -> None:
    """Add routes that wait in the thread pool."""
    repository = Repository(time.sleep)

    @app.post("/customers")
    def customers(body: Customer) -> Saved[Customer]:
        return execute_in_thread(
            "customer", body, lambda one: repository.save_customer(one.id, one.name, one.email)
        )

    @app.post("/products")
    def products(body: Product) -> Saved[Product]:
        return execute_in_thread(
            "product", body, lambda one: repository.save_product(one.id, one.title, one.cents)
        )

    @app.post("/orders")
    def orders(body: Order) -> Saved[Order]:
        return execute_in_thread(
            "order",
            body,
            lambda one: repository.save_order(one.id, one.customer, one.product, one.quantity),
        )
