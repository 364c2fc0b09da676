"""Decision: what a scheduler has decided for one pod in one cycle, and why."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from actors.framework.refusal import Refusal
from testbed.objects import Pod


@attrs.frozen
class Candidate:
    """A node that would be feasible if some pods were evicted from it."""

    node: str
    victims: tuple[Pod, ...]
    """The pods to evict, in the order in which they could not be reprieved (SCH-87)."""
    violations: int = 0
    """How many of them violate a PodDisruptionBudget."""
    lower: tuple[Pod, ...] = ()
    """Nominated pods of lower priority, which lose their nomination if this node is chosen."""
    keys: tuple[int, ...] = ()
    """K1 to K5, by which candidates are compared: the smaller the better (SCH-92)."""


@attrs.frozen
class Preemption:
    """The result of preemption for a pod that has no feasible node."""

    is_eligible: bool
    said: str = ""
    """Why nothing was done, as it stands in the message."""
    code: str = ""
    """`Success`, `Unschedulable` or `Error`, as in Kubernetes."""
    candidates: Mapping[str, Candidate] = attrs.field(factory=dict)
    refusals: Mapping[str, Refusal] = attrs.field(factory=dict)
    """Why each other node that was looked at is no candidate."""
    chosen: Candidate | None = None
    tied: tuple[str, ...] = ()
    """The candidates that no key tells apart, the chosen one among them."""
    tried: int = 0
    """How many sets of victims an experimental policy has tried."""


KEEP = None
"""The value of `nominate` that leaves a nomination as it is."""


@attrs.frozen
class Decision:
    """The outcome of one scheduling cycle of one pod. Nothing has been written yet."""

    pod: Pod
    nodes: int
    """The number of nodes in the Snapshot."""
    node: str = ""
    """The node chosen for it; empty: none."""
    feasible: tuple[str, ...] = ()
    """The feasible nodes among those that were looked at."""
    refusals: Mapping[str, Refusal] = attrs.field(factory=dict)
    """Why each other node that was looked at is not feasible."""
    scores: Mapping[str, Mapping[str, int]] = attrs.field(factory=dict)
    """The points of each feasible node, by score; empty if there was nothing to compare."""
    best: tuple[str, ...] = ()
    """The nodes that scored best; one of them was picked."""
    displaces: bool = False
    """Whether less important pods were ignored, which its kubelet has to end first (CTL-54)."""
    preemption: Preemption | None = None
    nominate: str | None = KEEP
    """The node it is nominated to from now on; empty: none; KEEP: no change."""
    message: str = ""
    """Why it is not scheduled: the message of its PodScheduled condition."""
    is_error: bool = False
    """Whether that is an error rather than a lack of feasible nodes."""
    failed: tuple[str, ...] = ()
    """The filters that refused it on some node; the queue waits for their events."""
