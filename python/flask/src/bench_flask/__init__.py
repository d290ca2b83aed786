"""What the workloads ask, answered by Flask."""
