"""The code that the Python stacks share: settings, golden data, the work of workloads, attestation."""
