"""Learned: what Runs have shown of a scenario, for samplers to draw from. Profile: of one Run.

Both are plain data, the same in every process: a search may profile a Run in one and use what it
has learnt from it in another.

A process is a path: each task, each watch stream, each server's feed. An effect *hangs on* the
last effect without which it would not have been offered, if both fell into one instant: the read
before it in its task, the write that a watch delivers, whatever the spawner did last. So the
effects of an instant stand in a forest, and the *share* of one is the size of its tree: of itself
and all that it makes possible. What a process that is not there yet will do is thereby counted
where it comes from, and what happens at a later time is counted nowhere, since time passes only
when nothing else can.
"""

from __future__ import annotations

from typing import Any, Self

import attrs

KEPT_MAX = 4_096
"""So many processes, effects of one process, and contended keys are remembered."""
UNIT = 1_000
"""A mean of 1: means are whole numbers, as no float may decide."""


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
    """Which accesses of one key came one after the other and clashed, told by their roles:
    `serve update notes alpha > serve get notes beta`."""

    @property
    def effects(self) -> dict[str, int]:
        """How many effects each process had."""
        return {path: len(shares) for path, shares in self.shares.items()}

    @property
    def total(self) -> int:
        """How many effects there were."""
        return sum(map(len, self.shares.values()))

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return attrs.asdict(self)

    @classmethod
    def of(cls, data: dict[str, Any]) -> Self:
        """The Profile that `as_dict` told of."""
        return cls(**data)


@attrs.define
class Learned:
    """All Profiles so far, in one. The order in which they were added does not matter to a mean."""

    runs: int = 0
    turns: int = 0
    """Of all of them together."""
    longest: int = 0
    """The most effects in one Run."""
    shares: dict[str, list[list[int]]] = attrs.field(factory=dict)
    """By process: the sum of the shares of its n-th effect, and in how many Runs it had one."""
    born: dict[str, str] = attrs.field(factory=dict)
    contended: dict[str, dict[str, list[int]]] = attrs.field(factory=dict)
    """By key and process: the sum of its effects that may touch it, and in how many Runs."""

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
        """The mean share, in UNITs, of an effect of that process which had `nth` before it."""
        sums = self.shares.get(path, ())
        if nth >= len(sums) and len(sums) < KEPT_MAX:
            return UNIT
        total, runs = sums[min(nth, KEPT_MAX - 1)]
        return total * UNIT // runs

    def keys(self) -> list[str]:
        """The contended keys, sorted."""
        return sorted(self.contended)

    def effects_on(self, key: str) -> dict[str, int]:
        """How many effects of each process may touch it, on the mean, in UNITs; sorted."""
        counts = sorted(self.contended.get(key, {}).items())
        return {path: total * UNIT // runs for path, (total, runs) in counts}

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return attrs.asdict(self)

    @classmethod
    def of(cls, data: dict[str, Any]) -> Self:
        """What `as_dict` told of."""
        return cls(**data)


def _kept(known: dict[str, Any], name: str, new: Any) -> Any:
    """What is known by that name, or this new one; forgotten at once if there are too many."""
    if name in known or len(known) >= KEPT_MAX:
        return known.get(name, new)
    known[name] = new
    return new


def _count(mean: list[int], value: int) -> None:
    mean[0] += value
    mean[1] += 1
