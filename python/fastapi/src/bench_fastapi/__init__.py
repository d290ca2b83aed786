"""`GET /api/devices` and `GET /data` by FastAPI."""
