"""Run the sampling profiler of Python 3.15 with whole file names and lines in its collapsed stacks.

It is run by the interpreter of the server, in a process of its own: the profiler reads only its own version.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Protocol

from profiling.sampling import cli, stack_collector  # type: ignore[import-not-found]


class _Collector(Protocol):
    stack_counter: Counter[tuple[tuple[tuple[str, object, str], ...], int]]


def export(self: _Collector, filename: str) -> bool:
    """Write one line for each stack: the functions with their files and lines, and the number of samples."""
    stacks: Counter[str] = Counter()
    for (frames, _thread), count in self.stack_counter.items():
        stacks[";".join(f"{name} ({file}:{line})" for file, line, name in frames)] += count
    Path(filename).write_text(
        "".join(f"{stack} {count}\n" for stack, count in stacks.items()), encoding="utf-8"
    )
    return True


stack_collector.CollapsedStackCollector.export = export
sys.stderr.write("ready\n")
sys.stderr.flush()
cli.main()
