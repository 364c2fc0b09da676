"""Decider: decides one cycle of one pod, from the snapshot to a Decision. It writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import attrs

from actors.framework.filter import Filter
from actors.framework.podinfo import PodInfo, info_of
from actors.framework.snapshot import Snapshot
from actors.scheduler.cluster.nominator import NOMINATION
from actors.scheduler.decisions.decision import KEEP, Decision, Preemption
from actors.scheduler.decisions.messages import NO_NODES, fit_error
from actors.scheduler.decisions.pick import Pick, the_first
from actors.scheduler.placing.feasibility import Feasibility
from actors.scheduler.placing.judging import Nominated
from actors.scheduler.placing.scoring import scores_of
from actors.scheduler.preemption import preempt
from actors.scheduler.preemption.dry_run import VictimSelector
from actors.scheduler.preemption.ignoring import without_less_important
from actors.scheduler.score import Score
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod, PodDisruptionBudget


class Nominations(Protocol):
    """What a cycle reads of the Nominator."""

    @property
    def nominated(self) -> Mapping[str, Sequence[PodInfo]]:
        """The pods that are nominated to each node, in order."""
        ...


class Decider:
    """Decides one pod after another, by its filters, its scores and the switches."""

    def __init__(
        self,
        switches: SchedulerSwitches,
        filters: Sequence[Filter],
        scores: Sequence[Score],
        pick: Pick = the_first,
        selector: VictimSelector | None = None,
    ) -> None:
        self._switches = switches
        self._filters = filters
        self._scores = scores
        self._pick = pick
        self._selector = selector
        self._start = 0
        """The row at which the next search for feasible nodes starts (SCH-55)."""

    # The loop passes these by position: a decider of the user's own may end in `*more`.
    def decide(
        self,
        pod: Pod,
        snapshot: Snapshot,
        nominations: Nominations,
        budgets: Sequence[PodDisruptionBudget] = (),
        known: Callable[[Pod], Pod | None] = lambda pod: pod,
        now_ms: int = 0,
    ) -> Decision:
        """Decide where the pod goes; or why it goes nowhere, and which pods must go for it.

        `known` reads the pod again from the informer, as preemption does (SCH-70).
        """
        if not snapshot.names:
            return Decision(pod, 0, nominate="", message=NO_NODES)
        found = self.feasibility(pod, snapshot, nominations)
        if found.error:
            return Decision(pod, len(snapshot), nominate="", message=found.error, is_error=True)
        if found.rows:
            return self._placed(found)
        preemption: Preemption | None = None
        if self._switches.disable_preemption:
            return _unschedulable(found, None)
        if self._switches.preemptor == "kubelet":
            return self._in_place_of_others(found) or _unschedulable(found, None)
        if self._switches.preemptor == "scheduler":
            preemption = preempt(
                found,
                known(found.pod.pod),
                budgets=budgets,
                switches=self._switches,
                pick=self._pick,
                now_ms=now_ms,
                selector=self._selector,
                nominated=self._nominated(found.pod, nominations),
            )
        return _unschedulable(found, preemption)

    def feasibility(self, pod: Pod, snapshot: Snapshot, nominations: Nominations) -> Feasibility:
        """Ask the filters. It counts as a cycle: the next search starts where this one stopped."""
        counts = self._switches.nominated_accounting == "ge_priority"
        nominated: Nominated = nominations.nominated if counts else {}
        own = NOMINATION[self._switches.nnn_storage](pod)
        found = Feasibility(
            info_of(pod),
            snapshot,
            self._filters,
            nominated,
            own=own if self._switches.own_nomination == "try_first" else "",
            start=self._start,
        )
        self._start = found.next_start
        return found

    def _nominated(self, pod: PodInfo, nominations: Nominations) -> str:
        """The node that the pod is nominated to, if its nomination is written before any victim
        goes (SCH-117); else empty."""
        if self._switches.nominate == "after_victims":
            return ""
        on_nodes = nominations.nominated.items()
        return next((node for node, on in on_nodes if any(i.uid == pod.uid for i in on)), "")

    def _in_place_of_others(self, found: Feasibility) -> Decision | None:
        """Place the pod as if no less important pod were there: its kubelet makes them go (CTL-54).
        None if it fits nowhere even so."""
        emptied = without_less_important(found.pod, found.snapshot)
        if emptied is None:
            return None
        start, self._start = self._start, 0
        again = self.feasibility(found.pod.pod, emptied, found.judging)
        self._start = start
        if not again.rows:
            return None
        return attrs.evolve(self._placed(again), displaces=True)

    def _placed(self, found: Feasibility) -> Decision:
        snapshot, pod = found.snapshot, found.pod
        names = best = found.feasible
        scores: Mapping[str, Mapping[str, int]] = {}
        if len(names) > 1:
            scored = scores_of(pod, snapshot, found.rows, self._scores)
            scores, best = scored, scored.best
        return Decision(
            pod.pod,
            len(snapshot),
            self._pick("node", best) if len(best) > 1 else best[0],
            feasible=names,
            refusals=found.refusals,
            scores=scores,
            best=best,
            failed=found.failed,
        )


def _unschedulable(found: Feasibility, preemption: Preemption | None) -> Decision:
    """The Decision for a pod that fits nowhere; no Preemption means that it is switched off."""
    nominate, tried = KEEP, ""
    if preemption is not None:
        nominate = _nomination(preemption)
        if preemption.said and preemption.code != "Error":
            tried = f"preemption: {preemption.said}"
    nodes = len(found.snapshot)
    return Decision(
        found.pod.pod,
        nodes,
        refusals=found.refusals,
        preemption=preemption,
        nominate=nominate,
        message=fit_error(nodes, found.reasons, found.said, tried),
        failed=found.failed,
    )


def _nomination(preemption: Preemption) -> str | None:
    """The pod's nomination after its preemption (SCH-74, SCH-101)."""
    # A search without a candidate shows that no node is worth waiting for: the nomination is
    # cleared. A pod that is not eligible may be waiting for its victims there, and after an error
    # nothing is known: in both cases it keeps its nomination.
    if preemption.chosen is not None:
        return preemption.chosen.node
    return "" if preemption.is_eligible and preemption.code != "Error" else KEEP
