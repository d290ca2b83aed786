"""The app as the documentation has it, whichever server runs it."""

from flask import Flask
from flask.typing import ResponseReturnValue

from bench_contract import work
from bench_contract.devices import load_devices

DEVICES = load_devices()


def make_app() -> Flask:
    """Make the app of one worker."""
    app = Flask(__name__)

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
