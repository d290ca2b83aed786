"""`POST /customers`, `/products` and `/orders`: each hands a callback to a method that all of them share."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from fastapi import FastAPI
from pydantic import BaseModel

from bench_contract.repository import Repository


class Customer(BaseModel):
    """One who buys."""

    id: str
    name: str
    email: str


class Product(BaseModel):
    """What is sold."""

    id: str
    title: str
    cents: int


class Order(BaseModel):
    """Who buys what."""

    id: str
    customer: int
    product: int
    quantity: int


Body = TypeVar("Body", Customer, Product, Order)


class Saved(BaseModel, Generic[Body]):
    """What was saved, and as what."""

    saved: str
    data: Body


async def execute(saved: str, body: Body, callback: Callable[[Body], Awaitable[None]]) -> Saved[Body]:
    """Let the callback work at the body."""
    await callback(body)
    return Saved(saved=saved, data=body)


def execute_in_thread(saved: str, body: Body, callback: Callable[[Body], None]) -> Saved[Body]:
    """Let the callback work at the body, in this thread."""
    callback(body)
    return Saved(saved=saved, data=body)


def route_coroutines(app: FastAPI) -> None:
    """Wait in the event loop."""
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
    """Wait in the thread pool."""
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
