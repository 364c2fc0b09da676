"""Causality: which Steps of a kept Trace had to come before which, and which ones one rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import networkx as nx  # type: ignore[import-untyped]

from testbed.store.footprint import LOG, Footprint
from testbed.turns.trace import Step

MEMORY = "mem:"


class _Keys:
    """Who wrote and who read each key last.

    A log (`log:pods`, and `log:pods.spec.node_name` within it) is only added to: additions have no
    order among each other, and a reader comes after each of them. Of those that touched a key in
    one process only the last is kept: what came before it there came before it anyhow.
    """

    def __init__(self) -> None:
        self._wrote: dict[str, dict[str, int]] = {}
        self._read: dict[str, dict[str, int]] = {}
        self._families: dict[str, list[str]] = {}
        self._logs: dict[str, None] = {}
        self._objects: dict[str, dict[str, int]] = {}
        """The last writer of each object, by kind."""

    def clashing(self, did: Footprint) -> Iterator[int]:
        """The last Steps before this one whose order with it can matter."""
        for key in did.reads:
            for kin in self._family(key):
                yield from self._wrote.get(kin, {}).values()
        for key in did.writes:
            if not key.startswith(LOG):
                yield from self._wrote.get(key, {}).values()
            for kin in self._family(key):
                yield from self._read.get(kin, {}).values()

    def flowing(self, step: Step, did: Footprint) -> Iterator[int]:
        """The Steps that left what this one found: of a list, the last writer of each object."""
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
        """It is over: whoever comes next comes after it."""
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
        """All keys met so far that mean part of the same."""
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
    """The order in which the Steps of one Run had to come, whoever chose.

    One Step comes before another if it came first and both are of one process, or it made the
    other possible, or they touch the same thing and not both only read it; or by a chain of these.
    Steps that are not ordered so are *concurrent*: in another Run they may come the other way.

    1. Each Step is looked at once, in the order of the Trace, with the last of its process, its
       causes, and the last writers and readers of what it touched.
    2. Of these, only the ones are kept that no other of them follows from, as a vector clock tells:
       so `order` is reduced, and whether one Step comes before another is one comparison.
    3. Beside it, `flow` has what each Step rests on: what it read was left by whom.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = {step.number: step for step in steps}
        self.order = nx.DiGraph()
        """From each Step to those that had to come after it; no edge that others imply."""
        self.flow = nx.DiGraph()
        """From each Step to those that found what it left: its process, what it wrote or caused."""
        self._place: dict[int, tuple[str, int]] = {}
        self._clock: dict[int, dict[str, int]] = {}
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

    def before(self, number: int) -> list[int]:
        """All that had to come before that Step."""
        return sorted(nx.ancestors(self.order, number))

    def chain(self, one: int, other: int) -> list[int]:
        """How one led to the other, by the fewest Steps, both included; empty if it did not."""
        if not nx.has_path(self.order, one, other):
            return []
        return list(nx.shortest_path(self.order, one, other))

    def needed_by(self, numbers: Iterable[int]) -> set[int]:
        """Those Steps and all that they rest on: what was read, by whom, and who had left it."""
        needed = {number for number in numbers if number in self._place}
        for number in list(needed):
            needed |= nx.ancestors(self.flow, number)
        return needed
