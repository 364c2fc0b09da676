"""A leader of schedulers releases its lease while a bind of it is on its way."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.scheduler.memory.leading import Replica
from actors.shared.user import User
from testbed import Client, Evidence, Found, World, always
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.invariants.lives import LivesGoOneWay
from testbed.objects import LabelSelector, Map, Node, Pod, PriorityClass
from testbed.objects.affinity import Affinity, PodAffinity, PodAffinityTerm
from testbed.objects.node import HOSTNAME

NODES = ("n1", "n2")
APART = PodAffinity(required=(PodAffinityTerm(HOSTNAME, LabelSelector(Map(app="db"))),))
FIRST, SECOND, PODS_OF = "alpha-1", "alpha-2", "alpha"
STOPPED_MS, LATER_MS = 1_500, 1_900
"""When the first pod comes and the first leader is told to end; and when the second pod comes. The
second leader looks at the lease every two seconds."""
BIND_MS = 1_000
"""How long a bind is on its way."""
ENDS_MS = 10_000
"""Up to when a Run is judged, as leases are renewed for ever."""


class RetiringReplica(Replica):
    """A replica that is told to end: it releases its lease, and ends (kubernetes PR#100305)."""

    async def retire(self) -> None:
        """Wait until then, and end."""
        await self._client.sleep(STOPPED_MS, "be told to end")
        if self._leader.is_leading:
            self._record("retires", "is told to end, and releases its lease: it led")
        await self._leader.release()
        self._client.exit()


@attrs.frozen
class RetiringScheduler(Scheduler):
    """A scheduler that is told to end, as in an update of the control plane."""

    async def run(self, client: Client) -> None:
        """Schedule until then. It has no second life: another program takes its place."""
        if client.life > 1:
            return
        replica = RetiringReplica(client, self.pods_of, is_fenced=client.switches.fencing)
        client.spawn("stop", replica.retire)
        await replica.stand()
        loop = self.loop(client, self.pods_of, self.filters, self.scores, self.plugins, replica)
        await loop.run()


def db(name: str, **spec: Any) -> Pod:
    """A pod of a database, no two of which may be on one node."""
    affinity = Affinity(pod_anti_affinity=APART)
    return Pod.of(
        name, cpu_m=100, labels={"app": "db"}, scheduler_name=PODS_OF, affinity=affinity, **spec
    )


def no_two_are_together(see: Evidence) -> Found | None:
    """No node has two pods of the database; no kubelet checks that, no controller repairs it."""
    found: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    on: dict[str, str] = {}
    for pod in found:
        node = pod.spec.node_name
        if node and on.setdefault(node, pod.key) != pod.key:
            text = f"{on[node]} and {pod.key} are on {node}, and must be apart"
            return Found(text, reason="too many")
    return None


def handed_over(world: World) -> None:
    """The leader is told to end, and its bind arrives when the next one has long begun to decide.

    A scheduler that is told to end releases its lease, so that the other replica leads within two
    seconds and not after fifteen. The library says what that demands: "you must ensure all code
    guarded by this lease has successfully completed", or two processes act at once. Here the leader
    waits for nothing. It may have decided where a pod goes, or have sent the bind, which is a
    second on its way. Meanwhile the second leader places a more urgent pod on the same node; the
    two must be apart.

    That does no harm, because both replicas are fenced. Who has released the lease begins no write
    any more, and the second leader changes each pod that has no node before it decides: so an old
    bind is refused for its revision. Only then does it list, so it is not behind either. Kubernetes
    has no such fence, and with `scheduler.fencing=off` even the calm run goes wrong.

    Cause: a lease says who may begin to write, and not whether all that was begun has arrived.
    Look for: alpha-1, which retires; alpha-2, which writes its term on each pod that waits, and
      binds; the bind of alpha-1, which comes in between and is refused.
    Source: kubernetes PR#71490, kubernetes PR#100305.
    Tags: several-schedulers, affinity, stale-cache, check-then-act.
    Kind: control.
    """
    world.serve(ApiServer)
    world.add(PriorityClass("urgent", value=10, preemption_policy="Never"))
    world.add(*(Node.of(name, cpu_m=1000, labels={HOSTNAME: name}) for name in NODES))
    fenced = Map(fencing="on")
    for name, kind in ((FIRST, RetiringScheduler), (SECOND, Scheduler)):
        world.start(kind(name, pods_of=PODS_OF, elects=True, switches=fenced))
    creates = ((STOPPED_MS, db("a")), (LATER_MS, db("b", priority_class_name="urgent")))
    world.start(User("ann", creates))
    world.allow(Crash(FIRST), Lag(SECOND))
    world.latency("bind pods", serve_ms=BIND_MS)
    world.limit(until_ms=ENDS_MS)
    world.claim(always(no_two_are_together, reads=("log:pods.spec",)), LivesGoOneWay())
