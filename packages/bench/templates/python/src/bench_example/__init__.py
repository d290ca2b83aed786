"""What the workloads ask, answered by example."""
