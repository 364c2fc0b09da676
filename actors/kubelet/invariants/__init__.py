"""What must hold of kubelets: claims over what was started, written and is left on the nodes.

They read the truth, the node's Runtime, and what was committed; none asks a kubelet what it thinks.

May use: switches, containers, oom, eviction, meter, runtime, evictor, kubelet.
In order: on_nodes, together, measured_nodes; then siblings, __init__.
"""

from __future__ import annotations

from actors.kubelet.invariants.back_off import RestartsKeepTheirDistance
from actors.kubelet.invariants.double_run import NoPodRunsTwice
from actors.kubelet.invariants.endings import OverMeansStopped
from actors.kubelet.invariants.evicted_pods import EvictsTheRightPod
from actors.kubelet.invariants.oom_kills import NodesStayWithinMemory
from actors.kubelet.invariants.overbooking import NodesAreNotOverbooked
from actors.kubelet.invariants.overcommit import NodesRunWhatFits
from actors.kubelet.invariants.thresholds import EvictsOnlyWhenShort
from testbed import Invariant

__all__ = [
    "EvictsOnlyWhenShort",
    "EvictsTheRightPod",
    "NoPodRunsTwice",
    "NodesAreNotOverbooked",
    "NodesRunWhatFits",
    "NodesStayWithinMemory",
    "OverMeansStopped",
    "RestartsKeepTheirDistance",
    "kubelet_claims",
]


def kubelet_claims(*, strict: bool = False) -> tuple[Invariant, ...]:
    """All claims about kubelets, for a World that has some: `world.claim(*kubelet_claims())`. If
    `strict`, a pod may not run twice even if somebody has deleted the first by force."""
    return (
        NoPodRunsTwice(strict=strict), NodesRunWhatFits(), NodesAreNotOverbooked(),
        OverMeansStopped(), RestartsKeepTheirDistance(), EvictsTheRightPod(),
        EvictsOnlyWhenShort(), NodesStayWithinMemory(),
    )  # fmt: skip
