from flask import Flask, json

ROUTES = [{"id": n, "stops": [f"stop {k}" for k in range(n % 5)]} for n in range(60)]

app = Flask(__name__)


@app.get("/routes")
def routes():
    app.logger.debug("answer: %s", json.dumps(ROUTES))
    return ROUTES
