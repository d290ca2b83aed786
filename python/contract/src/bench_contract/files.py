"""Open files: one per connection."""

import contextlib

FILES = 65_536
"""Open files wanted."""


def lift_file_limit() -> None:
    """Raise the soft limit of open files towards the hard one: the usual 1024 is less than a high rung."""
    try:
        import resource
    except ImportError:  # not a Unix
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
