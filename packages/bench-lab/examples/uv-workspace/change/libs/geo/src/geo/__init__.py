from decimal import Decimal
from math import asin, cos, radians, sin, sqrt


def distance_km(a: tuple[float, float], b: tuple[float, float]) -> float:
    (lat1, lon1), (lat2, lon2) = a, b
    dy, dx = radians(lat2 - lat1), radians(lon2 - lon1)
    h = sin(dy / 2) ** 2 + cos(radians(lat1)) * cos(radians(lat2)) * sin(dx / 2) ** 2
    return float(round(Decimal(12742 * asin(sqrt(h))), 3))
