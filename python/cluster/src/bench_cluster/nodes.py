"""Nodes of a Ray cluster on this host: several to try it, or one of a real cluster."""

import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

#: A host whose link is cut is noticed after about 7 s instead of 66 s. Generators and servers have the
#: priority of a command that a user types; Ray would start them with a niceness of 15.
SETTINGS = {
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "2",
    "RAY_worker_niceness": "0",
}
#: An agent needs nothing of it.
STORE_BYTES = 80 * 1024 * 1024
#: Agents ask for none. Ray keeps an idle worker for each.
CPUS = 0


def run_local(count: int, *, attended: bool) -> int:
    """Run several nodes until SIGTERM: the first one is the server's.

    If attended, they end with stdin, and a line removes a node as a power cut does: {"remove": 2}.
    """
    os.environ.update(SETTINGS)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    from ray.cluster_utils import Cluster  # Reads the settings of health checks.

    common: dict[str, Any] = {
        "num_cpus": CPUS,
        "object_store_memory": STORE_BYTES,
        "include_dashboard": False,
        # Agents print nothing that Ray has to forward, and no cluster grows by itself.
        "include_log_monitor": False,
        "no_monitor": True,
    }
    cluster = Cluster(initialize_head=True, head_node_args={**common, "resources": {"server": 1}})
    nodes = [cluster.head_node]
    nodes += [cluster.add_node(**common, resources={"generator": 1}) for _ in range(count - 1)]
    over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    signal.signal(signal.SIGINT, lambda *_: over.set())
    out.write(json.dumps({"event": "up", "address": cluster.address, "nodes": count}) + "\n")
    out.flush()

    def obey() -> None:
        for line in sys.stdin:
            index = json.loads(line)["remove"]
            cluster.remove_node(nodes[index], allow_graceful=False)
            out.write(json.dumps({"event": "removed", "node": index}) + "\n")
            out.flush()
        over.set()

    if attended:
        threading.Thread(target=obey, daemon=True).start()
    while not over.wait(1):
        pass
    cluster.shutdown()
    return 0


def run_node(role: str, address: str | None, own: str | None) -> int:
    """Run one node with a role until SIGTERM: the head of a new cluster, or a member of another one."""
    place = (
        ["--head", "--port", "6379", "--include-dashboard", "false", "--no-monitor"]
        if address is None
        else ["--address", address]
    )
    argv = [
        *[sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *place],
        *["--resources", json.dumps({role: 1}), "--object-store-memory", str(STORE_BYTES)],
        *["--num-cpus", str(CPUS), "--disable-usage-stats", "--include-log-monitor", "false"],
        *([] if own is None else ["--node-ip-address", own]),
    ]
    child = subprocess.Popen(argv, env={**os.environ, **SETTINGS})  # noqa: S603 - Ray of this environment
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    signal.signal(signal.SIGINT, lambda *_: child.terminate())
    return child.wait()
