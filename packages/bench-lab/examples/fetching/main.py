import asyncio
import os
from contextlib import asynccontextmanager

import httpx
from fastapi import FastAPI

URL = os.environ["DOCUMENTS_URL"]


@asynccontextmanager
async def lifespan(app: FastAPI):
    async with httpx.AsyncClient() as app.state.client:
        yield


app = FastAPI(lifespan=lifespan)


async def fetch(number: int) -> int:
    response = await app.state.client.get(f"{URL}/{number}")
    return len(response.json()["text"])


@app.get("/sizes")
async def sizes() -> list[int]:
    return await asyncio.gather(*(fetch(number) for number in range(10)))
