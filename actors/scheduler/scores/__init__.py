"""The scores: which of the feasible nodes is liked best, and by how much.

May use: score.
Siblings: no file here imports another.
"""

from __future__ import annotations

from actors.scheduler.score import Score
from actors.scheduler.scores.balanced import NodeResourcesBalancedAllocation
from actors.scheduler.scores.first_fit import FirstFitByName
from actors.scheduler.scores.inter_pod_affinity import InterPodAffinity
from actors.scheduler.scores.node_affinity import NodeAffinity
from actors.scheduler.scores.resources import NodeResourcesFit
from actors.scheduler.scores.taint_toleration import TaintToleration
from actors.scheduler.scores.topology_spread import PodTopologySpread

OTHERS: tuple[Score, ...] = (
    NodeResourcesBalancedAllocation(),
    TaintToleration(),
    NodeAffinity(),
    PodTopologySpread(),
    InterPodAffinity(),
)
PLACEMENTS: dict[str, tuple[Score, ...]] = {
    "least_allocated": (NodeResourcesFit(), *OTHERS),
    "most_allocated": (NodeResourcesFit(likes_full=True), *OTHERS),
    "first_fit_by_name": (FirstFitByName(),),
}
"""The scores of each placement, by the word of its switch."""
