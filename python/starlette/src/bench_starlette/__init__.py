"""What the workloads ask, answered by Starlette."""
