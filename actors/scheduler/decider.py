"""Decider: one pod's cycle, from the cluster as it is to what is to be done; nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from actors.framework.filter import Filter
from actors.framework.podinfo import PodInfo, info_of
from actors.framework.snapshot import Snapshot
from actors.scheduler.cluster.nominator import NOMINATION
from actors.scheduler.decisions.decision import KEEP, Decision, Preemption
from actors.scheduler.decisions.messages import NO_NODES, fit_error
from actors.scheduler.placing.feasibility import Feasibility
from actors.scheduler.placing.judging import Nominated
from actors.scheduler.placing.scoring import scores_of
from actors.scheduler.preemption import preempt
from actors.scheduler.preemption.dry_run import VictimSelector
from actors.scheduler.score import Score
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod, PodDisruptionBudget

Pick = Callable[[str, Sequence[str]], str]
"""One of these, by its name, for the purpose named first; the dullest stands first."""


class Nominations(Protocol):
    """What a cycle asks of the Nominator."""

    @property
    def nominated(self) -> Mapping[str, Sequence[PodInfo]]:
        """The pods that are nominated to each node, in order."""
        ...


def the_first(purpose: str, names: Sequence[str]) -> str:
    """The dullest."""
    return names[0]


class Decider:
    """Decides of one pod after the other, by its filters and scores and by the switches."""

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

    def decide(
        self,
        pod: Pod,
        snapshot: Snapshot,
        nominations: Nominations,
        budgets: Sequence[PodDisruptionBudget] = (),
        known: Callable[[Pod], Pod | None] = lambda pod: pod,
        now_ms: int = 0,
    ) -> Decision:
        """Where it is to go; or why nowhere, and who has to go for it.

        `known` reads the pod again from what the informer has, as preemption does (SCH-70).
        """
        if not len(snapshot):
            return Decision(pod, 0, nominate="", message=NO_NODES)
        feasibility = self.feasibility(pod, snapshot, nominations)
        if feasibility.error:
            return Decision(
                pod, len(snapshot), nominate="", message=feasibility.error, is_error=True
            )
        if feasibility.rows:
            return self._placed(feasibility)
        return self._refused(feasibility, budgets, known, now_ms)

    def feasibility(self, pod: Pod, snapshot: Snapshot, nominations: Nominations) -> Feasibility:
        """What the filters say of it, in a cycle of its own."""
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

    def _refused(
        self,
        found: Feasibility,
        budgets: Sequence[PodDisruptionBudget],
        known: Callable[[Pod], Pod | None],
        now_ms: int,
    ) -> Decision:
        preemption: Preemption | None = None
        nominate, tried = KEEP, ""
        if not self._switches.disable_preemption:
            again = known(found.pod.pod)
            preemption = preempt(
                found, again, budgets, self._switches, self._pick, now_ms, self._selector
            )
            nominate = _nomination(preemption)
            if preemption.said and preemption.code != "Error":
                tried = f"preemption: {preemption.said}"
        return Decision(
            found.pod.pod,
            len(found.snapshot),
            refusals=found.refusals,
            preemption=preemption,
            nominate=nominate,
            message=fit_error(len(found.snapshot), found.reasons, found.said, tried),
            failed=found.failed,
        )


def _nomination(preemption: Preemption) -> str | None:
    """What becomes of a pod's nomination (SCH-74, SCH-101)."""
    if preemption.chosen is not None:
        return preemption.chosen.node
    return "" if preemption.is_eligible and preemption.code != "Error" else KEEP
