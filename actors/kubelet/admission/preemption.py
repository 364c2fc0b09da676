"""Preemption: which pods a kubelet kills to admit a critical one (KUB-12 to KUB-14)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from actors.kubelet.admission.predicates import PODS
from actors.shared.critical import may_preempt
from testbed.objects import Pod, requests_of
from testbed.objects.pod import BEST_EFFORT, BURSTABLE, GUARANTEED, qos_of

Shortfall = Mapping[str, int]
"""How much is to become free of each resource, in the order in which they were found lacking."""
CLASSES = (GUARANTEED, BURSTABLE, BEST_EFFORT)


class NotEnough(Exception):
    """All pods that may be killed are not enough; the text says what would still be lacking."""


def victims_for(pod: Pod, active: Iterable[Pod], shortfall: Shortfall) -> tuple[Pod, ...]:
    """The pods to kill, in order; NotEnough.

    1. The fewest guaranteed pods that suffice if all others go. 2. The fewest burstable ones that
    suffice if those and all best-effort pods go. 3. The fewest best-effort pods that are still
    needed. Priority does not order within a class.
    """
    candidates = [each for each in active if may_preempt(pod, each)]
    lacking = _less(shortfall, candidates)
    if lacking:
        lacks = "".join(f"(res: {name}, q: {amount}), " for name, amount in lacking.items())
        raise NotEnough(f"no set of running pods found to reclaim resources: [{lacks}]")
    pools = {name: [each for each in candidates if qos_of(each.spec) == name] for name in CLASSES}
    chosen: list[Pod] = []
    for name in CLASSES:
        pool = pools.pop(name)
        later = [each for others in pools.values() for each in others]
        chosen = [*_nearest(pool, _less(shortfall, [*later, *chosen])), *chosen]
    return tuple(chosen)


def _nearest(pool: Sequence[Pod], shortfall: Shortfall) -> list[Pod]:
    """Take the pod that comes nearest to what is lacking, until nothing is lacking. Of equal pods
    the last one is taken. The last pod of the pool moves into the place of one that is taken."""
    left, chosen = list(pool), []
    while shortfall:
        best = 0
        for place, each in enumerate(left):
            if _key(each, shortfall) <= _key(left[best], shortfall):
                best = place
        last = left.pop()
        taken = last
        if best < len(left):
            taken, left[best] = left[best], last
        chosen.append(taken)
        shortfall = _less(shortfall, [taken])
    return chosen


def _key(pod: Pod, shortfall: Shortfall) -> tuple[float, int, int]:
    return _distance(pod, shortfall), _asks(pod, "memory"), _asks(pod, "cpu")


def _distance(pod: Pod, shortfall: Shortfall) -> float:
    """What would still be lacking, as a part of what is: the sum of the squares."""
    # In floats, as the real one: by exact fractions other pods would be equally near.
    distance = 0.0
    for name, amount in shortfall.items():
        share = max(amount - _asks(pod, name), 0) / amount
        distance += share * share
    return distance


def _less(shortfall: Shortfall, pods: Iterable[Pod]) -> Shortfall:
    """What is lacking if these pods go."""
    gone = list(pods)
    lacking = {
        name: amount - sum(_asks(each, name) for each in gone) for name, amount in shortfall.items()
    }
    return {name: amount for name, amount in lacking.items() if amount > 0}


def _asks(pod: Pod, name: str) -> int:
    return 1 if name == PODS else requests_of(pod).get(name, 0)
