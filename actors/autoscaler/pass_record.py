"""PassRecord: what one pass of the autoscaler saw, decided and did.

The autoscaler shows the last one to claims, under the name `pass`. It decides nothing by it.
"""

from __future__ import annotations

from fractions import Fraction

import attrs

EXPENDABLE, NOMINATED, SCHEDULABLE, YOUNG = "expendable", "nominated", "schedulable", "young"
DAEMON = "daemon"
LEFT, TRIGGERED, NO_OPTION, AWAITING = "left", "triggered", "no_option", "awaiting"
"""What becomes of a pod that is listed as unschedulable."""
UPCOMING = "upcoming"
"""Begins the name of a node that is still to come."""

NOT_TRIED, NOT_NEEDED, SUCCESSFUL = "NotTried", "NotNeeded", "Successful"
NO_OPTIONS, ERROR, IN_COOLDOWN = "NoOptionsAvailable", "Error", "InCooldown"
"""Results of a scale-up; some are results of a scale-down, too."""
NO_UNNEEDED, NO_NODE_DELETED = "NoUnneeded", "NoNodeDeleted"
DELETE_STARTED, IN_PROGRESS = "NodeDeleteStarted", "InProgress"
"""The other results of a scale-down."""


@attrs.frozen
class PodFate:
    """What becomes of one pod in a pass."""

    fate: str
    node: str = ""
    """Where it found room, or is nominated; `upcoming:g:0` is the first node that is still to come
    in group g."""
    why: str = ""
    """Why it was left, if it was."""
    rejected: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    """By group, why a new node of it would not help."""
    skipped: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    """By group, why the group was not considered."""
    drained_from: str = ""
    """The node that it is being drained from."""


@attrs.frozen
class OptionRecord:
    """A group that could help: how many nodes of it, for which pods."""

    group: str
    nodes: int
    pods: tuple[str, ...]


@attrs.frozen
class GroupResize:
    """A group gets larger."""

    group: str
    old: int
    new: int
    max_size: int

    def __str__(self) -> str:
        return f"{{{self.group} {self.old}->{self.new} (max: {self.max_size})}}"


@attrs.define
class ScaleUpRecord:
    """The half of a pass that makes the cluster larger."""

    result: str = NOT_TRIED
    options: tuple[OptionRecord, ...] = ()
    best: str = ""
    resizes: tuple[GroupResize, ...] = ()
    error: str = ""


@attrs.frozen
class Unremovable:
    """Why a node stays."""

    reason: str
    pod: str = ""
    """The pod that blocks, by its key."""
    pod_reason: str = ""


@attrs.define
class ScaleDownRecord:
    """The half of a pass that makes the cluster smaller."""

    ran: bool = False
    """Whether candidates were looked at."""
    in_cooldown: bool = False
    result: str = NOT_TRIED
    utilization: dict[str, tuple[Fraction, Fraction]] = attrs.field(factory=dict)
    """By node, the shares of its cpu and of its memory that are requested."""
    unneeded_since: dict[str, int] = attrs.field(factory=dict)
    """By node, in ms; as it was before nodes were chosen for deletion."""
    unremovable: dict[str, Unremovable] = attrs.field(factory=dict)
    deleting_empty: tuple[str, ...] = ()
    deleting_drain: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    """By node, the pods that are to move."""
    delete_results: dict[str, str] = attrs.field(factory=dict)
    """By node, what became of earlier deletions: `ok`, or what went wrong."""


@attrs.define
class PassRecord:
    """One pass."""

    at_ms: int
    pods: dict[str, PodFate] = attrs.field(factory=dict)
    """By key, the pods that were listed as unschedulable."""
    reasons: dict[str, str] = attrs.field(factory=dict)
    """By key, in words, why a pod got no node."""
    drained: dict[str, PodFate] = attrs.field(factory=dict)
    """By key, the pods of nodes that are being drained: treated as if they were pending."""
    upcoming: dict[str, int] = attrs.field(factory=dict)
    """By group, how many nodes are still to come."""
    scale_up: ScaleUpRecord = attrs.field(factory=ScaleUpRecord)
    scale_down: ScaleDownRecord = attrs.field(factory=ScaleDownRecord)
    status: dict[str, dict[str, str]] = attrs.field(factory=dict)
    """By group, and for the whole cluster under the empty name: Health, ScaleUp, ScaleDown."""
    error: str = ""
    """Why it ended in an error."""
    ended_early: bool = False
    """Whether it ended before pods were looked at."""

    def note(self, pod: str, fate: PodFate) -> None:
        """Note what became of the pod of that key."""
        (self.drained if fate.drained_from else self.pods)[pod] = fate

    def ago(self, now_ms: int) -> PassRecord:
        """The same with its times as distances from now."""
        since = {node: now_ms - at_ms for node, at_ms in self.scale_down.unneeded_since.items()}
        scale_down = attrs.evolve(self.scale_down, unneeded_since=since)
        return attrs.evolve(self, at_ms=now_ms - self.at_ms, scale_down=scale_down)
