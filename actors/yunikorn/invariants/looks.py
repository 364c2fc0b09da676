"""Looks: the cores of a World, their shims, and the pods that are theirs, as claims see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from actors.yunikorn.core.core import YuniKornCore
from actors.yunikorn.shim.shim import YuniKornShim
from testbed import Evidence
from testbed.objects import Pod, requests_of

Sums = dict[str, int]


def cores(see: Evidence) -> Iterator[YuniKornCore]:
    """Each core of the World."""
    for _, post in sorted(see.wire.posts.items()):
        if isinstance(post.endpoint, YuniKornCore):
            yield post.endpoint


def heard_cores(see: Evidence) -> Iterator[YuniKornCore]:
    """Each core with a live shim in its session. Without one, the core or the shim has crashed, and
    the other does not know it yet."""
    for core in cores(see):
        for role in see.actors:
            shown: Any = role.life.shown.get("shim") if role.life is not None else None
            is_its = isinstance(role.actor, YuniKornShim) and role.actor.core == core.name
            if is_its and role.is_up and shown is not None and shown.session == core.session:
                yield core


def live_pods(see: Evidence) -> list[Pod]:
    """The pods that are not over, as they are in the Store."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    return [pod for pod in pods if not pod.is_over]


def is_theirs(pod: Pod) -> bool:
    """Whether YuniKorn schedules it."""
    return pod.spec.scheduler_name == "yunikorn"


def node_required_by(pod: Pod) -> str:
    """The node that a DaemonSet pod names; empty if it is none."""
    affinity = pod.spec.affinity
    nodes = affinity.node_affinity if affinity is not None else None
    if nodes is None or nodes.required is None or not pod.meta.owners:
        return ""
    if pod.meta.owners[0].kind != "DaemonSet":
        return ""
    return nodes.required.node_selector_terms[0].match_fields[0].values[0]


def size_of(pod: Pod) -> Sums:
    """What a pod takes: its requests, and one of `pods`."""
    return {**requests_of(pod), "pods": 1}


def total(many: Iterable[Mapping[str, int]]) -> Sums:
    """The sum of all of them, without what comes to nothing."""
    summed: Sums = {}
    for each in many:
        for name, amount in each.items():
            summed[name] = summed.get(name, 0) + amount
    return {name: amount for name, amount in summed.items() if amount}


def same(one: Mapping[str, int], other: Mapping[str, int]) -> bool:
    """Whether two sums are equal, where nothing is as good as zero."""
    return all(one.get(name, 0) == other.get(name, 0) for name in {**one, **other})
