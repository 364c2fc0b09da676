"""Look: what it would take that a pod fits on one node, and whether that will do."""

from __future__ import annotations

from collections.abc import Sequence

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.scheduler.decisions.decision import Candidate
from actors.scheduler.placing.feasibility import Feasibility
from actors.scheduler.preemption.affinity_to_victims import lacks_affinity, spare_for_affinity
from actors.scheduler.preemption.budgets import Budgets
from actors.scheduler.preemption.choice import keys_of
from actors.scheduler.preemption.cross_node import Far, Reach
from actors.scheduler.preemption.dry_run import DryRun, VictimSelector
from actors.scheduler.preemption.importance import by_importance, outranked_by
from actors.scheduler.preemption.lower import lower_nominated
from actors.scheduler.preemption.trial import AnyTrial, trial_of
from actors.scheduler.switches import SchedulerSwitches

PLUGIN = "DefaultPreemption"
NOBODY = Refusal(PLUGIN, ("No preemption victims found for incoming pod",), is_resolvable=False)
PROTECTED = Refusal(PLUGIN, ("node(s) had only victims that a budget protects",))
HERE = Far((), {}, 0)


class Preemptor:
    """One pod that wants room, and who may go for it; asked of one node after the other."""

    def __init__(
        self,
        feasibility: Feasibility,
        budgets: Budgets,
        switches: SchedulerSwitches,
        selector: VictimSelector,
        now_ms: int,
    ) -> None:
        self.pod = feasibility.pod
        self.snapshot = feasibility.snapshot
        self.tried = 0
        """How many sets of pods were tried."""
        self._feasibility, self._budgets = feasibility, budgets
        self._switches, self._selector = switches, selector
        self._now_ms = now_ms
        self._may_go = outranked_by(self.pod.pod, hostile=switches.hostile)
        self._by_importance = by_importance(switches, self.pod.pod, now_ms)
        self._reach = Reach(
            self.pod,
            feasibility.snapshot,
            self._may_go,
            self._by_importance,
            switches.cross_node_victims,
            switches.cross_node_nodes,
        )

    def at(self, node: NodeInfo) -> Candidate | Refusal | str:
        """What room there costs; why there can be none; or what went wrong (SCH-79 to SCH-88)."""
        potential = [info for info in node.pods if self._may_go(info)]
        if not potential and not self._switches.cross_node_victims:
            return NOBODY
        dry = self._emptied(trial_of(self._feasibility.judging, node.name), potential)
        if isinstance(dry, Refusal):
            return dry
        victims = self._selector.victims(dry)
        self.tried += dry.tried
        if not victims:
            return f'expected at least one victim pod on node "{node.name}"'
        return self._candidate(dry, victims)

    def _emptied(self, trial: AnyTrial, potential: list[PodInfo]) -> DryRun | Refusal:
        """The node without all that may go, if the pod fits there then; or if an experiment finds
        who else has to go, or who has to stay."""
        trial.remove_all(potential)
        far = HERE
        if not trial.fits():
            refusal = trial.refusal()
            assert refusal is not None
            spared = self._spared(trial, refusal, potential)
            potential = [info for info in potential if info not in spared]
            far = HERE if spared else self._far(trial)
            if not spared and not far.pods:
                return refusal
            potential += far.pods
        potential = self._by_importance(potential)
        groups = self._budgets.split(potential)
        return DryRun(self.pod, trial, potential, groups, far.home)

    def _spared(
        self, trial: AnyTrial, refusal: Refusal, potential: list[PodInfo]
    ) -> Sequence[PodInfo]:
        pods_max = self._switches.affinity_to_victims
        if not pods_max or not lacks_affinity(refusal):
            return ()
        important = self._by_importance(potential)
        namespaces = self._feasibility.snapshot.namespaces
        spared, tried = spare_for_affinity(self.pod, trial, important, pods_max, namespaces)
        self.tried += tried
        return spared

    def _far(self, trial: AnyTrial) -> Far:
        if not self._switches.cross_node_victims:
            return HERE
        far = self._reach.victims(trial)
        self.tried += far.tried
        return far

    def _candidate(self, dry: DryRun, victims: Sequence[PodInfo]) -> Candidate | Refusal:
        protected = {info.uid for info in dry.violating}
        violations = sum(info.uid in protected for info in victims) if protected else 0
        if violations and self._switches.pdb_mode == "strict":
            return PROTECTED
        if not self._switches.bug_victims_unsorted:
            victims = self._by_importance(victims)
        clear = self._switches.clear_lower
        lower = lower_nominated(self._feasibility, dry.node, victims, clear)
        return Candidate(
            dry.node,
            tuple(info.pod for info in victims),
            violations,
            tuple(info.pod for info in lower),
            keys_of(victims, violations, self._now_ms),
        )
