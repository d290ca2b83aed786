"""The limit of open files: each connection needs one."""

import contextlib

FILES = 65_536
"""The limit of open files to request."""


def lift_file_limit() -> None:
    """Raise the soft limit of open files towards the hard one: the usual 1024 is below the highest rungs."""
    try:
        import resource
    except ImportError:  # not a Unix
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
