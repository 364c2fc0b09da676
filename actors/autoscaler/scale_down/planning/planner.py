"""ScaleDownPlanner: which nodes are unneeded, since when, and which of them go now.

1. `update`, in every pass that has asked for no node: which nodes could be removed. The clocks of
   these run.
2. `choose`, unless scale-down is in cool-down: of those unneeded for long enough, the empty ones,
   or one that must be drained. The clock of a chosen node stops. So does the clock of each node
   with pods that would have gone to the same places: it begins again (CA-27).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import attrs

from actors.autoscaler.pass_record import (
    DELETE_STARTED,
    IN_PROGRESS,
    NO_NODE_DELETED,
    NO_UNNEEDED,
    Unremovable,
)
from actors.autoscaler.scale_down.deletions import Deletions
from actors.autoscaler.scale_down.drainability import DrainRules
from actors.autoscaler.scale_down.planning.destinations import Destinations
from actors.autoscaler.scale_down.planning.eligibility import candidates, eligible, is_disabled
from actors.autoscaler.scale_down.planning.limits import Removable
from actors.autoscaler.scale_down.planning.outlook import Outlook
from actors.autoscaler.scale_down.planning.removal import RemovalTrials
from actors.autoscaler.scale_down.planning.unneeded import Removal, UnneededClock, UnneededNodes
from actors.autoscaler.scale_down.planning.unremovable import (
    DISABLED,
    MIN_SIZE_REACHED,
    NOT_AUTOSCALED,
    NOT_UNNEEDED_LONG_ENOUGH,
    NOT_UNREADY_LONG_ENOUGH,
    OTHER_REASON,
    RESOURCE_LIMIT,
    UnremovableNodes,
)
from actors.autoscaler.scale_down.utilization import Utilization
from actors.autoscaler.settings import AutoscalerSettings
from actors.autoscaler.simulation.packer import Packer
from actors.autoscaler.state.readiness import is_ready
from testbed.objects import Node

POOL_MIN, POOL_PART = 50, 10
"""How many of the nodes that were needed in the pass before are tried: 50, or a tenth of all nodes
if that is more."""


@attrs.frozen
class Chosen:
    """What is deleted in this pass."""

    result: str
    empty: tuple[Node, ...] = ()
    drained: tuple[Node, ...] = ()


class ScaleDownPlanner:
    """The memory of scale-down between two passes, and its decisions; it writes nothing."""

    def __init__(
        self,
        settings: AutoscalerSettings,
        packer: Packer,
        deletions: Deletions,
        rules: DrainRules,
    ) -> None:
        self._settings = settings
        self._packer = packer
        self._deletions = deletions
        self._destinations = Destinations()
        self._trials = RemovalTrials(packer, self._destinations, rules)
        self.unneeded = UnneededNodes()
        self.unremovable = UnremovableNodes()
        self.utilization: Mapping[str, Utilization] = {}
        """Of the candidates of the last pass."""

    # -- which nodes are unneeded -----------------------------------------------------------------

    def update(self, outlook: Outlook) -> None:
        """Find the nodes that are unneeded now.

        1. Sort out the candidates by what can be seen of them. 2. Those that are empty are
        unneeded, as many as their group can lose. 3. For the others, try their removal: first those
        that were unneeded in the pass before, then some more.
        """
        settings, now_ms = self._settings, outlook.now_ms
        self._destinations.forget_before(now_ms - settings.unneeded_time_ms)
        self.unremovable.begin(outlook.simulation.nodes, now_ms)
        self._forget_imagined(outlook)
        looked_at = candidates(outlook)
        found = eligible(outlook, looked_at, self.unremovable, settings)
        empty = self._empty(outlook, found.names, Removable())
        others = [name for name in found.names if name not in empty]
        removals, staying = self._try_others(outlook, others)
        infos = outlook.simulation.nodes
        removals += [Removal(node) for name in empty if (node := infos[name].node) is not None]
        self.unneeded.update(removals, now_ms)
        for name, why in staying.items():
            self.unremovable.add(name, why, now_ms + settings.unremovable_recheck_ms)
        for name in looked_at:
            if name not in self.unneeded and not self.unremovable.has_reason(name):
                self.unremovable.add(name, Unremovable(OTHER_REASON))
        self._packer.age()
        self.utilization = found.utilization

    def _forget_imagined(self, outlook: Outlook) -> None:
        """A node that is still to come is another one in each pass, though it has the same name."""
        known = {node.meta.name for node in outlook.nodes}
        self._packer.forget_places({*outlook.simulation.snapshot.names} - known)

    def _try_others(
        self, outlook: Outlook, names: list[str]
    ) -> tuple[list[Removal], dict[str, Unremovable]]:
        """Try the removal of nodes that are not empty."""
        destinations = {node.meta.name for node in outlook.nodes}
        count = self._settings.non_empty_candidates_count
        if not count:
            return self._trials.try_all(outlook, names, destinations)
        known = [name for name in names if name in self.unneeded]
        new = [name for name in names if name not in self.unneeded]
        removals, staying = self._trials.try_all(outlook, known, destinations)
        more = min(count - len(removals), len(new))
        if more <= 0:
            return removals, staying
        pool = max(-(-len(outlook.simulation.snapshot) // POOL_PART), POOL_MIN)
        if more < len(new) or pool < len(new):
            new = outlook.order("candidates for scale-down", new)[:pool]
        added, also_staying = self._trials.try_all(outlook, new, destinations)
        return removals + added[:more], {**staying, **also_staying}

    def _empty(self, outlook: Outlook, names: Collection[str], left: Removable) -> list[str]:
        """The empty nodes that can go at once, by what their groups and the cluster can lose."""
        group_of, infos = outlook.group_of, outlook.simulation.nodes
        spare: dict[str, int] = {}
        found = []
        for name in self._trials.empty_among(outlook, names):
            group, node = group_of.get(name), infos[name].node
            if group is None or node is None:
                continue
            if group.name not in spare:
                running = self._deletions.count(group.name)
                spare[group.name] = group.target - group.min_size - running
            if spare[group.name] > 0 and left.allows(node):
                spare[group.name] -= 1
                left = left.without(node)
                found.append(name)
        return found

    # -- which nodes go ---------------------------------------------------------------------------

    def choose(self, outlook: Outlook) -> Chosen:
        """Choose the nodes that go now; none while a node is being drained (CA-28)."""
        if self._deletions.drained:
            return Chosen(IN_PROGRESS)
        left = self._left(outlook)
        removable = self._removable(outlook, left)
        if not removable:
            return Chosen(NO_UNNEEDED)
        empty = self._chosen_empty(outlook, removable, left)
        if empty:
            return Chosen(DELETE_STARTED, empty=self._leave(empty))
        drained = self._chosen_to_drain(outlook, removable)
        if not drained:
            return Chosen(NO_NODE_DELETED)
        return Chosen(DELETE_STARTED, drained=self._leave(drained))

    def _left(self, outlook: Outlook) -> Removable:
        """How much cpu and memory the cluster can lose. Nodes that are still to come count, too."""
        infos = outlook.simulation.nodes.values()
        return Removable.of(
            [info.node for info in infos if info.node is not None],
            self._settings.min_cores, self._settings.min_memory, outlook.now_ms,
        )  # fmt: skip

    def _removable(self, outlook: Outlook, left: Removable) -> dict[str, Removal]:
        """The nodes that have been unneeded for long enough, those without pods first."""
        found: list[Removal] = []
        for clock in self.unneeded.clocks:
            reason = self.reason_to_wait(outlook, clock, left)
            if reason:
                self.unremovable.add(clock.removal.name, Unremovable(reason))
            else:
                found.append(clock.removal)
        return {each.name: each for each in sorted(found, key=lambda each: bool(each.pods))}

    def reason_to_wait(self, outlook: Outlook, clock: UnneededClock, left: Removable) -> str:
        """Why an unneeded node does not go yet, or nothing. The time must be exceeded, not only
        reached (CA-27)."""
        settings, node = self._settings, clock.removal.node
        group = outlook.group_of.get(clock.removal.name)
        if is_disabled(node):
            return DISABLED
        if group is None:
            return NOT_AUTOSCALED
        unneeded_ms = outlook.now_ms - clock.since_ms
        if is_ready(node):
            if unneeded_ms <= settings.unneeded_time_ms:
                return NOT_UNNEEDED_LONG_ENOUGH
        elif unneeded_ms <= settings.unready_time_ms:
            return NOT_UNREADY_LONG_ENOUGH
        if group.target - self._deletions.count(group.name) <= group.min_size:
            return MIN_SIZE_REACHED
        return "" if left.allows(node) else RESOURCE_LIMIT

    def _chosen_empty(
        self, outlook: Outlook, removable: Mapping[str, Removal], left: Removable
    ) -> list[Removal]:
        """The empty nodes that go, up to a number. Their order matters only if not all go."""
        names = list(removable)
        count = len(self._trials.empty_among(outlook, names))
        if not count:
            return []
        chosen = self._empty(outlook, names, left)
        if len(chosen) < count or len(chosen) > self._settings.max_empty_bulk_delete:
            chosen = self._empty(outlook, outlook.order("empty nodes", names), left)
        return [removable[name] for name in chosen[: self._settings.max_empty_bulk_delete]]

    def _chosen_to_drain(self, outlook: Outlook, removable: Mapping[str, Removal]) -> list[Removal]:
        """The first node that can still be removed. Here nodes that are still to come are
        destinations, too."""
        names = list(removable)
        if len(names) > 1:
            names = outlook.order("nodes to drain", names)
        removals, staying = self._trials.try_all(outlook, names, outlook.simulation.nodes)
        for name, why in staying.items():
            self.unremovable.add(name, why)
        return removals[:1]

    def _leave(self, removals: list[Removal]) -> tuple[Node, ...]:
        """Stop the clocks of nodes that go, and of those that are tied to them."""
        for each in removals:
            unneeded = [clock.removal.name for clock in self.unneeded.clocks]
            for name in self._destinations.leave(each.name, unneeded):
                self.unneeded.drop(name)
        return tuple(each.node for each in removals)

    @property
    def is_waiting(self) -> bool:
        """Whether time alone may change what it decides: a clock runs, or a verdict is believed
        that may be wrong by now."""
        lasting = {DISABLED, NOT_AUTOSCALED, MIN_SIZE_REACHED, RESOURCE_LIMIT}
        reasons = self.unremovable.reasons
        names = self.unneeded.since_ms
        is_clock_running = any(
            name not in reasons or reasons[name].reason not in lasting for name in names
        )
        return is_clock_running or self.unremovable.has_doubtful

    def digest(self, now_ms: int) -> object:
        """What its next decisions depend on; times count from now."""
        clocks = tuple((name, at - now_ms) for name, at in self.unneeded.since_ms.items())
        return (
            clocks, self.unremovable.digest(now_ms), self._destinations.digest(now_ms),
            self._packer.digest(),
        )  # fmt: skip
