"""The app as the documentation writes it, for any server."""

from flask import Flask
from flask.typing import ResponseReturnValue

from bench_contract import work
from bench_contract.devices import load_devices
from bench_flask.service import Execute, execute_by_instance, route_repository

DEVICES = load_devices()


def make_app(execute: Execute = execute_by_instance) -> Flask:
    """Make the app of one worker, with the method that the endpoints of the repository share."""
    app = Flask(__name__)
    route_repository(app, execute)

    @app.get("/api/devices")
    def devices() -> ResponseReturnValue:
        return DEVICES

    @app.get("/fib/<int:n>")
    def fib(n: int) -> ResponseReturnValue:
        worked = work.fib(n)
        return {"fib": worked.value}, worked.headers

    @app.get("/wait")
    def wait() -> ResponseReturnValue:
        worked = work.wait()
        return {"duration": worked.value}, worked.headers

    return app
