"""RunHistory: what was written in one Run, when, by whom and because of what; from its Trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import attrs

from testbed.objects import Node, Object, Pod, PodDisruptionBudget
from testbed.turns.option import SERVE
from testbed.turns.trace import Record, Step
from testbed.world.world import World


@attrs.frozen
class Committed:
    """One write of one object that has taken effect."""

    step: int
    at_ms: int
    who: str
    """The actor that asked for it."""
    key: str
    old: Any
    """The object before; None: it is new."""
    new: Any
    """The object after; None: it is gone."""
    because: Record | None
    """The decision that its request named."""

    @property
    def ends_pod(self) -> bool:
        """Whether it is the write by which a pod has to go: it marks, removes or ends one that
        was neither terminating nor over."""
        old, new = self.old, self.new
        if not isinstance(old, Pod) or old.meta.is_terminating or old.is_over:
            return False
        return new is None or (isinstance(new, Pod) and (new.meta.is_terminating or new.is_over))


@attrs.define
class PodLife:
    """What became of one pod, of one uid."""

    pod: Pod
    """As it was last."""
    created_ms: int
    was_there: bool
    """Whether it was there before the Run began."""
    bound_ms: int | None = None
    bound_step: int = 0
    ran_ms: int | None = None
    """When its status first said Running."""
    end_ms: int | None = None
    """When it was over, or gone."""

    @property
    def node(self) -> str:
        """The node that it is bound to; empty: none."""
        return self.pod.spec.node_name

    @property
    def failed_unstarted(self) -> bool:
        """Whether it got a node, and failed before any of it ran."""
        return bool(self.node) and self.pod.status.phase == "Failed" and self.ran_ms is None


class RunHistory:
    """One Run that has ended, with a kept Trace. Measures read it, and nothing else."""

    def __init__(self, world: World, *, important_from: int = 1) -> None:
        self.important_from = important_from
        """The lowest priority of an important pod."""
        self._world = world
        self.records: list[Record] = world.table.records
        """All that actors have recorded, in order."""
        self.end_ms = world.table.now_ms

    @cached_property
    def commits(self) -> tuple[Committed, ...]:
        """All writes, in order; not those that assembled the World."""
        return tuple(self._commits())

    def _commits(self) -> Iterator[Committed]:
        for step in self._world.trace.steps:
            for change in step.marks.changes if step.kind == SERVE else ():
                yield Committed(
                    step.number, step.now_ms, step.option.path.partition("/")[0], change.key,
                    change.before, change.after,
                    self._reason(step),
                )  # fmt: skip

    def _reason(self, step: Step) -> Record | None:
        return self.records[step.because - 1] if step.because else None

    @cached_property
    def at_first(self) -> Mapping[str, Object]:
        """Every object that was there when the Run began, by its key."""
        there: dict[str, Any] = {e.key: e.value for e in self._world.store.snapshot("")}
        for commit in reversed(self.commits):
            if commit.old is None:
                there.pop(commit.key, None)
            else:
                there[commit.key] = commit.old
        return dict(sorted(there.items()))

    @cached_property
    def pods(self) -> Mapping[str, PodLife]:
        """Every pod that there was, by uid."""
        lives: dict[str, PodLife] = {}
        for item in self.at_first.values():
            if isinstance(item, Pod):
                life = lives[item.meta.uid] = PodLife(item, 0, was_there=True)
                _note(life, item, 0, 0)
        for commit in self.commits:
            seen = commit.new if commit.new is not None else commit.old
            if not isinstance(seen, Pod):
                continue
            uid = seen.meta.uid
            if uid not in lives:
                lives[uid] = PodLife(seen, commit.at_ms, was_there=False)
            _note(lives[uid], seen, commit.at_ms, commit.step)
            if commit.new is None and lives[uid].end_ms is None:
                lives[uid].end_ms = commit.at_ms
        return lives

    @cached_property
    def has_kubelets(self) -> bool:
        """Whether a kubelet has taken over any pod, by its start time: else nothing can be said of
        what runs, and a bind is all there is."""
        return any(_is_taken(commit.new) and not _is_taken(commit.old) for commit in self.commits)

    @property
    def important(self) -> list[PodLife]:
        """The important pods that came during the Run. Those that were there from the start are
        none of them: the Run does not show how long they have waited."""
        return [
            life
            for life in self.pods.values()
            if not life.was_there and life.pod.priority >= self.important_from
        ]


def _is_taken(item: Any) -> bool:
    return isinstance(item, Pod) and item.status.start_ms is not None


def _note(life: PodLife, pod: Pod, now_ms: int, step: int) -> None:
    life.pod = pod
    if pod.is_bound and life.bound_ms is None:
        life.bound_ms, life.bound_step = now_ms, step
    if pod.status.phase == "Running" and life.ran_ms is None:
        life.ran_ms = now_ms
    if pod.is_over and life.end_ms is None:
        life.end_ms = now_ms


class ClusterThen:
    """The nodes, pods and budgets as they were at one commit after another."""

    def __init__(self, history: RunHistory) -> None:
        self._pods: dict[str, Pod] = {}
        self._nodes: dict[str, Node] = {}
        self._budgets: dict[str, PodDisruptionBudget] = {}
        for key, item in history.at_first.items():
            self._set(key, item)

    def _set(self, key: str, item: object) -> None:
        match item:
            case Pod():
                self._pods[key] = item
            case Node():
                self._nodes[key] = item
            case PodDisruptionBudget():
                self._budgets[key] = item

    def take(self, commit: Committed) -> None:
        """Go on by one commit."""
        if commit.new is None:
            self._pods.pop(commit.key, None)
            self._nodes.pop(commit.key, None)
            self._budgets.pop(commit.key, None)
        else:
            self._set(commit.key, commit.new)

    def pods(self) -> list[Pod]:
        """All pods."""
        return list(self._pods.values())

    def on(self, node: str) -> list[Pod]:
        """The pods of a node that are not over."""
        return [p for p in self._pods.values() if p.spec.node_name == node and not p.is_over]

    def node(self, name: str) -> Node | None:
        """The node of that name."""
        return self._nodes.get(f"nodes/{name}")

    def budgets(self) -> list[PodDisruptionBudget]:
        """All budgets."""
        return list(self._budgets.values())
