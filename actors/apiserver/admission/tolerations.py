"""Tolerations: what pods tolerate by default, so that a short absence of a node ends no pod.

1. Each pod tolerates for 300 s that its node is not ready or unreachable, unless it says itself for
   how long (CTL-34).
2. A pod that requests anything tolerates memory pressure (KUB-39).
"""

from __future__ import annotations

from collections.abc import Iterable

from testbed.objects import Pod, Toleration, qos_of
from testbed.objects.affinity import NO_EXECUTE, NO_SCHEDULE
from testbed.objects.meta import evolved
from testbed.objects.pod import BEST_EFFORT

PREFIX = "node.kubernetes.io/"
ABSENT = (f"{PREFIX}not-ready", f"{PREFIX}unreachable")
ABSENT_S = 300
"""How long a pod stays on such a node by default (T-25)."""
WHILE_ABSENT = tuple(Toleration(key, "Exists", "", NO_EXECUTE, ABSENT_S) for key in ABSENT)
PRESSED = Toleration(f"{PREFIX}memory-pressure", "Exists", effect=NO_SCHEDULE)


def tolerating(pod: Pod) -> Pod:
    """The pod with the tolerations that every pod is given."""
    spec = pod.spec
    tolerations = spec.tolerations
    added = [each for each in WHILE_ABSENT if not _has(tolerations, each.key)]
    if PRESSED not in tolerations and qos_of(spec) != BEST_EFFORT:
        added.append(PRESSED)
    if not added:
        return pod
    return evolved(pod, spec=evolved(spec, tolerations=(*tolerations, *added)))


def _has(tolerations: Iterable[Toleration], key: str) -> bool:
    """Whether one of these speaks of that taint, for whatever time."""
    return any(each.key in (key, "") and each.effect in (NO_EXECUTE, "") for each in tolerations)
