"""Entry point: `gateway ADDRESS`, `local COUNT` or `node ROLE [--join ADDRESS] [--ip ADDRESS]`."""

import argparse
import os
import sys


def main() -> int:
    """Run the command that the arguments name, and return its exit code."""
    parser = argparse.ArgumentParser(prog="bench_cluster")
    parts = parser.add_subparsers(dest="part", required=True)
    parts.add_parser("gateway").add_argument("address")
    local = parts.add_parser("local")
    local.add_argument("count", type=int)
    local.add_argument("--attended", action="store_true")
    node = parts.add_parser("node")
    node.add_argument("role")
    node.add_argument("--join")
    node.add_argument("--ip")
    asked = parser.parse_args()
    # Nothing is sent to the makers of Ray, and clients without the token are refused.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    if asked.part == "gateway":
        from bench_cluster import gateway

        return gateway.run(asked.address)
    from bench_cluster import nodes

    if asked.part == "local":
        return nodes.run_local(asked.count, attended=asked.attended)
    return nodes.run_node(asked.role, asked.join, asked.ip)


if __name__ == "__main__":
    sys.exit(main())
