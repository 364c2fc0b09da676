"""The StatefulSet controller: pods that keep their names, started and ended in order.

1. The pods are `web-0`, `web-1` and so on. A pod that has ended is deleted, and created again under
   its name only when the old one is gone: two of one name cannot be. So while its node is cut off,
   there is no other pod in its place.
2. Unless its policy is Parallel, it creates a pod only when all before it are ready, and deletes
   one at a time, the last one first.
3. Once the template has changed, it deletes old pods, the last one first, down to the partition.

It needs no expectations, since the names say what it has done. Left out: volumes, and revisions as
objects; the revision of a pod is the hash of its template.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import attrs

from actors.controllers.frame import pod_state
from actors.controllers.frame.control_loop import ControlLoop, KeyedController, at_key
from actors.controllers.frame.owned import Owned
from actors.controllers.frame.pod_control import pod_from
from actors.controllers.frame.wanted import wanted_by
from testbed import Client, NotFound, Operation
from testbed.objects import Pod, PodTemplate, StatefulSet, StatefulSetStatus
from testbed.objects.codec import encode
from testbed.objects.form import to_tree

REVISION = "controller-revision-hash"
"""The label that says which template a pod is of."""
POD_NAME = "statefulset.kubernetes.io/pod-name"
PARALLEL = "Parallel"


@attrs.frozen
class OrderedPlan:
    """What is to be done next for one StatefulSet."""

    create: tuple[int, ...] = ()
    """The numbers of the pods to create."""
    delete: tuple[Pod, ...] = ()
    """The pods to delete."""


def hash_of(template: PodTemplate) -> str:
    """A short name for a template."""
    return hashlib.sha256(encode(to_tree(template))).hexdigest()[:10]


def number_of(item: StatefulSet, pod: Pod) -> int | None:
    """The number in the name of a pod; None if it has another name."""
    prefix, _, number = pod.meta.name.rpartition("-")
    is_number = number.isascii() and number.isdecimal()
    return int(number) if prefix == item.meta.name and is_number else None


def planned(item: StatefulSet, pods: Sequence[Pod]) -> OrderedPlan:
    """The next step: with Parallel all of it, else one pod."""
    by_number = {number_of(item, pod): pod for pod in pods}
    wanted = wanted_by(item)
    is_parallel = item.spec.pod_management_policy == PARALLEL
    create: list[int] = []
    delete: list[Pod] = []
    for number in range(wanted):
        pod = by_number.get(number)
        if pod is None:
            create.append(number)
        elif pod_state.is_over(pod) and not pod_state.is_terminating(pod):
            delete.append(pod)
        if not is_parallel and (pod is None or not _is_steady(pod)):
            # The pods after this one wait for it, whatever it is about to do.
            return OrderedPlan(tuple(create), tuple(delete))
    if delete or create:
        return OrderedPlan(tuple(create), tuple(delete))
    above = sorted(n for n in by_number if n is not None and n >= wanted)
    surplus = [by_number[number] for number in reversed(above)]
    if surplus and not is_parallel:
        last, *before = surplus
        is_blocked = not _is_steady(last) and not all(map(_is_steady, before))
        # A pod that is not ready may only go as the first of those that are not.
        surplus = [] if is_blocked else [last]
    if surplus:
        return OrderedPlan(delete=tuple(p for p in surplus if not pod_state.is_terminating(p)))
    return OrderedPlan(delete=_outdated(item, [by_number[n] for n in range(wanted)]))


def _is_steady(pod: Pod) -> bool:
    return pod_state.is_active(pod) and pod_state.is_ready(pod)


def _outdated(item: StatefulSet, pods: Sequence[Pod]) -> tuple[Pod, ...]:
    """The last pod of an old template, once all after it are new and ready."""
    strategy = item.spec.update_strategy
    rolling = strategy.rolling_update
    if strategy.type == "OnDelete":
        return ()
    first = 0 if rolling is None or rolling.partition is None else rolling.partition
    revision = hash_of(item.spec.template)
    for pod in reversed(pods[first:]):
        if pod.meta.labels.get(REVISION) != revision and not pod_state.is_terminating(pod):
            return (pod,)
        if not _is_steady(pod):
            return ()
    return ()


def ordered_pod(item: StatefulSet, number: int) -> Pod:
    """The pod of that number."""
    name = f"{item.meta.name}-{number}"
    pod = pod_from(item, item.spec.template, name)
    labels = {REVISION: hash_of(item.spec.template), POD_NAME: name}
    return pod.with_meta(labels=pod.meta.labels.having(**labels))


class StatefulSetLoop(ControlLoop):
    """One life of the StatefulSet controller."""

    def __init__(self, settings: KeyedController, client: Client) -> None:
        super().__init__(settings, client)
        self.sets = self.cache(StatefulSet, reads=None)
        self.sets.on(add=self.want, update=self.want)
        self.pods = Owned(self.cache(Pod, reads=pod_state.READS), self.sets, self.todo.add)

    async def sync(self, key: str) -> None:
        """Make the next step, and write the counts."""
        item = at_key(self.sets, key)
        if item is None or item.meta.is_terminating:
            return
        pods = self.pods.of(item)
        plan = planned(item, pods)
        for number in plan.create:
            made = await self.client.create(ordered_pod(item, number))
            self.note(item, "SuccessfulCreate", f"create Pod {made.meta.name}")
        for pod in plan.delete:
            await self._delete(item, pod)
        status = status_of(item, pods, self.client.now())
        if status != item.status:
            await self.update_status(item, status)
        least = item.spec.min_ready_s
        if status.available_replicas < status.ready_replicas:
            in_ms = pod_state.available_in_ms(pods, least, self.client.now())
            self.todo.add(key, in_ms)

    async def _delete(self, item: StatefulSet, pod: Pod) -> None:
        meta = pod.meta
        try:
            # By name alone, as Kubernetes does it. Its news may be old: then a new pod is hit.
            await self.client.ask(Operation("delete", "pods", meta.name, meta.namespace))
        except NotFound:
            return
        self.note(item, "SuccessfulDelete", f"delete Pod {meta.name}")


@attrs.frozen
class StatefulSetController(KeyedController):
    """Keeps the pods of each StatefulSet, in order."""

    loop = StatefulSetLoop


def status_of(item: StatefulSet, pods: Sequence[Pod], now_ms: int) -> StatefulSetStatus:
    """The counts of its pods."""
    revision, least = hash_of(item.spec.template), item.spec.min_ready_s
    live = [pod for pod in pods if not pod_state.is_over(pod)]
    new = [pod for pod in live if pod.meta.labels.get(REVISION) == revision]
    old = sorted(pod.meta.labels.get(REVISION, "") for pod in live if pod not in new)
    name = f"{item.meta.name}-{revision}"
    return StatefulSetStatus(
        observed_generation=item.meta.generation,
        replicas=len(live),
        ready_replicas=sum(map(pod_state.is_ready, live)),
        current_replicas=len(live) - len(new) if old else len(new),
        updated_replicas=len(new),
        current_revision=f"{item.meta.name}-{old[0]}" if old else name,
        update_revision=name,
        collision_count=item.status.collision_count,
        conditions=item.status.conditions,
        available_replicas=sum(pod_state.is_available(pod, least, now_ms) for pod in live),
    )
