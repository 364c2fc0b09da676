"""CoreQueue: a queue of the tree under `root`, with its limits and what its applications hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from actors.yunikorn.amounts import Amounts, is_within, minus, plus, without_zeros
from testbed.objects import Map

ROOT = "root"


@attrs.frozen
class QueueSettings:
    """A queue that an administrator has configured."""

    path: str
    """Its full path: `root.team.batch`."""
    max: Map[int] | None = None
    """The most that its applications may hold; a resource it leaves out is unlimited."""
    guaranteed: Map[int] | None = None
    """What it is promised. Only preemption between queues reads it, which is not modelled."""


@attrs.define(eq=False)
class CoreQueue:
    """One queue. What is held, or is about to be given back, counts in every queue above, too."""

    settings: QueueSettings
    parent: CoreQueue | None = None
    children: dict[str, CoreQueue] = attrs.field(factory=dict)
    """By the last part of their paths."""
    allocated: Map[int] = attrs.field(factory=Map)
    """What its applications hold."""
    preempting: Map[int] = attrs.field(factory=Map)
    """What of that is to be given back by victims (YK-28)."""

    @property
    def path(self) -> str:
        """Its full path."""
        return self.settings.path

    def find(self, path: str, settings: Sequence[QueueSettings]) -> CoreQueue:
        """The queue of that full path. If it does not exist, it is made; it has no limits unless it
        is configured. Called on the root."""
        queue = self
        for name in path.split(".")[1:]:
            if name not in queue.children:
                child = f"{queue.path}.{name}"
                given = next((each for each in settings if each.path == child), None)
                queue.children[name] = CoreQueue(given or QueueSettings(child), queue)
            queue = queue.children[name]
        return queue

    def leaves(self) -> Iterator[CoreQueue]:
        """The queues that have no queue below, in order of their paths."""
        if not self.children:
            yield self
        for _, child in sorted(self.children.items()):
            yield from child.leaves()

    def above(self) -> Iterator[CoreQueue]:
        """This queue, and every one above."""
        queue: CoreQueue | None = self
        while queue is not None:
            yield queue
            queue = queue.parent

    def has_head_room(self, asked: Amounts) -> bool:
        """Whether it, and every queue above, may hold that much more (YK-5)."""
        return all(
            each.settings.max is None or is_within(each.settings.max, plus(each.allocated, asked))
            for each in self.above()
        )

    def hold(self, amounts: Amounts) -> None:
        """An application has got that much."""
        for each in self.above():
            each.allocated = plus(each.allocated, amounts)

    def give_back(self, amounts: Amounts) -> None:
        """An application holds that much less."""
        for each in self.above():
            each.allocated = without_zeros(minus(each.allocated, amounts))

    def preempt(self, amounts: Amounts) -> None:
        """That much is to be given back by a victim."""
        for each in self.above():
            each.preempting = plus(each.preempting, amounts)

    def preempted(self, amounts: Amounts) -> None:
        """A victim has given back that much."""
        for each in self.above():
            each.preempting = without_zeros(minus(each.preempting, amounts))
