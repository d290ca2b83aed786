"""`POST /customers`, `/products` and `/orders`: each hands a callback to a method that all of them share."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from flask import Flask, abort, request
from flask.typing import ResponseReturnValue

from bench_contract.repository import Repository

Body = dict[str, Any]
Callback = Callable[[Body], None]
Execute = Callable[[Body, Callback], Body]
"""The shared method: lets the callback work at a body, and gives the body that was worked at."""

CUSTOMER = {"id": str, "name": str, "email": str}
PRODUCT = {"id": str, "title": str, "cents": int}
ORDER = {"id": str, "customer": int, "product": int, "quantity": int}


class Service:
    """Works at one request: its state is its own."""

    def __init__(self, body: Body) -> None:
        self.body = body

    def execute(self, callback: Callback) -> Body:
        """Let the callback work at the body."""
        callback(self.body)
        return self.body


def execute_by_instance(body: Body, callback: Callback) -> Body:
    """Work at a request by an instance of its own."""
    return Service(body).execute(callback)


current: Body = {}
"""The body that is worked at: of the request that came last, whoever else is still at it."""


def execute_by_global(body: Body, callback: Callback) -> Body:
    """Work at a request by what the module has in common: right as long as there is one at a time."""
    global current
    current = body
    callback(current)
    return current


def route_repository(app: Flask, execute: Execute) -> None:
    """Answer with what was sent once the repository is done with it; 400 for a bad body."""
    repository = Repository(time.sleep)

    def save_customer(body: Body) -> None:
        repository.save_customer(body["id"], body["name"], body["email"])

    def save_product(body: Body) -> None:
        repository.save_product(body["id"], body["title"], body["cents"])

    def save_order(body: Body) -> None:
        repository.save_order(body["id"], body["customer"], body["product"], body["quantity"])

    @app.post("/customers")
    def customers() -> ResponseReturnValue:
        return {"saved": "customer", "data": execute(read(CUSTOMER), save_customer)}

    @app.post("/products")
    def products() -> ResponseReturnValue:
        return {"saved": "product", "data": execute(read(PRODUCT), save_product)}

    @app.post("/orders")
    def orders() -> ResponseReturnValue:
        return {"saved": "order", "data": execute(read(ORDER), save_order)}


def read(fields: Mapping[str, type]) -> Body:
    """Give the JSON body of this request; one that has not just these fields, of these types, is a 400."""
    body = request.get_json()
    if not isinstance(body, dict) or body.keys() != fields.keys():
        abort(400, f"wanted an object of {', '.join(fields)}")
    for name, kind in fields.items():
        if type(body[name]) is not kind:
            abort(400, f"{name} is not of type {kind.__name__}")
    return body
