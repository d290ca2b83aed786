"""`POST /customers`, `/products` and `/orders`: each passes a callback to a shared method."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from flask import Flask, abort, request
from flask.typing import ResponseReturnValue

from bench_contract.repository import Repository

Body = dict[str, Any]
Callback = Callable[[Body], None]
Execute = Callable[[Body, Callback], Body]
"""The shared method: runs the callback on a body, and returns the body that was used."""

CUSTOMER = {"id": str, "name": str, "email": str}
PRODUCT = {"id": str, "title": str, "cents": int}
ORDER = {"id": str, "customer": int, "product": int, "quantity": int}


class Service:
    """Handles one request with separate state."""

    def __init__(self, body: Body) -> None:
        self.body = body

    def execute(self, callback: Callback) -> Body:
        """Run the callback on the body."""
        callback(self.body)
        return self.body


def execute_by_instance(body: Body, callback: Callback) -> Body:
    """Handle a request by a new instance."""
    return Service(body).execute(callback)


current: Body = {}
"""The current body: that of the last request, even while earlier ones are still in progress."""


def execute_by_global(body: Body, callback: Callback) -> Body:
    """Handle a request by the global of the module: correct only for one request at a time."""
    global current
    current = body
    callback(current)
    return current


def route_repository(app: Flask, execute: Execute) -> None:
    """Add routes that answer with the body once it is saved; 400 for a bad body."""
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
    """Return the JSON body of this request; answer 400 if its fields or their types differ from these."""
    body = request.get_json()
    if not isinstance(body, dict) or body.keys() != fields.keys():
        abort(400, f"wanted an object of {', '.join(fields)}")
    for name, kind in fields.items():
        if type(body[name]) is not kind:
            abort(400, f"{name} is not of type {kind.__name__}")
    return body
