"""`GET /api/devices` by Litestar."""
