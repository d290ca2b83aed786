"""The gateway: speaks JSON lines to the command that started it, and Ray to the agents on other hosts.

An order with an id gets one answer with that id: a result or an error. Everything else is an event.
"""

import asyncio
import json
import math
import os
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TextIO

import ray
from ray.actor import ActorHandle
from ray.exceptions import ActorUnavailableError, RayActorError, RayError
from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from bench_cluster import agent, facts

#: A measurement is never started again by itself.
ONCE = {"num_cpus": 0, "max_restarts": 0, "max_task_retries": 0, "max_concurrency": 100}
LONGEST_REASON = 300


class OrderError(Exception):
    """An order that cannot be carried out, in words for the user."""


class Gateway:
    """The agents of one cluster, as one command uses them."""

    def __init__(self, out: TextIO) -> None:
        """Write answers and events to this stream."""
        self._out = out
        self._group: PlacementGroup | None = None
        self._agents: dict[int, ActorHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._placed = 0
        self._orders: dict[str, Callable[[dict[str, Any]], Awaitable[object]]] = {
            "nodes": self._nodes,
            "place": self._place,
            "describe": self._describe,
            "clock": self._clock,
            "start": self._start,
            "tell": self._tell,
            "end": self._end,
            "release": self._release,
        }

    async def serve(self, orders: asyncio.StreamReader) -> None:
        """Carry out orders until there are no more."""
        while line := await orders.readline():
            self._spawn(self._carry_out(json.loads(line)))
        await self._release({})

    async def _carry_out(self, order: dict[str, Any]) -> None:
        answer: dict[str, Any]
        try:
            answer = {"result": await self._orders[order["do"]](order)}
        except OrderError as error:
            answer = {"error": str(error)}
        except RayActorError as error:
            # The order may fail before the agent is known to be lost.
            answer = {"error": f"its host was lost: {reason_of(error)}"}
        except RayError as error:
            answer = {"error": reason_of(error)}
        if "id" in order:
            self.write({"id": order["id"], **answer})

    def write(self, message: dict[str, Any]) -> None:
        """Write one line."""
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _nodes(self, _order: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {
                "node": node["NodeID"],
                "address": node["NodeManagerAddress"],
                "hostname": node["NodeManagerHostname"],
                "resources": sorted(node["Resources"]),
                "alive": node["Alive"],
            }
            for node in await asyncio.to_thread(ray.nodes)
        ]

    async def _place(self, order: dict[str, Any]) -> list[dict[str, Any]]:
        """Place one agent per role, each on another host: all of them or none."""
        await self._release({})
        roles: list[str] = order["roles"]
        group = placement_group([{role: 1} for role in roles], strategy="STRICT_SPREAD")
        self._group = group
        # ready() would start a worker to find out.
        if not await asyncio.to_thread(group.wait, math.ceil(order["seconds"])):
            await self._release({})
            raise OrderError(self._missing(roles))
        actor = ray.remote(**ONCE)(agent.Agent)
        placed = []
        for index, role in enumerate(roles):
            strategy = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=index)
            name = self._placed = self._placed + 1
            self._agents[name] = actor.options(resources={role: 1}, scheduling_strategy=strategy).remote()
            self._spawn(self._watch(name))
            placed.append((name, role))
        nodes = await asyncio.gather(*(self._agents[name].read_node.remote() for name, _ in placed))
        return [
            {"agent": name, "role": role, "node": node}
            for (name, role), node in zip(placed, nodes, strict=True)
        ]

    def _missing(self, roles: list[str]) -> str:
        alive = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        counts = {role: sum(role in resources for resources in alive) for role in roles}
        if all(count >= roles.count(role) for role, count in counts.items()):
            return "hosts of the cluster are taken by another run, or one host alone offers several roles"
        told = [
            f"{count} of {roles.count(role)} hosts with the role {role}" for role, count in counts.items()
        ]
        return f"the cluster has {' and '.join(told)}"

    async def _watch(self, name: int) -> None:
        """Pass on the events of an agent until it is lost."""
        handle = self._agents[name]
        try:
            while name in self._agents:
                for event in await handle.events.remote():
                    self.write({"agent": name, **event})
        except RayError as error:
            if self._agents.pop(name, None) is not None:
                self.write({"agent": name, "event": "lost", "why": reason_of(error)})

    def _agent(self, order: dict[str, Any]) -> ActorHandle:
        found = self._agents.get(order["agent"])
        if found is None:
            raise OrderError("its host was lost")
        return found

    async def _describe(self, order: dict[str, Any]) -> object:
        asked = order["checkout"], order["nodes"], order["version"]
        if order.get("agent") is not None:
            return await self._agent(order).describe.remote(*asked)
        return await agent.Agent().describe(*asked)

    async def _clock(self, order: dict[str, Any]) -> list[dict[str, float]]:
        handle = self._agent(order)
        trips = []
        for _ in range(order["trips"]):
            sent = time.time() * 1000
            read = await handle.read_clock.remote()
            trips.append({"sentMs": sent, "readMs": read, "returnedMs": time.time() * 1000})
        return trips

    async def _start(self, order: dict[str, Any]) -> None:
        await self._agent(order).start.remote(order["process"], order["argv"], order["cwd"])

    async def _tell(self, order: dict[str, Any]) -> None:
        await self._agent(order).tell.remote(order["process"], order["line"], order.get("notAfterMs"))

    async def _end(self, order: dict[str, Any]) -> None:
        await self._agent(order).end.remote(order["process"])

    async def _release(self, _order: dict[str, Any]) -> None:
        """End all agents, and with them their processes."""
        agents, self._agents = self._agents, {}
        for handle in agents.values():
            ray.kill(handle, no_restart=True)
        group, self._group = self._group, None
        if group is not None:
            remove_placement_group(group)


def reason_of(error: Exception) -> str:
    """Return the first sentence of Ray that gives the cause, without the names of its internals."""
    if isinstance(error, ActorUnavailableError):
        return "it does not answer"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if "because" in line] or lines or [type(error).__name__]
    return told[0].partition(" Node Id:")[0].rstrip(".")[:LONGEST_REASON]


async def _serve(out: TextIO) -> None:
    reader = asyncio.StreamReader(limit=agent.LONGEST_LINE)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await Gateway(out).serve(reader)


def run(address: str) -> int:
    """Join a cluster, carry out the orders on stdin, and leave. Return the exit code."""
    # The output of Ray must not mix with the answers.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # The code of the agent travels with it: no host needs this package installed.
    for module in (agent, facts):
        ray.cloudpickle.register_pickle_by_value(module)
    try:
        ray.init(address=address, namespace="bench", log_to_driver=False, logging_level="ERROR")
    except (RayError, ConnectionError, RuntimeError, ValueError) as error:
        out.write(json.dumps({"event": "refused", "why": reason_of(error)}) + "\n")
        out.flush()
        return 1
    out.write(json.dumps({"event": "joined", "ray": ray.__version__}) + "\n")
    out.flush()
    try:
        asyncio.run(_serve(out))
    finally:
        ray.shutdown()
    return 0
