"""The workloads, served by example."""
