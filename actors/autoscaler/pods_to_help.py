"""PodsToHelp: the pods that a pass wants nodes for, and what becomes of the others (CA-8 to CA-15).

1. Expendable pods are left out; nominated ones are put on their nodes. 2. Nodes that are still to
come are imagined. 3. All others, and the pods of nodes that are being drained, are packed into what
is there and what is to come. 4. What finds no room asks for a node, unless it is too young.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from actors.autoscaler import asking
from actors.autoscaler.memory import AutoscalerMemory
from actors.autoscaler.pass_record import (
    DAEMON,
    EXPENDABLE,
    LEFT,
    NOMINATED,
    SCHEDULABLE,
    UPCOMING,
    YOUNG,
    PassRecord,
    PodFate,
)
from actors.autoscaler.simulation.simulation import Simulation
from actors.autoscaler.templates import NodeTemplate
from actors.framework.podinfo import PodInfo, info_of
from actors.shared.critical import is_mirror, is_static
from actors.shared.daemon_pods import is_daemon_pod
from testbed.objects import Node, Pod


class PodsToHelp:
    """Finds them in one pass. What it packs stays in the Simulation, so no node with it goes."""

    def __init__(
        self,
        memory: AutoscalerMemory,
        simulation: Simulation,
        templates: Mapping[str, NodeTemplate],
        nodes: Sequence[Node],
        record: PassRecord,
    ) -> None:
        self._memory = memory
        self._simulation = simulation
        self._templates = templates
        self._names = {node.meta.name for node in nodes}
        self._record = record

    def among(self, unschedulable: Iterable[Pod]) -> list[PodInfo]:
        """Those of these pods, and of nodes that are being drained, that ask for a node."""
        asks = self._neither_expendable_nor_nominated(unschedulable)
        self._add_upcoming()
        drained = {info.uid: (info, node) for info, node in self._drained_pods()}
        packed = asking.most_important_first([*asks, *(info for info, _ in drained.values())])
        places = self._memory.packer.pack(packed, self._simulation)
        self._memory.packer.age()
        aside, rest = {*self._record.pods}, []
        for pod in packed:
            node = places.get(pod.uid, "")
            _, origin = drained.get(pod.uid, (None, ""))
            # A nominated pod on a node that is drained is packed as well, but stays one that waits.
            if pod.key not in aside:
                fate = SCHEDULABLE if node else LEFT
                self._record.note(pod.key, PodFate(fate, node, drained_from=origin))
            if not node and not self.is_put_off(pod, origin):
                rest.append(pod)
        return rest

    def is_put_off(self, pod: PodInfo, origin: str) -> bool:
        """Whether it asks for no node in this pass."""
        memory, now_ms = self._memory, self._record.at_ms
        if memory.switches.filter_daemonset_pods and is_daemon_pod(pod.pod):
            fate = DAEMON
        elif asking.is_young(pod.pod, memory.settings.new_pod_scale_up_delay_ms, now_ms):
            fate = YOUNG
        else:
            return False
        self._record.note(pod.key, PodFate(fate, drained_from=origin))
        return True

    def _neither_expendable_nor_nominated(self, unschedulable: Iterable[Pod]) -> list[PodInfo]:
        switches, asks = self._memory.switches, []
        for pod in unschedulable:
            info = info_of(pod)
            nominated = asking.nominated_node(pod)
            if asking.is_expendable(pod, switches.expendable_cutoff):
                self._record.note(info.key, PodFate(EXPENDABLE))
            elif asking.is_set_aside(pod, switches.nominated_rule, self._names):
                self._record.note(info.key, PodFate(NOMINATED, nominated))
                if nominated in self._names:
                    self._simulation.add_pod(info, nominated)
            else:
                asks.append(info)
        return asks

    def _add_upcoming(self) -> None:
        fresh = set[str]()
        for group, count in self._memory.state.upcoming().items():
            self._record.upcoming[group] = count
            if group in self._templates:
                for number in range(count):
                    node = self._templates[group].copy(f"{UPCOMING}:{group}:{number}")
                    self._simulation.add_node(node)
                    if group not in self._memory.templates.reused:
                        fresh.add(node.name)
        self._memory.packer.forget_places(fresh)

    def _drained_pods(self) -> Iterable[tuple[PodInfo, str]]:
        """The pods of nodes that are being drained, as if they were pending; and their nodes. They
        count beside the pods that replace them (CA-8)."""
        for name in self._memory.scale_down.deletions.drained:
            node = self._simulation.get(name)
            for info in node.pods if node is not None else ():
                pod = info.pod
                if not (is_static(pod) or is_mirror(pod) or is_daemon_pod(pod)):
                    free = attrs.evolve(pod, spec=attrs.evolve(pod.spec, node_name=""))
                    yield info_of(free), name
