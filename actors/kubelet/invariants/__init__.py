"""What must hold of kubelets: claims over what was started, written and is left on the nodes.

They read the truth, the node's Runtime, and what was committed; none asks a kubelet what it thinks.

May use: runtime, kubelet.
In order: on_nodes, together; then siblings, __init__.
"""

from __future__ import annotations

from actors.kubelet.invariants.back_off import RestartsKeepTheirDistance
from actors.kubelet.invariants.double_run import NoPodRunsTwice
from actors.kubelet.invariants.endings import OverMeansStopped
from actors.kubelet.invariants.overbooking import NodesAreNotOverbooked
from actors.kubelet.invariants.overcommit import NodesRunWhatFits
from testbed import Invariant

__all__ = [
    "NoPodRunsTwice",
    "NodesAreNotOverbooked",
    "NodesRunWhatFits",
    "OverMeansStopped",
    "RestartsKeepTheirDistance",
    "kubelet_claims",
]


def kubelet_claims() -> tuple[Invariant, ...]:
    """All claims about kubelets, for a World that has some: `world.claim(*kubelet_claims())`."""
    return (
        NoPodRunsTwice(), NodesRunWhatFits(), NodesAreNotOverbooked(), OverMeansStopped(),
        RestartsKeepTheirDistance(),
    )  # fmt: skip
