"""Learned: what Runs have shown of a scenario, for samplers to draw from. Profile: of one Run.

Both are plain data, the same in every worker process: a search may profile a Run in one worker and
use what it learnt in another.

A process is a path: each task, each watch stream, each server's feed. An effect *hangs on* the
last effect without which it would not have been offered, if both fell into one instant: the read
before it in its task, the write that a watch delivers, the last effect of the task that spawned
it. So the effects of an instant stand in a forest. The *share* of an effect is the size of its
tree: itself and all that it makes possible. The effects of a task that is not spawned yet
count towards the effect that spawns it. What happens at a later time is not counted, since time
passes only when nothing else can happen.
"""

from __future__ import annotations

from typing import Any, Self

import attrs

KEPT_MAX = 4_096
"""The most processes, effects of one process, and contended keys that are remembered."""
UNIT = 1_000
"""Stands for a mean of 1: means are kept as whole numbers, since no float may decide."""


@attrs.frozen
class Profile:
    """What one Run has shown."""

    turns: int
    shares: dict[str, list[int]]
    """By process: the share of each of its effects, in their order."""
    born: dict[str, str]
    """By process: the one that its first effect hangs on, if that is another."""
    contended: dict[str, dict[str, int]]
    """By key that one process writes and another reads: how many effects of each may touch it."""
    pairs: list[str]
    """Pairs of accesses to one key that clashed and came one after the other, each by its role:
    `serve update notes alpha > serve get notes beta`."""

    @property
    def effects(self) -> dict[str, int]:
        """How many effects each process had."""
        return {path: len(shares) for path, shares in self.shares.items()}

    @property
    def total(self) -> int:
        """How many effects there were in all."""
        return sum(map(len, self.shares.values()))

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return attrs.asdict(self)

    @classmethod
    def of(cls, data: dict[str, Any]) -> Self:
        """The Profile that `as_dict` was made from."""
        return cls(**data)


@attrs.define
class Learned:
    """All Profiles so far, added up. The order in which they were added does not change a mean."""

    runs: int = 0
    turns: int = 0
    """Of all Runs together."""
    longest: int = 0
    """The most effects in one Run."""
    shares: dict[str, list[list[int]]] = attrs.field(factory=dict)
    """By process, for its n-th effect: the sum of its shares, and how many Runs had it."""
    born: dict[str, str] = attrs.field(factory=dict)
    contended: dict[str, dict[str, list[int]]] = attrs.field(factory=dict)
    """By key and process: how many of its effects may touch the key, and how many Runs had any."""

    def add(self, profile: Profile) -> None:
        """Learn from one more Run."""
        self.runs += 1
        self.turns += profile.turns
        self.longest = max(self.longest, profile.total)
        for path, shares in profile.shares.items():
            sums = _kept(self.shares, path, [])
            sums += [[0, 0] for _ in range(min(len(shares), KEPT_MAX) - len(sums))]
            for mean, share in zip(sums, shares, strict=False):
                _count(mean, share)
        for path, parent in profile.born.items():
            _kept(self.born, path, parent)
        for key, counts in profile.contended.items():
            by_path = _kept(self.contended, key, {})
            for path, count in counts.items():
                _count(_kept(by_path, path, [0, 0]), count)

    def turns_expected(self) -> int:
        """The mean length of a Run; 0 if there was none."""
        return self.turns // max(self.runs, 1)

    def share(self, path: str, nth: int) -> int:
        """The mean share, in UNITs, of the effect of a process that had `nth` effects before."""
        # An effect that no Run has had counts as one that makes nothing else possible. But if as
        # many effects are known as are remembered, there were more: they go by the last of these.
        sums = self.shares.get(path, ())
        if nth >= len(sums) and len(sums) < KEPT_MAX:
            return UNIT
        total, runs = sums[min(nth, KEPT_MAX - 1)]
        return total * UNIT // runs

    def keys(self) -> list[str]:
        """The contended keys, sorted."""
        return sorted(self.contended)

    def effects_on(self, key: str) -> dict[str, int]:
        """The mean number of effects by which each process may touch it, in UNITs; sorted."""
        counts = sorted(self.contended.get(key, {}).items())
        return {path: total * UNIT // runs for path, (total, runs) in counts}

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return attrs.asdict(self)

    @classmethod
    def of(cls, data: dict[str, Any]) -> Self:
        """What `as_dict` was made from."""
        return cls(**data)


def _kept(known: dict[str, Any], name: str, new: Any) -> Any:
    """What is known by that name, or the new value. That is kept only as long as there is room."""
    if name in known or len(known) >= KEPT_MAX:
        return known.get(name, new)
    known[name] = new
    return new


def _count(mean: list[int], value: int) -> None:
    mean[0] += value
    mean[1] += 1
