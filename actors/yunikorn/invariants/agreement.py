"""At rest the core's books say what Kubernetes says (INV-43)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from actors.yunikorn.invariants.looks import heard_cores, is_theirs, live_pods
from testbed import Evidence, Invariant
from testbed.objects import Pod
from testbed.turns.found import UNEQUAL, Found, Wrong


class CoreAgreesWithKubernetes(Invariant):
    """At rest a core knows the nodes there are. Its allocations on each are the pods of YuniKorn
    that are bound there and not over, and the foreign ones are those of other schedulers. Its asks
    are the pods that wait."""

    name = "yunikorn_agrees_with_kubernetes"
    breach_reason = UNEQUAL

    def end(self, evidence: Evidence) -> Wrong:
        pods = live_pods(evidence)
        nodes: list[Any] = [entry.value for entry in evidence.store.snapshot("nodes/")]
        for core in heard_cores(evidence):
            books = core.partition
            known, there = sorted(books.nodes), sorted(node.meta.name for node in nodes)
            if known != there:
                text = f"{core.name} knows the nodes {known}, and there are {there}"
                odd = (f"nodes/{name}" for name in sorted({*known} ^ {*there}))
                return Found.of(text, *odd, actors=core.name)
            for name in there:
                here = [pod for pod in pods if pod.spec.node_name == name]
                ours = [pod.meta.uid for pod in here if is_theirs(pod)]
                others = [pod.meta.uid for pod in here if not is_theirs(pod)]
                for what, says, are in (
                    ("allocations", books.nodes[name].allocations, ours),
                    ("foreign pods", books.nodes[name].foreign, others),
                ):
                    if sorted(says) != sorted(are):
                        text = f"{core.name} has the {what} {sorted(says)} on {name}, not {are}"
                        about = (*_of({*says} ^ {*are}, pods), f"nodes/{name}")
                        return Found.of(text, *about, actors=core.name)
            asked = sorted(key for app in books.apps.values() for key in app.asks)
            waiting = [pod for pod in pods if is_theirs(pod) and not pod.is_bound]
            uids = sorted(pod.meta.uid for pod in waiting if not pod.spec.scheduling_gates)
            if asked != uids:
                text = f"{core.name} is asked for {asked}, and what waits is {uids}"
                return Found.of(text, *_of({*asked} ^ {*uids}, pods), actors=core.name)
        return None


def _of(uids: Collection[str], pods: Iterable[Pod]) -> Iterator[str]:
    """The keys of the pods that have these uids."""
    return (pod.key for pod in pods if pod.meta.uid in uids)
