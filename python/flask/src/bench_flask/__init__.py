"""The workloads by Flask."""
