from flask import Flask

ROUTES = [{"id": n, "stops": [f"stop {k}" for k in range(n % 5)]} for n in range(60)]

app = Flask(__name__)


@app.get("/routes")
def routes():
    return ROUTES
