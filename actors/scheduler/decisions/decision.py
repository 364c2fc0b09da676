"""Decision: what a scheduler has decided of one pod, and why: all that a story can tell of it."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from actors.framework.refusal import Refusal
from testbed.objects import Pod


@attrs.frozen
class Candidate:
    """A node that would take the pod if so many others went."""

    node: str
    victims: tuple[Pod, ...]
    """In the order in which they could not be spared (SCH-87)."""
    violations: int = 0
    """How many of them a budget protects."""
    lower: tuple[Pod, ...] = ()
    """The less important pods nominated there, which lose that if it is chosen."""
    keys: tuple[int, ...] = ()
    """K1 to K5: the smaller the better (SCH-92)."""


@attrs.frozen
class Preemption:
    """Whether room could be made for a pod that fits nowhere, and what it takes."""

    is_eligible: bool
    said: str = ""
    """Why nothing was done, as the message has it."""
    code: str = ""
    """`Success`, `Unschedulable` or `Error`, as the real one has it."""
    candidates: Mapping[str, Candidate] = attrs.field(factory=dict)
    refusals: Mapping[str, Refusal] = attrs.field(factory=dict)
    """Why each other node that was looked at is none."""
    chosen: Candidate | None = None
    tied: tuple[str, ...] = ()
    """The nodes that were as good, the chosen one among them."""
    tried: int = 0
    """How many sets of pods an experimental policy has tried."""


KEEP = None
"""What `nominate` is when a nomination stays as it is."""


@attrs.frozen
class Decision:
    """One cycle of one pod. Nothing has been written yet."""

    pod: Pod
    nodes: int
    """How many nodes there were."""
    node: str = ""
    """Where it is to go; empty: nowhere."""
    feasible: tuple[str, ...] = ()
    """The nodes that would take it, among those that were looked at."""
    refusals: Mapping[str, Refusal] = attrs.field(factory=dict)
    """Why each other node that was looked at would not."""
    scores: Mapping[str, Mapping[str, int]] = attrs.field(factory=dict)
    """Of each feasible node, by score; empty if there was nothing to weigh."""
    best: tuple[str, ...] = ()
    """The nodes that scored best; one of them was picked."""
    preemption: Preemption | None = None
    nominate: str | None = KEEP
    """The node it is nominated to from now on; empty: to none any more; KEEP: as it was."""
    message: str = ""
    """Why it is not scheduled, as its condition says it."""
    is_error: bool = False
    """Whether that is because something went wrong, not because there is no room."""
    failed: tuple[str, ...] = ()
    """The filters that refused it anywhere; an event that concerns none of them is no news."""
