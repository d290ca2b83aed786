from geo import distance_km
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

CITIES = {f"city {n}": (40 + n / 4, 2 + n / 3) for n in range(30)}


async def distances(request):
    start = CITIES["city 0"]
    return JSONResponse({name: distance_km(start, place) for name, place in CITIES.items()})


app = Starlette(routes=[Route("/distances", distances)])
