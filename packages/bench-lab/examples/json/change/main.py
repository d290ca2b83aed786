from datetime import date

import orjson
from fastapi import FastAPI, Response

app = FastAPI()
ORDERS = [
    {"id": number, "placed": date(2026, 1, 1 + number % 28), "lines": [{"sku": f"S{k}", "count": k} for k in range(5)]}
    for number in range(100)
]


@app.get("/orders")
async def orders():
    return Response(orjson.dumps(ORDERS), media_type="application/json")
