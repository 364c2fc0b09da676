"""Packer: puts pods into a Simulation one by one, each where it would find room (CA-13).

1. The place that the pod was given in an earlier pass, if it still fits there.
2. Else the first node that takes it, counted from behind the last place that was given.
3. After a pod has found no place, equal pods of its owner are not tried.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from actors.autoscaler.simulation.simulation import Simulation
from actors.framework.fitting import Fitting
from actors.framework.podinfo import PodInfo
from actors.shared.daemon_pods import is_daemon_pod
from actors.shared.owners import controller_of
from testbed.objects import Map, Owner, PodSpec

SIMILAR_MAX = 10
"""How many different pods of one owner are remembered as having no place."""
Kind = tuple[Map[str], PodSpec]
"""What makes two pods of one owner equal."""


class RoundRobin:
    """Finds the next node that takes a pod; packing, estimates and removals take turns on it."""

    def __init__(self) -> None:
        self._start = 0

    def find(self, fitting: Fitting, simulation: Simulation, rows: Sequence[int]) -> str | None:
        """The name of the next of these rows that takes a pod, or None."""
        return self._placed(fitting.first(rows, self._start), simulation)

    def find_open(self, fitting: Fitting, simulation: Simulation, rows: list[int]) -> str | None:
        """The same; rows that refuse the pod are taken out of the list."""
        return self._placed(fitting.next_row(rows, self._start), simulation)

    def _placed(self, row: int | None, simulation: Simulation) -> str | None:
        if row is None:
            return None
        self._start = (row + 1) % len(simulation.snapshot)
        return simulation.snapshot.names[row]

    def digest(self) -> int:
        """Where it goes on."""
        return self._start

    def go_on(self, start: int) -> None:
        """Go on from there, as a `digest` has said it."""
        self._start = start


class Packer:
    """Packs pods, and remembers where each was put: in this pass, and in the one before."""

    def __init__(self, round_robin: RoundRobin) -> None:
        self._round_robin = round_robin
        self._hints: dict[str, str] = {}
        self._old_hints: dict[str, str] = {}

    def pack(
        self,
        pods: Iterable[PodInfo],
        simulation: Simulation,
        may_use: Callable[[str], bool] | None = None,
        *,
        stops_at_failure: bool = False,
    ) -> dict[str, str]:
        """Put pods on nodes that they may use; the places, by the uids of the pods. A pod without a
        place is left out; with `stops_at_failure` the first one ends the packing."""
        names = simulation.snapshot.names
        rows = [row for row, name in enumerate(names) if may_use is None or may_use(name)]
        similar = _Similar()
        places = {}
        for pod in pods:
            node = self._hinted(pod, simulation, may_use) or self._found(
                pod, simulation, rows, similar
            )
            if node is not None:
                simulation.add_pod(pod, node)
                places[pod.uid] = node
            elif stops_at_failure:
                break
        return places

    def age(self) -> None:
        """A pass is over: what was not asked for in two passes is forgotten."""
        self._old_hints, self._hints = self._hints, {}

    def forget_places(self, nodes: Collection[str]) -> None:
        """Forget which pods were put on these: other nodes have these names now."""
        for hints in (self._hints, self._old_hints):
            for uid in [uid for uid, place in hints.items() if place in nodes]:
                del hints[uid]

    def digest(self) -> object:
        """What it remembers."""
        return self._old_hints, self._hints

    def _hinted(
        self, pod: PodInfo, simulation: Simulation, may_use: Callable[[str], bool] | None
    ) -> str | None:
        name = self._hints.get(pod.uid) or self._old_hints.get(pod.uid)
        info = simulation.get(name) if name is not None else None
        if name is None or info is None or Fitting(pod, simulation.snapshot).on(info) is not None:
            return None
        self._hints[pod.uid] = name
        return name if may_use is None or may_use(name) else None

    def _found(
        self, pod: PodInfo, simulation: Simulation, rows: Sequence[int], similar: _Similar
    ) -> str | None:
        if similar.has_no_place(pod):
            return None
        name = self._round_robin.find(Fitting(pod, simulation.snapshot), simulation, rows)
        if name is None:
            similar.note(pod)
        else:
            self._hints[pod.uid] = name
        return name


class _Similar:
    """The pods that have found no place, by owner."""

    def __init__(self) -> None:
        self._kinds: dict[str, list[Kind]] = {}

    def has_no_place(self, pod: PodInfo) -> bool:
        owner = controller_of(pod.pod)
        return owner is not None and kind_of(pod) in self._kinds.get(owner_id(owner), [])

    def note(self, pod: PodInfo) -> None:
        owner = controller_of(pod.pod)
        if owner is not None and not is_daemon_pod(pod.pod):
            kinds = self._kinds.setdefault(owner_id(owner), [])
            if len(kinds) < SIMILAR_MAX:
                kinds.append(kind_of(pod))


def kind_of(pod: PodInfo) -> Kind:
    """Two pods of one owner and one kind are the same to a scheduler."""
    return pod.pod.meta.labels, pod.pod.spec


def owner_id(owner: Owner) -> str:
    """The uid of an owner, or its kind and name if it has none."""
    return owner.uid or f"{owner.kind}/{owner.name}"
