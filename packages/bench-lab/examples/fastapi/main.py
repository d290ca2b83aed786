from fastapi import FastAPI

ORDERS = [{"id": n, "customer": f"c{n % 97}", "lines": [{"sku": f"s{k}", "count": k + 1} for k in range(3)]} for n in range(500)]

app = FastAPI()


@app.get("/orders")
def orders(limit: int = 20) -> list[dict]:
    return ORDERS[:limit]


@app.get("/health")
def health() -> dict[str, str]:
    return {"status": "up"}
