"""The command-line settings of a stack."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from bench_contract.devices import DevicesError, load_devices
from bench_contract.gather import FixturesError, load_urls

BACKLOG = 16_384
"""The length of the accept queue: more than the highest rung. The kernel may allow fewer."""

KEEP_ALIVE_SECONDS = 75
"""An idle connection stays open: a saturated server must not take a slow round for an idle client."""

STOP_SECONDS = 2
"""The time that a stopping server waits for requests in progress."""

HEALTH_SECONDS = 30
"""The time for which a worker under load may ignore its supervisor before it is replaced."""


@dataclass(frozen=True)
class Settings:
    """The address of a server, its processes and threads, and its variant of the stack.

    Without `threads`, the variant has as many as its documentation recommends.
    """

    host: str
    port: int
    workers: int
    threads: int | None
    variant: str
    backlog: int


def read_settings(
    program: str,
    variants: Sequence[str],
    argv: Sequence[str] | None = None,
    *,
    threaded: Sequence[str] = (),
) -> Settings:
    """Parse the command line (`sys.argv` by default); the first variant is the default.

    Only `threaded` variants accept a number of threads.

    Golden data that cannot be read ends here too, with one line, not with a traceback in every worker, and so
    does a list of fixtures.
    """
    parser = argparse.ArgumentParser(prog=program, description="Serve the workloads of this stack.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=port, default=8080)
    parser.add_argument("--workers", type=positive, default=1, help="processes (default: 1)")
    parser.add_argument("--threads", type=positive, help="of each process (default: the variant's own)")
    parser.add_argument("--variant", choices=variants, default=variants[0], help=f"default: {variants[0]}")
    parser.add_argument("--backlog", type=positive, default=BACKLOG, help=f"default: {BACKLOG}")
    settings = Settings(**vars(parser.parse_args(argv)))
    if settings.threads is not None and settings.variant not in threaded:
        parser.error(f"{settings.variant} takes no --threads; those that do: {', '.join(threaded) or 'none'}")
    try:
        load_devices()
        load_urls()
    except (DevicesError, FixturesError) as error:
        parser.error(str(error))
    return settings


def positive(text: str) -> int:
    """Parse a whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def port(text: str) -> int:
    """Parse a TCP port."""
    number = positive(text)
    if number > 65_535:
        raise argparse.ArgumentTypeError(f"{number} is not a port: 1 to 65535")
    return number
