"""Load from several hosts: Ray starts an agent on each, and agents start generator processes."""
