"""`GET /api/devices` by FastAPI."""
