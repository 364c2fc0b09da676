"""Causality: which Steps of a kept Trace had to come before others, and what each one rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import networkx as nx  # type: ignore[import-untyped]

from testbed.store.footprint import LOG, Footprint
from testbed.turns.trace import Step

MEMORY = "mem:"


class _Keys:
    """The last Steps that wrote and read each key.

    A log (`log:pods`, and `log:pods.spec.node_name` within it) is only added to. Additions have no
    order among each other, and a reader comes after each of them. For each process, only the last
    Step that touched a key is kept: the earlier ones of that process come before it anyway.
    """

    def __init__(self) -> None:
        self._wrote: dict[str, dict[str, int]] = {}
        self._read: dict[str, dict[str, int]] = {}
        self._families: dict[str, list[str]] = {}
        self._logs: dict[str, None] = {}
        self._objects: dict[str, dict[str, int]] = {}
        """By kind: the last writer of each object."""

    def clashing(self, did: Footprint) -> Iterator[int]:
        """The last Steps before this one whose order with it can matter: a write before a read, a
        read before a write, and two writes; but not two additions to a log."""
        for key in did.reads:
            for kin in self._family(key):
                yield from self._wrote.get(kin, {}).values()
        for key in did.writes:
            if not key.startswith(LOG):
                yield from self._wrote.get(key, {}).values()
            for kin in self._family(key):
                yield from self._read.get(kin, {}).values()

    def flowing(self, step: Step, did: Footprint) -> Iterator[int]:
        """The Steps whose writes this one found: for a list, the last writer of each object."""
        # A blind write does not rest on what it replaces. But a turn that writes the memory which
        # the tasks of its actor share may have read it too, and no trace shows that.
        for key in did.reads:
            if not key.startswith(LOG):
                yield from self._wrote.get(key, {}).values()
            elif step.option.verb != "watch":
                plural = key.removeprefix(LOG).partition(".")[0]
                yield from self._objects.get(plural, {}).values()
        for key in did.writes:
            if key.startswith(MEMORY):
                yield from self._wrote.get(key, {}).values()

    def note(self, step: Step, did: Footprint) -> None:
        """Remember what this Step touched, for the Steps after it."""
        path = step.option.path
        for key in did.writes:
            self._family(key)
            if key.startswith(LOG):
                self._wrote.setdefault(key, {})[path] = step.number
                continue
            self._wrote[key] = {path: step.number}
            self._read.pop(key, None)
            plural, slash, _ = key.partition("/")
            if slash:
                self._objects.setdefault(plural, {})[key] = step.number
        for key in did.reads:
            self._family(key)
            self._read.setdefault(key, {})[path] = step.number

    def _family(self, key: str) -> list[str]:
        """The key itself; for a log, also the known logs that are part of it or contain it."""
        if not key.startswith(LOG):
            return [key]
        family = self._families.get(key)
        if family is None:
            kin = [other for other in self._logs if _is_kin(key, other)]
            for other in kin:
                self._families[other].append(key)
            family = self._families[key] = [*kin, key]
            self._logs[key] = None
        return family


def _is_kin(key: str, other: str) -> bool:
    return LOG in (key, other) or key.startswith(f"{other}.") or other.startswith(f"{key}.")


class Causality:
    """The order in which the Steps of one Run had to come, under any Chooser.

    One Step comes before another if it came first in the Run and both are of one process, or it
    made the other possible, or one of them writes what the other reads or writes; or if a chain of
    such Steps leads from one to the other. All other Steps are *concurrent*: in another Run they
    may come the other way round.

    1. Each Step is looked at once, in the order of the Trace. Its candidates are the Step before it
       in its process, its causes, and the last writers and readers of what it touched.
    2. A candidate that comes before another candidate is dropped, since that edge is implied. A
       vector clock for each Step makes this one comparison. What is left are the edges of `order`.
    3. `flow` has what each Step rests on: its process, its causes, and the writers of what it read.

    Stories follow `flow`. `order` is the larger claim, and the tests hold it against a naive one.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = {step.number: step for step in steps}
        self.order = nx.DiGraph()
        """From each Step to those that had to come after it; edges that others imply left out."""
        self.flow = nx.DiGraph()
        """From each Step to those that rest on it."""
        self._place: dict[int, tuple[str, int]] = {}
        """By number: the process of a Step, and which of the Steps of that process it is."""
        self._clock: dict[int, dict[str, int]] = {}
        """By number: how many Steps of each process come before that Step, or are it."""
        keys, last = _Keys(), dict[str, int]()
        for step in steps:
            did, path = step.did, step.option.path
            made = [cause for cause in step.causes if cause in self._place]
            if path in last:
                made.append(last[path])
            self._add(step, {*made, *keys.clashing(did)}, {*made, *keys.flowing(step, did)})
            keys.note(step, did)
            last[path] = step.number

    def _add(self, step: Step, earlier: set[int], flowing: set[int]) -> None:
        number, path = step.number, step.option.path
        kept: list[int] = []
        clock: dict[str, int] = {}
        # Latest first: a Step can only be implied by one that came later in the Run.
        for candidate in sorted(earlier, reverse=True):
            if not any(self.is_before(candidate, later) for later in kept):
                kept.append(candidate)
                for process, count in self._clock[candidate].items():
                    if count > clock.get(process, 0):
                        clock[process] = count
        clock[path] = count = clock.get(path, 0) + 1
        self._place[number] = (path, count)
        self._clock[number] = clock
        self.order.add_node(number)
        self.order.add_edges_from((other, number) for other in kept)
        self.flow.add_node(number)
        self.flow.add_edges_from((other, number) for other in sorted(flowing))

    def is_before(self, one: int, other: int) -> bool:
        """Whether Step `one` had to come before Step `other`."""
        path, count = self._place[one]
        return one != other and self._clock[other].get(path, 0) >= count

    def needed_by(self, numbers: Iterable[int]) -> set[int]:
        """These Steps and all that they rest on, by `flow`."""
        needed = {number for number in numbers if number in self._place}
        for number in list(needed):
            needed |= nx.ancestors(self.flow, number)
        return needed
