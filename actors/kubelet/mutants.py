"""Kubelets with one bug each, and the claim that must find it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import attrs

from actors.kubelet.containers import Report
from actors.kubelet.eviction import EvictionSettings
from actors.kubelet.eviction.choice import Evicting
from actors.kubelet.eviction.look import Look, look
from actors.kubelet.eviction.signals import Observation, PodUse
from actors.kubelet.eviction.threshold import ThresholdValue
from actors.kubelet.evictor import Evictor
from actors.kubelet.kubelet import Kubelet
from actors.kubelet.lifecycle import Lifecycle
from actors.kubelet.oom import NodeMemory, OomKill, Process, killed
from actors.kubelet.oom_watcher import OomWatcher
from actors.kubelet.proving_grounds.busy_nodes import busy_nodes
from actors.kubelet.proving_grounds.crowded_node import crowded_node
from actors.kubelet.proving_grounds.full_node import full_node
from actors.kubelet.proving_grounds.short_node import short_node
from actors.kubelet.runtime import Runtime
from actors.kubelet.status import Facts
from actors.kubelet.status_writer import StatusWriter
from actors.shared.critical import CRITICAL_FROM, is_critical
from testbed.objects import Node, Pod, PodStatus, Quantity
from testbed.testing.mutant import Mutant
from testbed.turns.because import Because

# -- bugs in the life of a pod --------------------------------------------------------------------


class PublishesEarly(Lifecycle):
    """Publishes a terminal phase while the node still holds what the pod took."""

    def _facts(self, report: Report | None) -> Facts:
        return attrs.evolve(super()._facts(report), may_be_over=True)


class CountsNoTerminating(Lifecycle):
    """A pod that terminates takes no room any more."""

    def update(self, pod: Pod, *, is_gone: bool = False) -> None:
        super().update(pod, is_gone=is_gone)
        if pod.meta.is_terminating:
            self.holds_room = False


class ForgetsBackOff(Lifecycle):
    """Starts containers again as soon as they have ended."""

    async def _restart(self, ended_ms: int) -> None:
        self._back_off.wait_ms = 0
        await super()._restart(ended_ms)


class WaitsForNoRoom(Lifecycle):
    """Starts a pod at once, although others have to stop before."""

    @property
    def _awaited(self) -> list[Lifecycle]:
        return []


class WaitsForTheFirst(Lifecycle):
    """Waits for one of the pods that have to stop, and not for the others."""

    @property
    def _awaited(self) -> list[Lifecycle]:
        left = super()._awaited
        return left if len(left) == len(self._behind) else []


class KeepsOrphans(Lifecycle):
    """Does not end a pod that is deleted by force."""

    def update(self, pod: Pod, *, is_gone: bool = False) -> None:
        if not is_gone and pod.meta.grace_s != 0:
            super().update(pod)


class DeletesTooSoon(StatusWriter):
    """Deletes the object of a terminating pod that still runs."""

    def set(
        self, pod: Pod, status: PodStatus, *, is_stopped: bool, because: Because | None = None
    ) -> None:
        super().set(pod, status, is_stopped=True, because=because)


class DeletesByName(StatusWriter):
    """Its last delete of a pod names no uid, and is sent even if there is another by now."""

    async def _delete(self, entry: Any) -> None:
        meta = entry.pod.meta
        await self._client.sleep(1000, "slow")
        entry.pod = entry.pod.with_meta(uid="")
        await super()._delete(entry)
        entry.pod = entry.pod.with_meta(uid=meta.uid)


# -- bugs in eviction -----------------------------------------------------------------------------


class EvictsTwo(Evictor):
    """Evicts a second pod without another look."""

    def choice(
        self, found: Look, uses: list[PodUse], seen: Mapping[str, Observation]
    ) -> Evicting | None:
        self._again = partial(super().choice, found, seen=seen)
        self._uses_then = uses
        return super().choice(found, uses, seen)

    async def evict(self, chosen: Evicting) -> None:
        await super().evict(chosen)
        left = [each for each in self._uses_then if each.pod != chosen.pod]
        second = self._again(uses=left)
        if second is not None:
            await super().evict(second)


class EvictsCritical(Evictor):
    """Takes the first pod of the ranking, whatever it is."""

    def choice(
        self, found: Look, uses: list[PodUse], seen: Mapping[str, Observation]
    ) -> Evicting | None:
        plain = [
            attrs.evolve(each, pod=attrs.evolve(each.pod, spec=attrs.evolve(each.pod.spec,
                         priority=min(each.pod.priority, CRITICAL_FROM - 1))))
            for each in uses
        ]  # fmt: skip
        return super().choice(found, plain, seen)


class RanksByPriority(Evictor):
    """Evicts the pod of the lowest priority, also if it stays within its request."""

    def choice(
        self, found: Look, uses: list[PodUse], seen: Mapping[str, Observation]
    ) -> Evicting | None:
        able = [each for each in uses if not is_critical(each.pod)]
        least = sorted(able, key=lambda each: each.pod.priority)[:1]
        return super().choice(found, least, seen)


class SettlesOtherwise(Evictor):
    """Looks with settings that are not its own."""

    def made_of(self, seen: Mapping[str, Observation], now_ms: int) -> Look:
        return look(self.other(self.settings), self.state, seen, now_ms)

    def other(self, settings: EvictionSettings) -> EvictionSettings:
        """The settings that it looks with."""
        return settings


class ActsAtOnce(SettlesOtherwise):
    """Gives a soft threshold no grace."""

    def other(self, settings: EvictionSettings) -> EvictionSettings:
        hard = tuple(attrs.evolve(each, grace_ms=0) for each in settings.thresholds)
        return attrs.evolve(settings, thresholds=hard)


class ActsTooSoon(SettlesOtherwise):
    """Acts while more is available than a threshold demands."""

    def other(self, settings: EvictionSettings) -> EvictionSettings:
        more = ThresholdValue(Quantity.parse("250Mi"))
        higher = tuple(attrs.evolve(each, value=more) for each in settings.thresholds)
        return attrs.evolve(settings, thresholds=higher)


class KeepsPressure(SettlesOtherwise):
    """Reports a pressure for twice the transition period."""

    def other(self, settings: EvictionSettings) -> EvictionSettings:
        return attrs.evolve(settings, transition_ms=2 * settings.transition_ms)


# -- bugs where memory runs out -------------------------------------------------------------------


class ForgetsSystem(OomWatcher):
    """Takes all memory of the node to be there for pods."""

    def memory_of(self, node: Node) -> NodeMemory:
        return attrs.evolve(super().memory_of(node), system=0)


def the_biggest(processes: Iterable[Process], memory: NodeMemory, at_ms: int) -> list[OomKill]:
    """Kills what uses most, whatever its class and its request are."""
    alike = {each.pod.meta.uid: each.pod for each in processes}
    plain = [attrs.evolve(each, pod=Pod(each.pod.meta)) for each in processes]
    kills = killed(plain, memory, at_ms)
    return [attrs.evolve(each, pod=alike[each.pod.meta.uid]) for each in kills]


class KillsTheBiggest(Runtime):
    """Has a kernel that does not know `oom_score_adj`."""

    marks_memory = True
    kernel = staticmethod(the_biggest)


# -- all of them ----------------------------------------------------------------------------------


def with_parts(**parts: Any) -> Callable[..., None]:
    """The proving ground, with kubelets made of those parts."""
    return partial(busy_nodes, kubelet=type("MutatedKubelet", (Kubelet,), parts))


def evicting_by(evictor: type[Evictor]) -> Callable[..., None]:
    """The short node, with a kubelet that evicts so."""
    return partial(short_node, kubelet=type("MutatedKubelet", (Kubelet,), {"evictor": evictor}))


def killing_by(
    watcher: type[OomWatcher] = OomWatcher, runtime: type[Runtime] = Runtime
) -> Callable[..., None]:
    """The full node, with a kubelet that tells its kernel so, and a kernel that kills so."""
    kubelet = type("MutatedKubelet", (Kubelet,), {"oom_watcher": watcher})
    return partial(full_node, kubelet=kubelet, runtime=runtime)


def displacing_by(lifecycle: type[Lifecycle]) -> Callable[..., None]:
    """The crowded node, with a kubelet that runs its pods so."""
    return partial(
        crowded_node, kubelet=type("MutatedKubelet", (Kubelet,), {"lifecycle": lifecycle})
    )


WITHIN = "nodes_stay_within_memory"
RIGHT, SHORT = "evicts_the_right_pod", "evicts_only_when_short"
TWICE, ROOM, ENDS, DISTANCE = (
    "no_pod_runs_twice", "nodes_run_what_fits", "over_means_stopped",
    "restarts_keep_their_distance",
)  # fmt: skip
MUTANTS = (
    Mutant("over-too-early", "a phase is terminal before all is torn down",
           with_parts(lifecycle=PublishesEarly), ENDS),
    Mutant("counts-no-terminating", "a terminating pod takes no room",
           with_parts(lifecycle=CountsNoTerminating), ROOM),
    Mutant("waits-for-no-room", "a pod starts beside those that end for it",
           displacing_by(WaitsForNoRoom), ROOM),
    Mutant("waits-for-the-first", "a pod starts when the first of those has stopped",
           displacing_by(WaitsForTheFirst), ROOM),
    Mutant("forgets-back-off", "containers that crash are started again at once",
           with_parts(lifecycle=ForgetsBackOff), DISTANCE),
    Mutant("keeps-orphans", "what is deleted by force runs on",
           with_parts(lifecycle=KeepsOrphans), TWICE),
    Mutant("deletes-too-soon", "an object is deleted while its containers run",
           with_parts(writer=DeletesTooSoon), ENDS),
    Mutant("deletes-any-uid", "the last delete of a pod hits another one of that name",
           with_parts(writer=DeletesByName), ENDS),
    Mutant("evicts-two", "two pods are evicted after one look", evicting_by(EvictsTwo), RIGHT),
    Mutant("evicts-critical", "a critical pod is evicted", evicting_by(EvictsCritical), RIGHT),
    Mutant("ranks-by-priority", "a pod within its request goes before one that is not",
           evicting_by(RanksByPriority), RIGHT),
    Mutant("no-grace", "a soft threshold is acted on at once", evicting_by(ActsAtOnce), SHORT),
    Mutant("too-soon", "a pod is evicted while there is enough", evicting_by(ActsTooSoon), SHORT),
    Mutant("keeps-pressure", "a pressure stays too long", evicting_by(KeepsPressure), SHORT),
    Mutant("forgets-system", "pods get the memory that the system uses",
           killing_by(ForgetsSystem), WITHIN),
    Mutant("kills-the-biggest", "a guaranteed pod is killed before one that is not",
           killing_by(runtime=KillsTheBiggest), WITHIN),
)  # fmt: skip
"""Each mutant with the claim that must kill it."""
