"""What the workloads ask, answered by Litestar."""
