"""The workloads by Litestar."""
