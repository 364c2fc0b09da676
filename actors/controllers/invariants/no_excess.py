"""No pod too many at any time, in a World where no controller crashes and no reply is lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from testbed import Evidence, Invariant
from testbed.invariant import COMMIT, RECORD
from testbed.objects import Pod, ReplicaSet
from testbed.objects.meta import key_of
from testbed.turns.found import TOO_MANY, Found, Wrong
from testbed.turns.trace import Step


class PodsAreCreatedOnce(Invariant):
    """A ReplicaSet never has more active pods than it ever wanted (CTL-2)."""

    name = "pods_are_created_once"
    breach_reason = TOO_MANY
    reads = frozenset({"log:pods", "log:replicasets"})
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self) -> None:
        self._most: dict[str, int] = {}
        """By the uid of a ReplicaSet, the most pods that it has wanted."""
        self._active: dict[str, set[str]] = {}
        """By the same, the uids of its active pods."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for change in evidence.changes:
            old: Any = change.before
            new: Any = change.after
            item = old if new is None else new
            if isinstance(item, ReplicaSet) and new is not None:
                uid, wanted = item.meta.uid, size_of(item)
                self._most[uid] = max(wanted, self._most.get(uid, 0))
            elif isinstance(item, Pod) and (wrong := self._wrong(item, is_gone=new is None)):
                return wrong
        return None

    def _wrong(self, pod: Pod, *, is_gone: bool) -> Found | None:
        uid = next((each.uid for each in pod.meta.owners if each.controller), "")
        active = self._active.setdefault(uid, set())
        if is_gone or pod.is_over or pod.meta.is_terminating:
            active.discard(pod.meta.uid)
            return None
        active.add(pod.meta.uid)
        most = self._most.get(uid, len(active))
        if len(active) > most:
            owners = (each.name for each in pod.meta.owners if each.controller)
            text = f"{pod.key} is one too many: its owner never wanted more than {most}"
            keys = (key_of(ReplicaSet, name, pod.meta.namespace) for name in owners)
            return Found.of(text, pod, *keys, fields="spec.replicas")
        return None


class RolloutsKeepTheirBounds(Invariant):
    """No step of a rollout makes the ReplicaSets of a Deployment want more pods together than its
    `replicas` and the surge. While no new pod is available, the old ReplicaSets want at least as
    many pods as must be available.

    Both are judged by what the controller has heard of the ReplicaSets. It has no expectations: if
    the news of one ReplicaSet is late, it may create another with all the pods.

    Once new pods are available, no least number is claimed. The status of a ReplicaSet still counts
    pods that it has just begun to delete, so a rollout may take too many old pods. Kubernetes does
    that, too.
    """

    name = "rollouts_keep_their_bounds"
    breach_reason, breach_fields = TOO_MANY, ("spec.replicas",)
    reads = frozenset({"records"})
    looks_at: ClassVar[frozenset[str]] = frozenset({RECORD})

    def __init__(self) -> None:
        self._seen = 0
        """How many records it has looked at."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        new, self._seen = evidence.records[self._seen :], len(evidence.records)
        said = (_beyond(record.facts) for record in new if record.name == "rollout")
        return next(filter(None, said), None)


def _beyond(step: Mapping[str, Any]) -> str:
    """What is wrong with one step of a rollout; empty if nothing is."""
    sizes = step["sizes"]
    total, most = sum(sizes.values()), step["wanted"] + step["surge"]
    before = total - sizes[step["new"]]
    if step["grows"] and total > most:
        return f"the ReplicaSets of {step['item']} are to have {total} pods, more than {most}"
    if not step["grows"] and not step["available"] and before < step["must"]:
        return f"a rollout of {step['item']} leaves {before} old pods, and no new one is available"
    return ""


def size_of(item: ReplicaSet) -> int:
    """How many pods it wants."""
    return 1 if item.spec.replicas is None else item.spec.replicas
