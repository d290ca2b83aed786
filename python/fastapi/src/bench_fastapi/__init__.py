"""The workloads by FastAPI."""
