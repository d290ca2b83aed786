from flask import Flask

app = Flask(__name__)


@app.get("/items")
def items():
    return [{"id": number, "name": f"item {number}"} for number in range(50)]
