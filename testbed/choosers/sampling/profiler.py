"""Profiler: is told every Step of a Run, and makes its Profile."""

from __future__ import annotations

from collections.abc import Set
from functools import lru_cache

import attrs

from testbed.choosers.sampling.learned import Profile
from testbed.store.footprint import Footprint
from testbed.turns.option import DELIVER, FAULT, HOLD, PASS, PICK, RELEASE, Option
from testbed.turns.trace import Step

NO_TURN = frozenset({PICK, HOLD, RELEASE, PASS})
KEPT_MAX = 1 << 14
"""How many answers are kept: the Runs of one search touch mostly the same keys."""


@attrs.frozen
class Access:
    """What one effect touches of the keys that several actors share: objects, cursors, and the
    logs of kinds, without their fields."""

    reads: tuple[str, ...]
    """Those it does not write, sorted."""
    writes: tuple[str, ...]
    """Sorted."""

    @classmethod
    def of(cls, option: Option, footprint: Footprint) -> Access:
        """Taken from a Footprint; a delivery also reads the object that it delivers."""
        delivered = option.key if option.kind == DELIVER else ""
        return _access(footprint.reads, footprint.writes, delivered)


@lru_cache(KEPT_MAX)
def _access(read: Set[str], written: Set[str], delivered: str) -> Access:
    reads, writes = _shared(read), _shared(written)
    if delivered:
        reads = reads | {delivered}
    return Access(tuple(sorted(reads - writes)), tuple(sorted(writes)))


@lru_cache(KEPT_MAX)
def _shared(touches: Set[str]) -> Set[str]:
    """The keys that actors share, of those that are touched."""
    found = set()
    for key in touches:
        plural, slash, _ = key.partition("/")
        if key.startswith("log:"):
            found.add(key.partition(".")[0])
        elif slash and (":" not in plural or plural.startswith("cursor:")):
            found.add(key)
    return found


@attrs.frozen
class _Effect:
    path: str
    now_ms: int
    on: int
    """The number of the effect it hangs on; -1 if it hangs on none."""


class Profiler:
    """What has been seen of one Run so far."""

    def __init__(self) -> None:
        self._turns = 0
        self._effects: list[_Effect] = []
        self._origins: dict[int, int] = {}
        """By Step: the last effect without which it would not have been offered."""
        self._touched: dict[str, dict[str, int]] = {}
        """By key and process: how many effects may touch it."""
        self._read: set[str] = set()
        self._written: set[str] = set()
        self._last: dict[str, _Last] = {}
        self._pairs: dict[str, set[str]] = {}
        """By key."""

    def ended(self, step: Step) -> None:
        """Take note of a turn, or a pick, that is over."""
        option = step.option
        origin = max((self._origins.get(cause, -1) for cause in option.causes), default=-1)
        self._turns += option.kind not in NO_TURN
        if option.is_effect and option.kind != FAULT:  # which has no cause, and is drawn apart
            is_of_now = origin >= 0 and self._effects[origin].now_ms == step.now_ms
            self._effects.append(_Effect(option.path, step.now_ms, origin if is_of_now else -1))
            origin = len(self._effects) - 1
            self._note_keys(option)
            self._note_pairs(option, Access.of(option, step.did))
        self._origins[step.number] = origin

    def _note_keys(self, option: Option) -> None:
        may = option.may
        access = Access.of(option, may)
        for key in (*access.reads, *access.writes):
            counts = self._touched.setdefault(key, {})
            counts[option.path] = counts.get(option.path, 0) + 1
        self._read.update(access.reads, _shared(may.reads))
        self._written.update(access.writes)

    def _note_pairs(self, option: Option, access: Access) -> None:
        for keys, writes in ((access.reads, False), (access.writes, True)):
            for key in keys:
                last = self._last.setdefault(key, _Last())
                pairs = last.clash(option, _role(option, key), writes=writes)
                self._pairs.setdefault(key, set()).update(pairs)

    def profile(self) -> Profile:
        """What the Run has shown, now that it has ended."""
        met = self._read & self._written
        contended = {
            key: counts
            for key, counts in sorted(self._touched.items())
            if key in met and len(counts) > 1
        }
        pairs = {pair for key, some in self._pairs.items() if key in met for pair in some}
        return Profile(self._turns, self._shares(), self._born(), contended, sorted(pairs))

    def _shares(self) -> dict[str, list[int]]:
        # An effect hangs on an earlier one, so from the last one back every tree is whole when
        # its size is added to that of the tree it hangs in.
        sizes = [1] * len(self._effects)
        for number in range(len(sizes) - 1, -1, -1):
            on = self._effects[number].on
            if on >= 0:
                sizes[on] += sizes[number]
        shares: dict[str, list[int]] = {}
        for effect, size in zip(self._effects, sizes, strict=True):
            shares.setdefault(effect.path, []).append(size)
        return shares

    def _born(self) -> dict[str, str]:
        seen: set[str] = set()
        born = {}
        for effect in self._effects:
            parent = self._effects[effect.on].path if effect.on >= 0 else effect.path
            if effect.path not in seen and parent != effect.path:
                born[effect.path] = parent
            seen.add(effect.path)
        return born


class _Last:
    """Which process wrote a key last, and which have read it since: by process, in what role."""

    def __init__(self) -> None:
        self.writer: dict[str, str] = {}
        self.readers: dict[str, str] = {}

    def clash(self, option: Option, role: str, *, writes: bool) -> list[str]:
        """The pairs of this access with each access of another process that it clashes with."""
        before = (self.readers or self.writer) if writes else self.writer
        pairs = [f"{other} > {role}" for path, other in before.items() if path != option.path]
        if writes:
            self.writer, self.readers = {option.path: role}, {}
        else:
            self.readers[option.path] = role
        return pairs


def _role(option: Option, key: str) -> str:
    """What kind of access it is, without the names of objects: `serve update notes alpha`."""
    actor = option.actor or option.path.partition("/")[0]
    return _in_words(option.kind, option.verb or option.change, key, actor)


@lru_cache(KEPT_MAX)
def _in_words(kind: str, verb: str, key: str, actor: str) -> str:
    plural = key.rpartition(":")[2].partition("/")[0]
    return " ".join(word for word in (kind, verb, plural, actor) if word)
