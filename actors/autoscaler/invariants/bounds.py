"""Bounds: how far an autoscaler lets groups grow and shrink, by what it asks of the cloud (INV-35).

They look at each call as it is served, whatever the cloud answers.
"""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from actors.autoscaler.autoscaler import Autoscaler
from actors.autoscaler.invariants.passes import is_ready
from actors.autoscaler.pass_sight import PassSight
from testbed import Evidence, Invariant
from testbed.invariant import SERVED
from testbed.turns.found import TOO_MANY, Found, Wrong
from testbed.turns.trace import Step

GROUPS = "nodegroups"


@attrs.define
class _Group:
    """What one life of an autoscaler has done to one group."""

    life: int
    grew_ms: int | None = None
    """When the last pass that made it grow began."""
    refused_ms: int | None = None
    """When the last pass began that the cloud refused, while no request was open."""
    lowered: bool = False
    """Whether anything but a deletion of good nodes has lowered its target."""


class GroupsStayInBounds(Invariant):
    """No autoscaler asks for more nodes than the group or the cluster may have, nor for any of a
    group that has just refused; and it deletes no good node of a group that is at its minimum.

    Sizes are mended down without regard to the minimum (CA-6, CA-7), and a target that somebody
    else has set too high is left alone. So only what it asks for is judged. The planner for
    parallel drains asks about each node alone whether its group can lose one. So it may take a
    group below its minimum if the provider lets it: that is not judged (CA-27).
    """

    name = "groups_stay_in_bounds"
    breach_reason = TOO_MANY
    reads = frozenset({"log:nodegroups", "log:cloudinstances"})
    looks_at: ClassVar[frozenset[str]] = frozenset({SERVED})

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], _Group] = {}
        """By autoscaler and group."""
        self._asked: dict[str, tuple[PassSight, int]] = {}
        """By autoscaler, its last pass that has asked for nodes, and for how many."""
        self._lowered: set[str] = set()
        """The groups with a target that something other than a live autoscaler may have changed."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        request = evidence.served
        if request is None or request.operation.plural != GROUPS or not request.is_served:
            return None
        if request.operation.verb == "adjust":
            self._note_lowered(request.operation.name)
            return None
        if not isinstance(request.role.actor, Autoscaler) or not request.life.is_alive:
            self._note_lowered(request.operation.name)
            return None
        wrong = ""
        sight: PassSight | None = request.life.shown.get("sight")
        if sight is not None and request.operation.verb == "increase":
            wrong = self._wrong_with_growth(request, sight)
        elif request.operation.verb == "decrease":
            self._note_lowered(request.operation.name)
        elif request.operation.verb == "delete-nodes":
            wrong = self._wrong_with_deletion(request, evidence)
        if not wrong:
            return None
        who, group = request.role.name, f"{GROUPS}/{request.operation.name}"
        gone = request.operation.body if request.operation.verb == "delete-nodes" else ()
        nodes = (f"nodes/{name}" for name in gone)
        return Found.of(f"{who} {wrong}", group, *nodes, fields="target", actors=who)

    def _of(self, request: Any) -> _Group:
        """What this life has done to the group. What an earlier life did is forgotten, though one
        of its requests may still arrive: then the target falls without this life's knowledge."""
        key, life = (request.role.name, request.operation.name), request.life.number
        known = self._groups.get(key)
        if known is None or known.life != life:
            is_known = request.operation.name not in self._lowered
            known = self._groups[key] = _Group(life, lowered=life > 1 or not is_known)
        return known

    def _note_lowered(self, group: str) -> None:
        self._lowered.add(group)
        for (_, name), known in self._groups.items():
            known.lowered |= name == group

    # -- growing ----------------------------------------------------------------------------------

    def _wrong_with_growth(self, request: Any, sight: PassSight) -> str:
        name, by = request.operation.name, request.operation.options["by"]
        group = next((each for each in sight.groups if each.name == name), None)
        if group is None:
            return f"lets {name} grow, which it has not seen"
        known, settings = self._of(request), request.role.actor.settings
        seen = request.operation.options.get("seen", group.target)
        if seen + by > group.max_size:
            return f"asks for {seen + by} nodes of {name}, which may have {group.max_size}"
        ago_ms = None if known.refused_ms is None else sight.at_ms - known.refused_ms
        if ago_ms is not None and ago_ms < settings.initial_backoff_ms:
            return f"asks for a node of {name}, which has refused {ago_ms} ms before"
        if wrong := self._beyond(request, sight, by):
            return wrong
        self._note_growth(known, request, sight)
        return ""

    def _note_growth(self, known: _Group, request: Any, sight: PassSight) -> None:
        settings = request.role.actor.settings
        open_ms = settings.max_node_provision_time_ms
        is_open = known.grew_ms is not None and sight.at_ms <= known.grew_ms + 2 * open_ms
        if request.error is None:
            known.grew_ms, known.refused_ms = sight.at_ms, None
        elif not is_open:
            known.refused_ms = sight.at_ms

    def _beyond(self, request: Any, sight: PassSight, by: int) -> str:
        """What is wrong with the size of the whole cluster then."""
        settings = request.role.actor.settings
        last = self._asked.get(request.role.name)
        asked = by + (last[1] if last is not None and last[0] is sight else 0)
        self._asked[request.role.name] = sight, asked
        if not settings.max_nodes_total or settings.enforce_node_group_min_size:
            return ""
        there = sum(is_ready(node) and not node.spec.unschedulable for node in sight.nodes)
        if there + asked > settings.max_nodes_total:
            return f"asks for {asked} nodes beside {there}: at most {settings.max_nodes_total}"
        return ""

    # -- shrinking --------------------------------------------------------------------------------

    def _wrong_with_deletion(self, request: Any, evidence: Evidence) -> str:
        known, name = self._of(request), request.operation.name
        entry = evidence.store.peek(f"{GROUPS}/{name}")
        if entry is None or request.error is not None:
            return ""
        group: Any = entry.value
        is_alone = sum(isinstance(role.actor, Autoscaler) for role in evidence.actors) == 1
        if not is_alone or not self._are_good(request.operation.body, evidence):
            self._note_lowered(name)
            known.lowered = True
        may_be_less = known.lowered or request.role.actor.settings.parallel_drain
        if may_be_less or group.target >= group.min_size:
            return ""
        gone = ", ".join(request.operation.body)
        return f"deletes {gone}: {name} keeps {group.target} nodes, and needs {group.min_size}"

    def _are_good(self, names: tuple[str, ...], evidence: Evidence) -> bool:
        """Whether all of these machines have come up."""
        machines: list[Any] = [
            entry.value for name in names
            if (entry := evidence.store.peek(f"cloudinstances/{name}")) is not None
        ]  # fmt: skip
        fails = (each.fails_ms for each in machines)
        return not any(at_ms is not None and at_ms <= evidence.now_ms for at_ms in fails)
