from fastapi import FastAPI, Request

app = FastAPI()


@app.middleware("http")
async def pass_through(request: Request, call_next):
    return await call_next(request)


@app.get("/ping")
async def ping():
    return {"ok": True}
