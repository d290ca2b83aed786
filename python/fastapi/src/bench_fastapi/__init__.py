"""What the workloads ask, answered by FastAPI."""
