import asyncio
import os
from contextlib import asynccontextmanager

import aiohttp
from fastapi import FastAPI

URL = os.environ["DOCUMENTS_URL"]


@asynccontextmanager
async def lifespan(app: FastAPI):
    async with aiohttp.ClientSession() as app.state.client:
        yield


app = FastAPI(lifespan=lifespan)


async def fetch(number: int) -> int:
    async with app.state.client.get(f"{URL}/{number}") as response:
        return len((await response.json())["text"])


@app.get("/sizes")
async def sizes() -> list[int]:
    return await asyncio.gather(*(fetch(number) for number in range(10)))
