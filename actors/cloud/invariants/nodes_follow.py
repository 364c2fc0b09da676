"""At rest the Nodes of a cloud are those of its machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from actors.shared.machines import CloudInstance
from testbed import Evidence, Invariant
from testbed.objects import Node, Pod
from testbed.store.store import Store
from testbed.turns.found import MISSING, UNEQUAL, Found, Wrong


class NodesFollowMachines(Invariant):
    """When nothing can move any more, each machine that has come up has got a Node; if somebody has
    deleted that since, it is none of the cloud's business. Of a machine that is gone nothing is
    left: no record at the provider, no Node, no pod; so its name may be given again. How a machine
    comes up has been drawn.
    """

    name = "nodes_follow_machines"
    breach_reason = UNEQUAL
    reads = frozenset()

    def end(self, evidence: Evidence) -> Wrong:
        machines = {each.meta.name: each for each in _all(evidence.store, CloudInstance)}
        nodes = {each.meta.name: each for each in _all(evidence.store, Node)}
        found = [
            *(said for each in machines.values() for said in _wrong(each, nodes, evidence)),
            *_left_over(evidence.store, machines, nodes),
        ]
        return next(iter(found), None)


def _wrong(machine: CloudInstance, nodes: dict[str, Node], evidence: Evidence) -> Iterator[Found]:
    """What is wrong with a machine that the provider knows."""
    name, now_ms = machine.meta.name, evidence.now_ms
    if machine.is_gone(now_ms):
        text = f"{machine.key} is gone since {machine.gone_ms} ms, and still has its name"
        yield Found.of(text, machine)
    elif machine.boots:
        text = f"{machine.key} has {len(machine.boots)} ways to come up, and none was drawn"
        yield Found.of(text, machine)
    elif machine.register_ms is not None and machine.register_ms <= now_ms:
        has_node = name in nodes or _had_node(machine, evidence.store)
        if not has_node:
            text = f"{machine.key} has come up, and there is no node"
            yield Found.of(text, machine, f"nodes/{name}", reason=MISSING)


def _had_node(machine: CloudInstance, store: Store) -> bool:
    """Whether there has been a Node of its name since the machine came."""
    entry = store.peek(machine.key)
    key = f"nodes/{machine.meta.name}"
    since = 0 if entry is None else entry.created
    return any(each.key == key and each.revision > since for each in store.log("nodes").changes)


def _left_over(
    store: Store, machines: dict[str, CloudInstance], nodes: dict[str, Node]
) -> Iterator[Found]:
    """What is left of machines that are no more."""
    gone = {each.key.rpartition("/")[2] for each in store.log("cloudinstances").changes}
    gone -= machines.keys()
    for name in sorted(gone & nodes.keys()):
        text = f"nodes/{name} is there, and its machine is gone"
        yield Found.of(text, f"nodes/{name}", f"cloudinstances/{name}")
    for pod in _all(store, Pod):
        if pod.spec.node_name in gone:
            machine = pod.spec.node_name
            text = f"{pod.key} is on {machine}, and its machine is gone"
            yield Found.of(text, pod, f"nodes/{machine}", f"cloudinstances/{machine}")


def _all(store: Store, kind: type[Any]) -> list[Any]:
    return [entry.value for entry in store.snapshot(f"{kind.plural}/")]
