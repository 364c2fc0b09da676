"""Slice: the part of a Run that a Violation rests on, and who acted on old news in it.

1. A Violation was found at a Step, and names objects and actors. It is *about* that Step, the last
   write of each object it names, and the last record (or else Step) of each actor it names. If it
   names no object that was written, it is about the objects of the kind that this Step wrote; if
   the Step neither wrote nor recorded, about all objects.
2. Its slice is those Steps and what they rest on, by `Causality.flow`. Nothing outside the slice
   can have mattered.
3. In the slice, an act on what others had changed meanwhile is *stale*. Each stale act has a
   weight: the closer it is to what the Violation names, the more it explains.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import ClassVar

import attrs

from testbed.faults.crash import Crash
from testbed.objects.meta import changed_fields, field_of
from testbed.store.change import plural_of
from testbed.story.causality import Causality
from testbed.story.knowledge import Act, Knowledge, StaleAct, Version
from testbed.story.requests import Requests
from testbed.story.reruns.asking import is_same_anyway
from testbed.story.reruns.living import is_waited_for
from testbed.turns.found import NOTHING, words_of
from testbed.turns.option import FAULT, SERVE
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Violation

STALE_MAX = 3
"""At most this many stale acts are told; one or two explain most races."""
ASKED_MAX = 20
"""The Run is played again for at most this many beliefs."""
CRASHES_MAX = 3
"""And for at most this many crashes, twice."""
ACTS_MAX = 400
"""Only the last acts are looked at, at most this many."""


class Slice:
    """What matters in one kept Trace: to its Violation, or all of it if there is none."""

    is_behind: ClassVar[bool] = False
    """Whether it looks at what stands behind an act that only reports what others did."""

    def __init__(self, trace: Trace, violation: Violation | None = None) -> None:
        self.steps = trace.steps
        """All Steps of the Run, in the slice or not."""
        self.trace = trace
        self.latencies = trace.played_in.wire.latencies if trace.played_in is not None else ()
        """What the scenario states of how long things take."""
        self._asked: dict[tuple[object, ...], bool] = {}
        self._waited_for: dict[int, bool] = {}
        self.violation = violation
        self.knowledge = Knowledge(trace)
        self.requests = Requests(trace)
        self.causality = Causality(self.steps)
        self.words = words_of(violation.said) if violation else set()
        """The words of the Violation, such as values."""
        self.actors = {step.option.actor for step in self.steps if step.option.actor}
        about = violation.among(self._keys(), self.actors) if violation else NOTHING
        self.named_actors = set(about.actors)
        self.named_keys = self._keys().keys() & set(about.keys)
        """The objects that the Violation names, by key or by name."""

    def _keys(self) -> dict[str, None]:
        asked = [step.option.key for step in self.steps if step.kind == SERVE]
        read = {key: None for key in asked if "/" in key}
        return {**read, **dict.fromkeys(self.knowledge.versions)}

    @cached_property
    def about(self) -> set[int]:
        """(1) The numbers of the Steps that the Violation is about."""
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

    @property
    def end(self) -> int:
        """The Step in which the claim broke, or else the last."""
        return len(self.steps) if self.violation is None else self.violation.step

    @cached_property
    def needed(self) -> set[int]:
        """(2) The numbers of the Steps in the slice."""
        needed = self.causality.needed_by(self.about)
        steps = self.causality.steps
        actors = {steps[number].option.actor for number in needed}
        end = self.end
        # A fault that only made something late wrote nothing that a later Step reads, so `flow`
        # need not lead back to it. It matters all the same to each actor that it struck.
        struck = (s for s in self.steps if s.kind == FAULT and s.number <= end)
        return needed | {s.number for s in struck if not s.option.actor or s.option.actor in actors}

    @cached_property
    def shared(self) -> set[str]:
        """The objects of the slice that one actor wrote and another actor read or wrote."""
        touched: dict[str, set[str]] = {}
        for step in self.steps:
            if step.number in self.needed and step.option.actor:
                for key in _touched(step):
                    touched.setdefault(key, set()).add(step.option.actor)
        shared = set(self.named_keys)
        for key in self.knowledge.versions:
            # An actor that lists a kind reads each object of it.
            actors = touched.get(key, set()) | touched.get(key.partition("/")[0], set())
            if len(actors) > 1:
                shared.add(key)
        return shared & self.knowledge.versions.keys()

    @cached_property
    def stale(self) -> list[StaleAct]:
        """(3) The stale acts that explain most, oldest first. Without a Violation, only the
        writes of an actor over an object that it knew in an older version."""
        found: list[tuple[int, StaleAct]] = []
        acts = [act for act in self._acts if act.step in self.needed]
        for act in acts[-ACTS_MAX:]:
            keys = self.shared if self.violation else self.shared.intersection(act.keys)
            for stale in self.knowledge.stale(act, sorted(keys)):
                found.append((self.weight(stale), stale))
        best = max((weight for weight, _ in found), default=0)
        explaining = [stale for weight, stale in found if weight >= best - 1 or not self.violation]
        return explaining[-STALE_MAX:]

    @cached_property
    def breaking(self) -> list[Act]:
        """What the Violation is about, as acts; newest first: those of the Step in which it was
        found, the last ones that it names, and each actor's last record of what it names. Each is
        decided in the turn of the record that its actor gave as its reason, if it gave one."""
        violation = self.violation
        if violation is None:
            return []
        records = {act.record.number: act.step for act in self._acts if act.record}
        early = [act for act in self._acts if act.step <= violation.step]
        # Of what it names, each actor may have recorded what it did in the world, such as a start.
        spoken = {a.actor: a for a in early if a.record and a.record.speaks_of & self.named_keys}
        found = [act for act in early if act.step in self.about or act in spoken.values()]
        reasons = [records.get(self.causality.steps[act.step].because, act.step) for act in found]
        decided = zip(found, reasons, strict=True)
        acts = [attrs.evolve(act, decided=min(act.decided, at)) for act, at in decided]
        # A write says more than a record of the same turn.
        return sorted(acts, key=lambda act: (-act.step, bool(act.record)))

    @cached_property
    def unseen(self) -> list[tuple[Act, Version]]:
        """Acts that the Violation is about or that were stale, each with a write of the same actor
        that its own Cache did not show yet; oldest first. What a claim counts is written by one
        actor alone, often: so all counts that the Violation is about, shared or not."""
        explaining = {stale.act.step for stale in self.stale} | self.about
        acts = [act for act in self._acts[-ACTS_MAX:] if act.step in explaining & self.needed]
        keys = sorted(self.shared | self.counted)
        return [(act, own) for act in acts for own in self.knowledge.unseen(act, keys)]

    @cached_property
    def counted(self) -> set[str]:
        """The objects that the Violation is about, if it names none: it may count them."""
        if self.named_keys & self.knowledge.versions.keys():
            return set()
        written = self.knowledge.versions.items()
        return {key for key, some in written if any(v.step in self.about for v in some)}

    def weight(self, stale: StaleAct) -> int:
        """How closely it has to do with what the Violation names."""
        act, key = stale.act, stale.known.key
        writers = {version.actor for version in stale.missed}
        # A write explains more than a record. Then comes whether the Violation names the two
        # sides, the actor that missed something and the actor that wrote it; then the object.
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
        """The writes that set a field to something the Violation names, such as a pod's node."""
        written = (version for versions in self.knowledge.versions.values() for version in versions)
        return {(v.key, v.step) for v in written if self._is_spoken_of(v)}

    def is_named(self, key: str) -> bool:
        """Whether the Violation names that object, be it there or not."""
        return self.violation is not None and key in self.violation.among((key,), ()).keys

    def is_spoken_of(self, version: Version) -> bool:
        """Whether that write set a field to something the Violation names."""
        return (version.key, version.step) in self._spoken_of

    def counts(self, key: str, act: Act) -> bool:
        """Whether the Violation, which names no object, may be about how many there are of that
        kind, and the act wrote one of it."""
        is_named = not self.named_keys.isdisjoint(self.knowledge.versions)
        return not is_named and plural_of(key) in map(plural_of, act.keys)

    def _is_spoken_of(self, version: Version) -> bool:
        old, new = version.change.old, version.change.new
        if old is None or new is None:
            return False
        fields = changed_fields(old.value, new.value)
        return any(str(field_of(new.value, field)) in self.words for field in fields)

    def at(self, number: int) -> str:
        """A Step by its number and its time, as the sentences say it: `step 29, 1,000 ms`."""
        step = self.causality.steps.get(number)
        return f"step {number}" + (f", {step.now_ms:,} ms" if step and step.now_ms else "")

    def freed(self, held: Step) -> Step | None:
        """The Step that was held back, when it came at last; None if it never did."""
        same = held.option.sentence[1:]
        for step in self.steps[held.number :]:
            if step.kind == held.option.label and step.option.sentence[1:] == same:
                return step
        return None

    def over(self, fault: Step) -> Step | None:
        """The first Step after a lasting fault was over; None if the Run or its target ended first,
        or if the fault does not last."""
        until = fault.option.fault.ends_ms(fault.now_ms)
        if until is None:
            return None
        crash = (FAULT, Crash.word, fault.option.key)
        end = self.end
        for step in self.steps[fault.number : end]:
            if (step.kind, step.option.verb, step.option.key) == crash:
                return None
            if step.now_ms >= until:
                return step
        return None

    def is_same_anyway(self, stale: StaleAct, since: Version) -> bool:
        """Whether the actor does the same when it knows of that write, as far as can be tried."""
        act = stale.act
        asked = (act.step, act.decided, stale.known.sighting.step, since.key, since.step)
        if asked not in self._asked:
            if len(self._asked) >= ASKED_MAX:
                return False
            claim = self.violation.invariant if self.violation is not None else ""
            self._asked[asked] = is_same_anyway(self.trace, stale, since, claim)
        return self._asked[asked]

    def is_waited_for(self, crash: Step) -> bool:
        """Whether the claim would hold if this crash had not come, as far as can be tried."""
        if crash.number not in self._waited_for:
            if self.violation is None or len(self._waited_for) >= CRASHES_MAX:
                return False
            claim = self.violation.invariant
            self._waited_for[crash.number] = is_waited_for(self.trace, crash, claim)
        return self._waited_for[crash.number]

    def was_right(self, version: Version) -> bool:
        """Whether the writer had looked at what matters, and it was still true when it wrote."""
        act = next(a for a in self._acts if a.step == version.step and not a.record)
        keys = sorted(self.shared)
        looked = any(self.knowledge.known(act.path, key, act.decided) for key in keys)
        return looked and not any(self.knowledge.stale(act, keys))


def _touched(step: Step) -> set[str]:
    keys = {change.key for change in step.marks.changes}
    return keys | {step.option.key} if step.kind == SERVE else keys
