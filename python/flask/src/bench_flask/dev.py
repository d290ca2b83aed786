"""Flask on its development server: a thread for each request, and each connection is closed."""

import logging
from socket import socket

from werkzeug.serving import make_server

from bench_contract.attest import attest
from bench_contract.settings import Settings
from bench_flask import app as module
from bench_flask.service import execute_by_global, execute_by_instance

EXECUTE = {"dev-global": execute_by_global, "dev-instances": execute_by_instance}


def serve(settings: Settings, sock: socket) -> None:
    """Serve from this process until SystemExit."""
    # It would log each request.
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    app = module.make_app(EXECUTE[settings.variant])
    server = make_server(settings.host, settings.port, app, threaded=True, fd=sock.fileno())
    server.socket.listen(settings.backlog)  # it has listened with its own 128
    attest(module, http="http.server", framework="flask", server="werkzeug", loop="none")
    server.serve_forever()
