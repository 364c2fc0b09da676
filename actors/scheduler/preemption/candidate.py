"""Candidate: what it costs to make the preemptor fit on one node, if that can be done at all."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.scheduler.decisions.decision import Candidate
from actors.scheduler.decisions.pick import DEFAULT_PREEMPTION
from actors.scheduler.placing.feasibility import Feasibility
from actors.scheduler.preemption.affinity_to_victims import lacks_affinity, spare_for_affinity
from actors.scheduler.preemption.budgets import Budgets
from actors.scheduler.preemption.choice import keys_of
from actors.scheduler.preemption.cross_node import Far, Reach
from actors.scheduler.preemption.dry_run import DryRun, VictimSelector
from actors.scheduler.preemption.lower_nominations import lower_nominated
from actors.scheduler.preemption.preemptor import Preemptor
from actors.scheduler.preemption.trial import AnyTrial, trial_of
from actors.scheduler.preemption.victims import Fewest, Greedy

NO_VICTIMS = Refusal(
    DEFAULT_PREEMPTION, ("No preemption victims found for incoming pod",), is_resolvable=False
)
PROTECTED = Refusal(DEFAULT_PREEMPTION, ("node(s) had only victims that a budget protects",))
NO_FAR_PODS = Far((), {}, 0)


@attrs.frozen(eq=False)
class DryRunResult:
    """What a dry run on a node came to, kept on the node as long as that stays as it is."""

    of: tuple[object, ...] | None
    """What it depends on besides the node and the pods nominated there."""
    nominated: tuple[PodInfo, ...]
    """These pods."""
    at_ms: int | None
    """When it was, if that matters: for a pod that has not started."""
    result: Candidate | Refusal | str
    tried: int

    def is_of(
        self, of: tuple[object, ...] | None, nominated: tuple[PodInfo, ...], now_ms: int
    ) -> bool:
        """Whether a dry run on the same node would come to the same."""
        return self.of == of and self.nominated == nominated and self.at_ms in (None, now_ms)


class Evaluator:
    """Evaluates one node after another for one preemptor. Nothing is written: all is dry run."""

    # When many pods come at once, most are alike, and what one of them has written changes one node
    # of hundreds. So the result is kept on each node for the next pod, if it depends on nothing
    # else: where only resources matter, and no experiment and no class of the user's has a say.

    def __init__(
        self,
        preemptor: Preemptor,
        feasibility: Feasibility,
        budgets: Budgets,
        selector: VictimSelector,
    ) -> None:
        self.snapshot = feasibility.snapshot
        self.tried = 0
        """How many sets of pods were tried."""
        self._preemptor, self._feasibility = preemptor, feasibility
        self._budgets, self._selector = budgets, selector
        self._reach = Reach(preemptor, feasibility.snapshot)
        self._nominated = feasibility.judging.nominated
        self._of = self._depends_on()

    def candidate_on(self, node: NodeInfo) -> Candidate | Refusal | str:
        """The node as a candidate, with its victims (SCH-79 to SCH-88). A Refusal if no eviction
        helps there; the text of an error if something went wrong."""
        judging, pods = self._feasibility.judging, self._nominated.get(node.name) or ()
        own = self._preemptor.pod.uid
        is_own = bool(pods) and any(info.uid == own for info in pods)
        if self._of is None or is_own or judging.is_barred(node.name):
            return self._evaluated(node)
        known: DryRunResult | None = node.kept
        if known is None or not known.is_of(self._of, tuple(pods), self._preemptor.now_ms):
            known = node.kept = self._kept(node, tuple(pods))
        self.tried += known.tried
        return known.result

    def _kept(self, node: NodeInfo, nominated: tuple[PodInfo, ...]) -> DryRunResult:
        tried, self.tried = self.tried, 0
        result = self._evaluated(node)
        its_own, self.tried = self.tried, tried
        is_timeless = all(info.pod.status.start_ms is not None for info in node.pods)
        at_ms = None if is_timeless else self._preemptor.now_ms
        return DryRunResult(self._of, nominated, at_ms, result, its_own)

    def _depends_on(self) -> tuple[object, ...] | None:
        """What the results depend on besides the node; None if on more than can be compared."""
        asked, switches = self._feasibility.judging.only_room, self._preemptor.switches
        if asked is None or switches.cross_node_victims or switches.clear_lower != "all":
            return None
        if type(self._selector) not in (Greedy, Fewest):
            return None
        pod = self._preemptor.pod.pod
        return (
            asked[0], asked[1].amounts, pod.priority, pod.spec.scheduler_name, pod.status.qos_class,
            self._budgets.of, switches, self._selector,
        )  # fmt: skip

    def _evaluated(self, node: NodeInfo) -> Candidate | Refusal | str:
        may_go, switches = self._preemptor.may_go, self._preemptor.switches
        potential = [info for info in node.pods if may_go(info)]
        if not potential and not switches.cross_node_victims:
            return NO_VICTIMS
        dry = self._emptied(trial_of(self._feasibility.judging, node.name), potential)
        if isinstance(dry, Refusal):
            return dry
        victims = self._selector.victims(dry)
        self.tried += dry.tried
        if not victims:
            return f'expected at least one victim pod on node "{node.name}"'
        return self._candidate(dry, victims)

    def _emptied(self, trial: AnyTrial, potential: list[PodInfo]) -> DryRun | Refusal:
        """Remove all potential victims, and require that the preemptor fits then.

        If it does not, an experiment may find which of them must stay, or which pods of other nodes
        must go as well.
        """
        trial.remove_all(potential)
        far = NO_FAR_PODS
        if not trial.fits():
            refusal = trial.refusal()
            assert refusal is not None
            spared = self._spared(trial, refusal, potential)
            potential = [info for info in potential if info not in spared]
            far = NO_FAR_PODS if spared else self._far(trial)
            if not spared and not far.pods:
                return refusal
            potential += far.pods
        potential = self._preemptor.by_importance(potential)
        groups = self._budgets.split(potential)
        return DryRun(self._preemptor.pod, trial, potential, groups, far.nodes)

    def _spared(
        self, trial: AnyTrial, refusal: Refusal, potential: list[PodInfo]
    ) -> Sequence[PodInfo]:
        """The potential victims that stay because the preemptor must be near them (SCH-105)."""
        pods_max = self._preemptor.switches.affinity_to_victims
        if not pods_max or not lacks_affinity(refusal):
            return ()
        important = self._preemptor.by_importance(potential)
        spared, tried = spare_for_affinity(
            self._preemptor.pod, trial, important, pods_max, self.snapshot.namespaces
        )
        self.tried += tried
        return spared

    def _far(self, trial: AnyTrial) -> Far:
        """The pods of other nodes that must go as well (SCH-106)."""
        if not self._preemptor.switches.cross_node_victims:
            return NO_FAR_PODS
        far = self._reach.victims(trial)
        self.tried += far.tried
        return far

    def _candidate(self, dry: DryRun, victims: Sequence[PodInfo]) -> Candidate | Refusal:
        switches = self._preemptor.switches
        protected = {info.uid for info in dry.violating}
        violations = sum(info.uid in protected for info in victims) if protected else 0
        if violations and switches.pdb_mode == "strict":
            return PROTECTED
        # As in 1.26, the victims come with the protected ones first, each group sorted. So the
        # first need not be the most important one, though the choice of the node takes it for
        # that (SCH-87). Sorting them is the fix.
        if not switches.bug_victims_unsorted:
            victims = self._preemptor.by_importance(victims)
        lower = lower_nominated(self._feasibility, dry.node, victims, switches.clear_lower)
        return Candidate(
            dry.node,
            tuple([info.pod for info in victims]),
            violations,
            tuple([info.pod for info in lower]),
            keys_of(victims, violations, self._preemptor.now_ms),
        )
