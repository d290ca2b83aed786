"""`GET /users` and `POST /users` by FastAPI and SQLAlchemy, in threads or in the event loop."""
