"""Timelines: a small cluster and all that happens to it from outside, put together as a World."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import attrs

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime, Workload
from actors.kubelet.runtime import runtime_of
from testbed.client.actor import Actor
from testbed.client.client import Client
from testbed.objects import Condition, Node, Object, Pod, PodDisruptionBudget, PriorityClass
from testbed.objects.form import from_tree
from testbed.store.endpoint import Operation
from testbed.world.world import World

Said = Mapping[str, Any]
"""A node, a pod or a budget in a few words: `{"name": "a", "cpu": "5", "priority": 100}`."""
SCHEDULER = "default-scheduler"
OLD_S = 100
"""The first of the pods that are there was started so many seconds ago, each next one later."""


@attrs.frozen
class Deed:
    """What a user does, and when."""

    at_ms: int
    verb: str
    """create or delete."""
    pod: Said


@attrs.frozen
class Cluster:
    """What there is, and what is done to it. Times are counted from `begins_ms`."""

    nodes: Sequence[Said]
    pods: Sequence[Said] = ()
    """Those that run since long; each began after the one before it."""
    pdbs: Sequence[Said] = ()
    deeds: Sequence[Deed] = ()
    ends: Mapping[str, int] = attrs.field(factory=dict)
    """The pods that complete by themselves, and when."""
    begins_ms: int = 0
    until_ms: int = 120_000
    start_delay_ms: int = 0
    """From a pod's admission until it is Running."""


def build(world: World, cluster: Cluster, *schedulers: Actor, profile: str = "k8s-1.26") -> None:
    """Put it together: an API server of that profile, the objects, a runtime and a kubelet on each
    node, the schedulers, and a user."""
    world.serve(lambda store: ApiServer(store, profile=profile))
    world.add(*_objects(cluster))
    for node in cluster.nodes:
        name = node["name"]
        world.serve(partial(Runtime, node=name))
        world.start(Kubelet(f"kubelet-{name}", name, start_delay_ms=cluster.start_delay_ms))
    for entry in world.store.snapshot("pods/"):
        _let_run(world, entry.value)
    world.start(*schedulers)
    deeds = sorted(cluster.deeds, key=lambda deed: deed.at_ms)
    world.start(User("user", tuple(deeds), cluster.begins_ms))
    world.limit(until_ms=cluster.begins_ms + cluster.until_ms)


@attrs.frozen
class User(Actor):
    """Does what is to be done, each at its time."""

    rank: ClassVar[int] = 0

    deeds: tuple[Deed, ...] = attrs.field(eq=False)
    begins_ms: int

    async def run(self, client: Client) -> None:
        for deed in self.deeds:
            wait_ms = self.begins_ms + deed.at_ms - client.now()
            if wait_ms > 0:
                await client.sleep(wait_ms, f"{deed.verb} {deed.pod['name']}")
            if deed.verb == "create":
                await client.create(pod_of(deed.pod))
            else:
                await client.ask(Operation("delete", "pods", deed.pod["name"], "default"))


def _objects(cluster: Cluster) -> Iterator[Object]:
    created = [deed.pod for deed in cluster.deeds if deed.verb == "create"]
    for value in sorted({each.get("priority", 0) for each in (*cluster.pods, *created)}):
        yield PriorityClass(_class_of(value), value=value, preemption_policy="PreemptLowerPriority")
    yield from map(node_of, cluster.nodes)
    for number, each in enumerate(cluster.pdbs):
        yield _budget_of(number, each)
    for number, each in enumerate(cluster.pods):
        end_ms, started_ms = cluster.ends.get(each["name"]), (10 * number - OLD_S) * 1000
        workload = Workload(None if end_ms is None else end_ms - started_ms)
        pod = workload.given_to(pod_of(each, ends=end_ms is not None))
        yield _running(pod, cluster.begins_ms + started_ms)


def node_of(said: Said) -> Node:
    """A node with so many cores, and memory in plenty."""
    labels = {"kubernetes.io/hostname": said["name"], **said.get("labels", {})}
    cpu_m = int(said["cpu"]) * 1000
    return Node.of(said["name"], cpu_m=cpu_m, memory=64 * 2**30, labels=labels)


def pod_of(said: Said, *, ends: bool = False) -> Pod:
    """A pod; one that ends is not to be run again."""
    asked = {"cpu": said["cpu"]} if "cpu" in said else {}
    spec = {
        "containers": [{"name": "main", "resources": {"requests": asked}}],
        "priorityClassName": _class_of(said.get("priority", 0)),
        "terminationGracePeriodSeconds": said.get("grace", 30),
        "restartPolicy": "Never" if ends else "Always",
        "schedulerName": said.get("scheduler", SCHEDULER),
        "nodeName": said.get("node"),
        "nodeSelector": said.get("selector"),
        "affinity": said.get("affinity"),
    }
    meta = {"name": said["name"], "namespace": "default", "labels": said.get("labels")}
    return from_tree(Pod, {"metadata": meta, "spec": spec})


def _class_of(priority: int) -> str:
    return f"priority-{priority}"


def _running(pod: Pod, started_ms: int) -> Pod:
    """It, bound and running since then; its kubelet will say the rest."""
    bound = Condition("PodScheduled", "True", since_ms=started_ms)
    status = attrs.evolve(pod.status, phase="Running", start_ms=started_ms, conditions=(bound,))
    priority = int(pod.spec.priority_class_name.removeprefix("priority-"))
    spec = attrs.evolve(pod.spec, priority=priority, preemption_policy="PreemptLowerPriority")
    return attrs.evolve(pod.with_meta(created_ms=started_ms), spec=spec, status=status)


def _let_run(world: World, pod: Any) -> None:
    """Its containers were started when it was."""
    meta, endpoint = pod.meta, world.wire.posts[runtime_of(pod.spec.node_name)].endpoint
    start = Operation("start", "pods", meta.name, meta.namespace, pod, uid=meta.uid)
    for _ in endpoint.handle(start, "", pod.status.start_ms):
        raise AssertionError("a runtime answers at once")


def _budget_of(number: int, said: Said) -> PodDisruptionBudget:
    tree = {
        "metadata": {"name": said.get("name", f"budget-{number}"), "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": said["selector"]}},
        "status": {"disruptionsAllowed": said["disruptionsAllowed"]},
    }
    return from_tree(PodDisruptionBudget, tree)


def creates(said: Iterable[Said]) -> list[Deed]:
    """The deeds that create these pods, each at its `t` in seconds."""
    return [Deed(round(each["t"] * 1000), "create", each) for each in said]
