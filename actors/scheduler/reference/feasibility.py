"""Feasibility: which nodes are feasible for a pod, and why each other node is not."""

from __future__ import annotations

import attrs

from actors.framework.refusal import Refusal
from actors.scheduler.reference.cluster import Cluster, Guest, NodeView
from actors.scheduler.reference.filters import refusal
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod
from testbed.objects.affinity import NodeSelectorTerm

FEW = 100
"""The least number of feasible nodes to look for (SCH-55)."""
ANNOTATION = "scheduler.kubernetes.io/nominated-node-name"


@attrs.define
class FilterResults:
    """What the filters say of one pod."""

    feasible: tuple[str, ...] = ()
    refusals: dict[str, Refusal] = attrs.field(factory=dict)
    at_once: str = ""
    """Why the pod was refused before any node was looked at; empty: it was not."""
    error: str = ""
    """What went wrong; empty: nothing."""


def nomination_of(pod: Pod, switches: SchedulerSwitches) -> str:
    """The node that the pod object says it is nominated to (SCH-50, SCH-112)."""
    if switches.nnn_storage == "annotation":
        return pod.meta.annotations.get(ANNOTATION, "")
    return pod.status.nominated_node_name


def find(
    guest: Guest, cluster: Cluster, switches: SchedulerSwitches, start: int = 0
) -> FilterResults:
    """Filter the nodes for a pod, one after another, from the node numbered `start` on.

    1. If its node affinity names nodes in each term, only these are looked at (SCH-53).
    2. If the node it is nominated to is feasible, that is the only one (SCH-54).
    3. Otherwise each node is filtered, until enough are feasible (SCH-55).
    """
    findings, yields = FilterResults(), switches.nominated_accounting != "none"
    named = named_nodes(guest.pod)
    if named == set():
        findings.at_once = "pod affinity terms conflict"
        conflict = Refusal("NodeAffinity", (findings.at_once,), is_resolvable=False)
        findings.refusals = dict.fromkeys(cluster.places, conflict)
        return findings

    def takes(place: NodeView) -> bool:
        refused = refusal(guest, place, cluster, yields=yields)
        if refused is not None:
            findings.refusals[place.name] = refused
        return refused is None

    own = cluster.places.get(nomination_of(guest.pod, switches))
    if own is not None and switches.own_nomination == "try_first" and takes(own):
        findings.feasible = (own.name,)
        return findings
    unknown = sorted((named or set()) - set(cluster.places))
    if unknown:
        findings.error = f'nodeinfo not found for node name "{unknown[0]}"'
        return findings
    places = [place for name, place in cluster.places.items() if named is None or name in named]
    found: list[str] = []
    for number in range(len(places)):
        place = places[(start + number) % len(places)]
        if len(found) < enough_of(len(places)) and takes(place):
            found.append(place.name)
    findings.feasible = tuple(found)
    return findings


def enough_of(nodes: int) -> int:
    """How many feasible nodes are enough among this many."""
    percentage = max(50 - nodes // 125, 5)
    return nodes if nodes < FEW else max(nodes * percentage // 100, FEW)


def named_nodes(pod: Pod) -> set[str] | None:
    """The nodes that its node affinity names, if every term names some; otherwise None. Empty: a
    term names two sets without a common node."""
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    if not affinity or affinity.required is None or not affinity.required.node_selector_terms:
        return None
    named: set[str] = set()
    for term in affinity.required.node_selector_terms:
        names = _names(term)
        if not names:
            return names
        named |= names
    return named


def _names(term: NodeSelectorTerm) -> set[str] | None:
    sets = [
        set(each.values)
        for each in term.match_fields
        if each.key == "metadata.name" and each.operator == "In"
    ]
    return set.intersection(*sets) if sets else None
