"""A scheduler that no longer leads, and does not know it, binds a pod next to one that it must be
apart from."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.shared.retries import make
from testbed import Actor, Client, Evidence, Found, World, always
from testbed.faults.partition import Partition
from testbed.faults.stall import Stall
from testbed.objects import LabelSelector, Map, Node, Pod, PriorityClass
from testbed.objects.affinity import Affinity, PodAffinity, PodAffinityTerm
from testbed.objects.node import HOSTNAME

APART = PodAffinity(required=(PodAffinityTerm(HOSTNAME, LabelSelector(Map(app="db"))),))
URGENT = PriorityClass("urgent", value=10, preemption_policy="Never")
AWAY_MS = 20_000
"""How long a replica is stalled or partitioned: long enough for another one to lead."""
ENDS_MS = 18_000
"""Up to when a Run is judged, as leases are renewed for ever."""


def db(name: str, **spec: Any) -> Pod:
    """A pod of a database, no two of which may be on one node."""
    affinity = Affinity(pod_anti_affinity=APART)
    given = {"scheduler_name": "alpha", "affinity": affinity, **spec}
    return Pod.of(name, cpu_m=100, labels={"app": "db"}, **given)


@attrs.frozen
class User(Actor):
    """Creates a pod that is more urgent than the existing one."""

    async def run(self, client: Client) -> None:
        await make(client, db("b", priority_class_name=URGENT.meta.name))


def no_two_are_together(see: Evidence) -> Found | None:
    """No node has two pods of the database; no kubelet checks that, no controller repairs it."""
    found: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    on: dict[str, str] = {}
    for pod in found:
        node, name = pod.spec.node_name, pod.meta.name
        if node and on.setdefault(node, name) != name:
            text = f"{on[node]} and {name} are on {node}, and must be apart"
            return Found(text, reason="too many")
    return None


def leader_overlap(world: World, *, guard: bool = False) -> None:
    """A scheduler's leader is away until another leads, then binds what it had decided before.

    It is stalled before it sends the bind, or partitioned when it has sent it. Guarded, it is
    fenced: it binds only while it is sure to lead, and what it sent before is refused.

    Cause: a bind carries no proof of leadership, so the API server takes it from a replica that no
      longer leads.
    Look for: alpha-1 binds a, as decided before it was away, next to b, which alpha-2 has bound
      since.
    Source: kubernetes#65257, kubernetes PR#81306.
    Tags: several-schedulers, stale-cache, restart, check-then-act, silent, affinity.
    """
    world.serve(ApiServer)
    world.add(URGENT, Node.of("n1", cpu_m=1000, labels={HOSTNAME: "n1"}), db("a"))
    switches = Map({"fencing": "on" if guard else "off"})
    for name in ("alpha-1", "alpha-2"):
        world.start(Scheduler(name, pods_of="alpha", elects=True, switches=switches))
    world.start(User("user"))
    world.allow(Stall("alpha-1", by_ms=AWAY_MS), Partition("alpha-1", for_ms=AWAY_MS))
    world.limit(until_ms=ENDS_MS)
    world.claim(always(no_two_are_together, reads=("log:pods.spec",)))
