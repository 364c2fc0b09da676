"""Scale-up: from the pods that ask for room to requests to the cloud (CA-17 to CA-20).

1. Groups that may not grow are skipped. For each of the others it finds out which pods a new
   node would help, and how many nodes they need. 2. The expanders choose one. 3. Limits of the
   whole cluster cut the number of nodes; groups that are alike may share it. 4. The cloud is asked,
   group by group; an error ends the pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from actors.autoscaler.expander import Expansion
from actors.autoscaler.memory import AutoscalerMemory
from actors.autoscaler.node_capacity import Amounts
from actors.autoscaler.pass_record import (
    ERROR,
    NO_OPTIONS,
    NOT_NEEDED,
    SUCCESSFUL,
    GroupResize,
    OptionRecord,
    ScaleUpRecord,
)
from actors.autoscaler.scale_up import limits
from actors.autoscaler.scale_up.balancing import are_alike, balanced
from actors.autoscaler.scale_up.options import Alike, Expansions, grouped, helped
from actors.autoscaler.simulation.simulation import Simulation
from actors.autoscaler.templates import NodeTemplate
from actors.framework.podinfo import PodInfo
from actors.shared.node_groups import GroupView
from testbed import ApiError
from testbed.objects import Node

BACKOFF, MAX_SIZE = "in backoff after failed scale-up", "max node group size reached"
NOT_READY = "not ready for scale-up"


class PassFailed(Exception):
    """What ends a pass in an error."""


@attrs.define(eq=False)
class ScaleUpOutcome:
    """What a scale-up has found out, and done."""

    record: ScaleUpRecord
    alike: list[Alike] = attrs.field(factory=list)
    skipped: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    """By group, why it was not considered."""
    chosen: tuple[PodInfo, ...] = ()
    """The pods for which the chosen group grows."""
    error: str = ""


class ScaleUp:
    """The scale-up of one pass."""

    def __init__(
        self,
        memory: AutoscalerMemory,
        simulation: Simulation,
        templates: Mapping[str, NodeTemplate],
        usable: Sequence[Node],
        now_ms: int,
    ) -> None:
        self._memory = memory
        self._simulation = simulation
        self._templates = templates
        self._usable = usable
        self._now_ms = now_ms

    async def for_pods(self, pods: Sequence[PodInfo]) -> ScaleUpOutcome:
        """Ask the cloud for nodes that help these pods."""
        outcome = ScaleUpOutcome(ScaleUpRecord(), grouped(pods))
        try:
            await self._run(outcome)
        except PassFailed as error:
            outcome.record.result, outcome.record.error = ERROR, str(error)
            outcome.error = str(error)
        return outcome

    async def to_minimum(self) -> ScaleUpOutcome:
        """Ask the cloud for the nodes that groups need to reach their minimum."""
        outcome = ScaleUpOutcome(ScaleUpRecord(NOT_NEEDED))
        try:
            left = self._left()
            resizes = [
                resize for group in self._memory.cloud.groups
                if (resize := self._up_to_minimum(group, left)) is not None
            ]  # fmt: skip
            if resizes:
                outcome.record.result = SUCCESSFUL
                await self._resize(outcome, resizes, "which has less than its minimum")
        except PassFailed as error:
            outcome.record.result, outcome.record.error = ERROR, str(error)
            outcome.error = str(error)
        return outcome

    # -- what could grow --------------------------------------------------------------------------

    async def _run(self, outcome: ScaleUpOutcome) -> None:
        upcoming = self._memory.state.upcoming()
        for name in upcoming:
            if name not in self._templates:
                raise PassFailed(f"failed to find template node for node group {name}")
        left = self._left()
        expansions = self._expansions(outcome, left)
        outcome.record.options = tuple(
            OptionRecord(each.group, each.nodes, tuple(sorted(pod.key for pod in each.pods)))
            for each in expansions.values()
        )
        if not expansions:
            outcome.record.result = NO_OPTIONS
            return
        best = self._best(list(expansions.values()))
        if best is None:
            outcome.record.result = NO_OPTIONS
            return
        outcome.record.best, outcome.chosen = best.group, best.pods
        memory, there = self._memory, len(self._usable) + sum(upcoming.values())
        nodes = self._within_total(best.nodes, there)
        nodes = limits.capped(nodes, best.template, left)
        groups = self._sharing(best, expansions)
        first, *others = best.pods
        more = f" and {len(others)} more" if others else ""
        why = (
            f"for pods/{first.key}{more}; a new one would be {memory.templates.origins[best.group]}"
        )
        await self._resize(outcome, balanced(groups, nodes), why)
        outcome.record.result = SUCCESSFUL

    def _expansions(self, outcome: ScaleUpOutcome, left: Amounts) -> dict[str, Expansion]:
        memory, expansions = self._memory, {}
        nodes_max = memory.settings.max_nodes_per_scaleup
        packing = Expansions(self._simulation, memory.round_robin, nodes_max)
        for group in memory.cloud.groups:
            why_not = self._why_not(group, left)
            if why_not:
                outcome.skipped[group.name] = (why_not,)
                continue
            template = self._templates[group.name]
            taken = helped(group.name, template, outcome.alike, self._simulation)
            if not taken:
                continue
            found = packing.of(group.name, template, taken)
            if found.pods and found.nodes:
                expansions[group.name] = found
        return expansions

    def _why_not(self, group: GroupView, left: Amounts) -> str:
        """Why a group may not grow; empty if it may."""
        state = self._memory.state
        if not state.is_group_healthy(group.name):
            return NOT_READY
        if state.backoff.is_on(group.name, self._now_ms):
            return BACKOFF
        if group.target >= group.max_size:
            return MAX_SIZE
        return self._exceeded(group, left)

    def _exceeded(self, group: GroupView, left: Amounts) -> str:
        if group.name not in self._templates:
            return NOT_READY
        exceeded = limits.exceeded(self._templates[group.name], left)
        return f"max cluster {', '.join(sorted(exceeded))} limit reached" if exceeded else ""

    def _best(self, expansions: Sequence[Expansion]) -> Expansion | None:
        """The one that is chosen; None if the expanders have kept none."""
        memory = self._memory
        kept, config = expansions, memory.listers.settings()
        for each in memory.expanders:
            kept = each.best(kept, config)
            if len(kept) < 2:
                break
        if not kept:
            return None
        names = [each.group for each in kept]
        name = memory.client.pick("node group", names) if len(names) > 1 else names[0]
        return next(each for each in kept if each.group == name)

    # -- how much of it ---------------------------------------------------------------------------

    def _left(self) -> Amounts:
        memory = self._memory
        try:
            return limits.left(memory.settings, memory.cloud, self._templates, self._usable)
        except limits.NoTemplate as error:
            raise PassFailed(f"could not compute total resources: {error}") from error

    def _within_total(self, nodes: int, there: int) -> int:
        most = self._memory.settings.max_nodes_total
        if not most or nodes + there <= most:
            return nodes
        self._memory.announcer.warn(
            "MaxNodesTotalReached", f"Max total nodes in cluster reached: {most}"
        )
        if most - there < 1:
            raise PassFailed("max node total count already reached")
        return most - there

    def _sharing(self, best: Expansion, expansions: Mapping[str, Expansion]) -> list[GroupView]:
        """The chosen group, and the groups that are alike and help the same pods."""
        memory = self._memory
        groups = [each for each in memory.cloud.groups if each.name == best.group]
        if not memory.settings.balance_similar_node_groups:
            return groups
        needed = {pod.uid for pod in best.pods}
        for group in memory.cloud.groups:
            other = expansions.get(group.name)
            if group.name == best.group or other is None:
                continue
            helps_all = needed <= {pod.uid for pod in other.pods}
            if helps_all and are_alike(best.template, other.template):
                groups.append(group)
        return groups

    def _up_to_minimum(self, group: GroupView, left: Amounts) -> GroupResize | None:
        state = self._memory.state
        missing = group.min_size - group.target
        if missing <= 0 or not state.may_grow(group.name, self._now_ms):
            return None
        if self._exceeded(group, left):
            return None
        nodes = limits.capped(missing, self._templates[group.name], left)
        try:
            # 1.26 compares the limit of the whole cluster with the target of this group.
            new = group.target + self._within_total(nodes, group.target)
        except PassFailed:
            return None
        return GroupResize(group.name, group.target, new, group.max_size)

    # -- asking the cloud -------------------------------------------------------------------------

    async def _resize(
        self, outcome: ScaleUpOutcome, resizes: Sequence[GroupResize], why: str
    ) -> None:
        for resize in resizes:
            await self._ask(resize, why)
        outcome.record.resizes = tuple(resizes)
        self._memory.state.recalculate()

    async def _ask(self, resize: GroupResize, why: str) -> None:
        memory, announcer = self._memory, self._memory.announcer
        group = memory.cloud.group(resize.group)
        assert group is not None
        sizes = f"{resize.new} instead of {resize.old} (max: {resize.max_size})"
        nodes = "1 node" if resize.new == 1 else f"{resize.new} nodes"
        said = (
            f"wanted {nodes} in {resize.group} instead of the {resize.old} that it knew of, {why}"
        )
        because = memory.client.record("wants nodes", group=resize.group, said=said)
        announcer.say("ScaledUpGroup", f"Scale-up: setting group {resize.group} size to {sizes}")
        try:
            await memory.cloud.increase(group, resize.new - resize.old, because)
        except ApiError as error:
            announcer.warn(
                "FailedToScaleUpGroup", f"Scale-up failed for group {resize.group}: {error}"
            )
            memory.state.backoff.failed(resize.group, self._now_ms)
            raise PassFailed(f"failed to increase node group size: {error}") from error
        now_ms = memory.client.now()
        memory.state.asked(resize.group, resize.new - resize.old, now_ms)
        announcer.say("ScaledUpGroup", f"Scale-up: group {resize.group} size set to {sizes}")
