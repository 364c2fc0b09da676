"""The scores: how good each of the feasible nodes is for a pod.

May use: score.
Siblings: no file here imports another.
"""

from __future__ import annotations

from actors.scheduler.score import Score
from actors.scheduler.scores.balanced import BalancedAllocationScore
from actors.scheduler.scores.first_fit import FirstFitByNameScore
from actors.scheduler.scores.inter_pod_affinity import InterPodAffinityScore
from actors.scheduler.scores.node_affinity import NodeAffinityScore
from actors.scheduler.scores.resources import NodeResourcesFitScore
from actors.scheduler.scores.taint_toleration import TaintTolerationScore
from actors.scheduler.scores.topology_spread import PodTopologySpreadScore

OTHERS: tuple[Score, ...] = (
    BalancedAllocationScore(),
    TaintTolerationScore(),
    NodeAffinityScore(),
    PodTopologySpreadScore(),
    InterPodAffinityScore(),
)
PLACEMENTS: dict[str, tuple[Score, ...]] = {
    "least_allocated": (NodeResourcesFitScore(), *OTHERS),
    "most_allocated": (NodeResourcesFitScore(likes_full=True), *OTHERS),
    "first_fit_by_name": (FirstFitByNameScore(),),
}
"""The scores of each value of the switch `placement`."""
