"""The DaemonSet controller: one pod on each node that should have one (CTL-11 to CTL-14).

1. For each node it says whether the node should run a pod, and whether a pod that is there may go
   on. Resources do not count: a pod for which there is no room stays pending.
2. It creates a pod where one is missing. The pod names its node by an affinity, and the scheduler
   binds it there. A terminating pod is waited for.
3. It deletes pods that must not go on, all but the oldest of several on a node, and those that have
   ended; a pod that has failed only after a backoff.
4. It deletes pods of an old template, as many at a time as `maxUnavailable` allows.

Left out: the surge, ControllerRevisions, and the adoption of pods by their labels.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from actors.controllers.frame import pod_state
from actors.controllers.frame.control_loop import ControlLoop, KeyedController, at_key
from actors.controllers.frame.expectations import Expectations
from actors.controllers.frame.owned import Owned
from actors.controllers.frame.pod_control import PodControl, pod_from
from actors.controllers.frame.wanted import part_of
from actors.shared.daemon_pods import may_run, node_of, usual_tolerations
from testbed import ApiError, Client
from testbed.objects import (
    Affinity,
    DaemonSet,
    DaemonSetStatus,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    Pod,
    Requirement,
)
from testbed.objects.pod import FAILED

BURST = 250
"""The most pods that one sync creates, and deletes (T-31)."""
BACKOFF_MS, BACKOFF_MS_MAX = 1000, 900_000
"""How long a failed pod stays until it is deleted, at first and at most (T-31)."""
NODE_READS = ("meta.labels", "spec.taints")
READS = (*pod_state.READS, "spec.affinity")
GENERATION = "deprecated.daemonset.template.generation"
"""The annotation that says which generation of the template a pod is of."""


@attrs.frozen
class DaemonPlan:
    """What is to be done for one DaemonSet."""

    create_on: tuple[str, ...] = ()
    """The nodes on which a pod is missing."""
    delete: tuple[Pod, ...] = ()
    """The pods that are to go."""
    failed: tuple[Pod, ...] = ()
    """Those that have failed, and go after their backoff."""


def planned(item: DaemonSet, nodes: Sequence[Node], pods: Sequence[Pod]) -> DaemonPlan:
    """What is to be done, node by node."""
    there: dict[str, list[Pod]] = {}
    for pod in pods:
        there.setdefault(node_of(pod), []).append(pod)
    create, delete, failed = [], [], []
    for node in nodes:
        here = there.pop(node.meta.name, [])
        should, may = may_run(item, node)
        if should and not here:
            create.append(node.meta.name)
        elif should or may:
            ended = [pod for pod in here if pod_state.is_over(pod)]
            failed += [pod for pod in ended if pod.status.phase == FAILED]
            delete += [pod for pod in ended if pod.status.phase != FAILED]
            live = [pod for pod in here if pod_state.is_active(pod)]
            delete += sorted(live, key=_age)[1:]
        else:
            delete += [pod for pod in here if not pod_state.is_terminating(pod)]
    # What is left is for nodes that are gone. A pod that was bound there is for the pod GC.
    lost = (pod for gone in there.values() for pod in gone if not pod.spec.node_name)
    delete += [pod for pod in lost if not pod_state.is_terminating(pod)]
    return DaemonPlan(tuple(create), tuple(delete), tuple(failed))


def outdated(item: DaemonSet, nodes: Sequence[Node], pods: Sequence[Pod], now_ms: int) -> list[Pod]:
    """The pods of an old template that may be deleted now: those that are not available, and as
    many more as may be unavailable."""
    if item.spec.update_strategy.type == "OnDelete":
        return []
    generation, least = str(item.meta.generation), item.spec.min_ready_s
    wanted = sum(may_run(item, node)[0] for node in nodes)
    live = [pod for pod in pods if pod_state.is_active(pod)]
    ready = [pod for pod in live if pod_state.is_available(pod, least, now_ms)]
    spare = _unavailable(item, wanted) - (wanted - len(ready))
    old = [pod for pod in live if pod.meta.annotations.get(GENERATION) != generation]
    useless = [pod for pod in old if pod not in ready]
    good = [pod for pod in old if pod in ready]
    return [*useless, *good[: max(spare, 0)]]


def _unavailable(item: DaemonSet, wanted: int) -> int:
    """How many of the wanted pods may be unavailable: a share is at least one."""
    rolling = item.spec.update_strategy.rolling_update
    bound = 1 if rolling is None or rolling.max_unavailable is None else rolling.max_unavailable
    number = part_of(bound, wanted)
    return max(number, 1) if isinstance(bound, str) else number


def _age(pod: Pod) -> tuple[bool, int, str]:
    """Bound before unbound, then the oldest first (CTL-14)."""
    return not pod.spec.node_name, pod.meta.created_ms or 0, pod.meta.name


def pod_for(item: DaemonSet, node: str) -> Pod:
    """A new pod for a node: its node affinity is replaced by that node's name (CTL-12)."""
    pod = pod_from(item, item.spec.template)
    only = NodeSelector(
        (NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", (node,)),)),)
    )
    affinity = attrs.evolve(pod.spec.affinity or Affinity(), node_affinity=NodeAffinity(only))
    spec = attrs.evolve(
        pod.spec, affinity=affinity, tolerations=(*pod.spec.tolerations, *usual_tolerations())
    )
    notes = pod.meta.annotations.having(**{GENERATION: str(item.meta.generation)})
    return attrs.evolve(pod, spec=spec).with_meta(annotations=notes)


class DaemonSetLoop(ControlLoop):
    """One life of the DaemonSet controller."""

    def __init__(self, settings: KeyedController, client: Client) -> None:
        super().__init__(settings, client)
        self.sets = self.cache(DaemonSet, reads=None)
        self.sets.on(
            add=self.want, update=self.want, delete=lambda old: self.expected.forget(old.key)
        )
        self.nodes = self.cache(Node, reads=NODE_READS)
        self.nodes.on(
            add=self._node_changed,
            update=lambda *_: self._node_changed(),
            delete=self._node_changed,
        )
        self.expected = Expectations(client, self.todo.add)
        self.pods = Owned(self.cache(Pod, reads=READS), self.sets, self.todo.add, self.expected)
        self.control = PodControl(self, self.expected)
        self.failures: dict[str, tuple[int, int]] = {}
        """By DaemonSet and node, how often a pod has failed there, and when the last one was
        deleted."""

    def digest(self, now_ms: int) -> object:
        failures = frozenset((k, n, now_ms - at_ms) for k, (n, at_ms) in self.failures.items())
        return super().digest(now_ms), self.expected.digest(now_ms), failures

    def _node_changed(self, *_: Node) -> None:
        for item in self.sets.all():
            self.want(item)

    async def sync(self, key: str) -> None:
        """Create and delete pods, then write the counts, also if that has failed."""
        item = at_key(self.sets, key)
        if item is None or item.meta.is_terminating:
            return
        pods, nodes, failed = self.pods.of(item), self.nodes.all(), None
        if self.expected.are_met(key):
            try:
                await self._manage(item, nodes, pods)
            except ApiError as error:
                failed = error
        status = status_of(item, nodes, pods, self.client.now())
        if status != item.status:
            await self.update_status(item, status)
        if failed is not None:
            raise failed

    async def _manage(self, item: DaemonSet, nodes: list[Node], pods: list[Pod]) -> None:
        now_ms = self.client.now()
        plan = planned(item, nodes, pods)
        due = [pod for pod in plan.failed if self._is_due(item, pod, now_ms)]
        doomed = [*plan.delete, *due]
        if not doomed and not plan.create_on:
            doomed = outdated(item, nodes, pods, now_ms)
        doomed, create_on = doomed[:BURST], plan.create_on[:BURST]
        if not doomed and not create_on:
            return
        self.expected.expect(item.key, creates=len(create_on), deletes=[pod.key for pod in doomed])
        try:
            await self.control.create_expected(item, [pod_for(item, node) for node in create_on])
        finally:
            await self.control.delete_expected(item, doomed)

    def _is_due(self, item: DaemonSet, pod: Pod, now_ms: int) -> bool:
        """Whether a failed pod may go now; if not, the DaemonSet is synced again when it may."""
        if pod_state.is_terminating(pod):
            return False
        place = f"{item.meta.uid}/{node_of(pod)}"
        times, last_ms = self.failures.get(place, (0, 0))
        wait_ms = min(BACKOFF_MS << min(times - 1, 20), BACKOFF_MS_MAX) if times else 0
        if now_ms < last_ms + wait_ms:
            self.todo.add(item.key, last_ms + wait_ms - now_ms)
            return False
        # After twice the longest backoff without a failure, the count begins at 0 again.
        times = 0 if now_ms > last_ms + 2 * BACKOFF_MS_MAX else times
        self.failures[place] = (times + 1, now_ms)
        return True


@attrs.frozen
class DaemonSetController(KeyedController):
    """Keeps a pod of each DaemonSet on each node that should have one."""

    loop = DaemonSetLoop


def status_of(
    item: DaemonSet, nodes: Sequence[Node], pods: Sequence[Pod], now_ms: int
) -> DaemonSetStatus:
    """The counts, by node."""
    generation, least = item.meta.generation, item.spec.min_ready_s
    there: dict[str, list[Pod]] = {}
    for pod in pods:
        there.setdefault(node_of(pod), []).append(pod)
    wanted = [node.meta.name for node in nodes if may_run(item, node)[0]]
    first = [min(there[name], key=_age) for name in wanted if name in there]
    stray = [name for name in sorted(there) if name not in wanted]
    available = sum(pod_state.is_available(pod, least, now_ms) for pod in first)
    return DaemonSetStatus(
        current_number_scheduled=len(first),
        number_misscheduled=len([n for n in stray if any(p.spec.node_name for p in there[n])]),
        desired_number_scheduled=len(wanted),
        number_ready=sum(map(pod_state.is_ready, first)),
        observed_generation=generation,
        updated_number_scheduled=sum(
            pod.meta.annotations.get(GENERATION) == str(generation) for pod in first
        ),
        number_available=available,
        number_unavailable=len(wanted) - available,
        conditions=item.status.conditions,
    )
