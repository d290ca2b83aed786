"""Probes the core that it is pinned to. Each line on stdin names a part, and is answered by an empty line.

- `interpreter`: a loop in the interpreter
- `sockets`: small writes and reads on a socket pair
"""

import socket
import sys

STEPS = 25_000
MESSAGES = 300
MESSAGE = b"x" * 200


def loop() -> None:
    """Runs the interpreter for about 1 ms."""
    total = 0
    for step in range(STEPS):
        total += step & 7


def main() -> None:
    """Runs the named parts until stdin ends."""
    near, far = socket.socketpair()
    for part in sys.stdin:
        if part.strip() == "interpreter":
            loop()
        else:
            for _ in range(MESSAGES):
                near.send(MESSAGE)
                far.recv(4096)
        sys.stdout.write("\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
