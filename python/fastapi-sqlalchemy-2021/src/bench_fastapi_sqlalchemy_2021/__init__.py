"""`GET` and `POST /users` by FastAPI and SQLAlchemy as they were in the middle of 2021."""
