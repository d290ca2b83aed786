"""The workloads by Starlette."""
