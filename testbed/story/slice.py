"""Matter: of all that happened in a Run, what a Violation rests on, and who acted on old news.

1. A Violation was found at a Step and speaks of objects and actors. What it is about is that Step,
   the last write of each object it names, the last record, or else Step, of each actor it names.
   If it names no object that was written, it is about those of the kind that this Step wrote, or
   about all if it neither wrote nor recorded.
2. What these rest on, by `Causality.flow`, is its slice: nothing outside it can have mattered.
3. In the slice, each act on what others had changed meanwhile is *stale*. The more closely it has
   to do with what the Violation names, the more it explains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from testbed.faults.crash import Crash
from testbed.invariant import Violation
from testbed.objects.meta import changed_fields, field_of
from testbed.story.causality import Causality
from testbed.story.knowledge import Act, Knowledge, StaleAct, Version
from testbed.turns.option import FAULT, SERVE
from testbed.turns.trace import Step, Trace

NAME = re.compile(r"[\w./-]+")
STALE_MAX = 3
"""So many stale acts are told; what explains a race is one or two."""
ACTS_MAX = 400
"""So many acts are looked at, the last ones first."""


class Slice:
    """What matters in one kept Trace; to its Violation, if there is one."""

    def __init__(self, trace: Trace, violation: Violation | None = None) -> None:
        self.steps = trace.steps
        self.violation = violation
        self.knowledge = Knowledge(trace)
        self.causality = Causality(self.steps)
        self._words = words = _words(violation.said) if violation else set()
        self.actors = {step.option.actor for step in self.steps if step.option.actor}
        self.named_actors = {name for name in self.actors if name in words}
        self.named_keys = {key for key in self._keys() if _is_named(key, words)}
        """The objects the Violation speaks of, by key or by name."""

    def _keys(self) -> dict[str, None]:
        asked = [step.option.key for step in self.steps if step.kind == SERVE]
        read = {key: None for key in asked if "/" in key}
        return {**read, **dict.fromkeys(self.knowledge.versions)}

    @cached_property
    def about(self) -> set[int]:
        """The Steps the Violation is about."""
        violation, versions = self.violation, self.knowledge.versions
        if violation is None:
            return {step.number for step in self.steps}
        last = {s.option.actor: s.number for s in self.steps if s.number <= violation.step}
        last |= {acted.actor: acted.step for acted in self.knowledge.acts if acted.record}
        about = {violation.step}
        about |= {last[name] for name in self.named_actors if name in last}
        keys: Iterable[str] = self.named_keys & versions.keys()
        if not keys:
            found = [act for act in self._acts if act.step == violation.step]
            kinds = {key.partition("/")[0] for act in found for key in act.keys}
            keys = [key for key in versions if not found or key.partition("/")[0] in kinds]
        return about | {versions[key][-1].step for key in keys}

    @property
    def _acts(self) -> list[Act]:
        return self.knowledge.acts

    @cached_property
    def slice(self) -> set[int]:
        """All that the Violation rests on, and the faults that struck who took part."""
        needed = self.causality.needed_by(self.about)
        steps = self.causality.steps
        actors = {steps[number].option.actor for number in needed}
        end = self.violation.step if self.violation else len(self.steps)
        struck = (s for s in self.steps if s.kind == FAULT and s.number <= end)
        return needed | {s.number for s in struck if not s.option.actor or s.option.actor in actors}

    @cached_property
    def shared(self) -> set[str]:
        """The objects of the slice that one actor wrote and another read or wrote."""
        touched: dict[str, set[str]] = {}
        for step in self.steps:
            if step.number in self.slice and step.option.actor:
                for key in _touched(step):
                    touched.setdefault(key, set()).add(step.option.actor)
        shared = set(self.named_keys)
        for key in self.knowledge.versions:
            # Who lists a kind has read each object of it.
            actors = touched.get(key, set()) | touched.get(key.partition("/")[0], set())
            if len(actors) > 1:
                shared.add(key)
        return shared & self.knowledge.versions.keys()

    @cached_property
    def stale(self) -> list[StaleAct]:
        """The stale acts that explain most, oldest first. Without a Violation only those over an
        object that its writer did not know as it was."""
        found: list[tuple[int, StaleAct]] = []
        acts = [act for act in self._acts if act.step in self.slice]
        for act in acts[-ACTS_MAX:]:
            keys = self.shared if self.violation else self.shared.intersection(act.keys)
            for stale in self.knowledge.stale(act, sorted(keys)):
                found.append((self._weight(stale), stale))
        best = max((weight for weight, _ in found), default=0)
        told = [stale for weight, stale in found if weight >= best - 1 or not self.violation]
        return told[-STALE_MAX:]

    @cached_property
    def unseen(self) -> list[tuple[Act, Version]]:
        """The acts that the Violation is about, or that were stale, each with what its actor had
        itself written by then, and had not seen yet; oldest first."""
        told = {stale.act.step for stale in self.stale} | self.about
        acts = [act for act in self._acts[-ACTS_MAX:] if act.step in told & self.slice]
        keys = sorted(self.shared)
        return [(act, own) for act in acts for own in self.knowledge.unseen(act, keys)]

    def _weight(self, stale: StaleAct) -> int:
        """How much it has to do with what the Violation speaks of."""
        act, key = stale.act, stale.known.key
        writers = {version.actor for version in stale.missed}
        return (
            10 * bool(act.versions)
            + 8 * (act.step in self.about)
            + 4 * (key in self.named_keys)
            + 3 * (act.actor in self.named_actors or bool(self.named_keys.intersection(act.keys)))
            + 9 * bool(self.named_actors & writers)
            + 3 * any((version.key, version.step) in self._spoken_of for version in stale.missed)
            + 2 * (key in act.keys)
        )

    @cached_property
    def _spoken_of(self) -> set[tuple[str, int]]:
        """The writes that put somewhere what the Violation names, as the node of a pod."""
        written = (version for versions in self.knowledge.versions.values() for version in versions)
        return {(v.key, v.step) for v in written if self._is_spoken_of(v)}

    def _is_spoken_of(self, version: Version) -> bool:
        old, new = version.change.old, version.change.new
        if old is None or new is None:
            return False
        fields = changed_fields(old.value, new.value)
        return any(str(field_of(new.value, field)) in self._words for field in fields)

    def over(self, fault: Step) -> Step | None:
        """The first Step after a fault that lasted; None if none came, or its target crashed."""
        until = fault.option.fault.ends_ms(fault.now_ms)
        if until is None:
            return None
        crash = (FAULT, Crash.word, fault.option.key)
        end = self.violation.step if self.violation else len(self.steps)
        for step in self.steps[fault.number : end]:
            if (step.kind, step.option.verb, step.option.key) == crash:
                return None
            if step.now_ms >= until:
                return step
        return None

    def was_right(self, version: Version) -> bool:
        """Whether whoever wrote it had looked at what matters, and it was still so."""
        act = next(a for a in self._acts if a.step == version.step and not a.record)
        keys = sorted(self.shared)
        looked = any(self.knowledge.known(act.path, key, act.decided) for key in keys)
        return looked and not any(self.knowledge.stale(act, keys))


def _touched(step: Step) -> set[str]:
    keys = {change.key for change in step.marks.changes}
    return keys | {step.option.key} if step.kind == SERVE else keys


def _words(said: str) -> set[str]:
    words = {word.strip("./") for word in NAME.findall(said)}
    return words | {word.partition("/")[0] for word in words}


def _is_named(key: str, words: set[str]) -> bool:
    return key in words or key.rpartition("/")[2] in words
