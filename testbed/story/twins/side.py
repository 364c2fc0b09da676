"""PlayedSide: one Run, read to be compared with another that was played like it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import attrs

from testbed.objects.codec import decode, encode_any
from testbed.objects.meta import changed_fields, field_of
from testbed.store.change import Change, plural_of
from testbed.story.knowledge import Act, Knowledge, Known, Version
from testbed.story.requests import Requests, Sent
from testbed.story.sightings import WROTE
from testbed.turns.option import SERVE
from testbed.turns.trace import Record, Step, Trace

EVENTS = "events"
ASIDE = frozenset({EVENTS, "leases"})
"""Kinds of which no write is ever what broke a claim: they tell, or they renew."""
UNTOLD = frozenset({
    "uid", "revision", "created_ms", "resourceVersion", "managedFields", "managed_fields",
    "generation", "observed_generation", "renew_ms", "renew_time", "acquire_ms",
})  # fmt: skip
"""Fields that differ between two Runs in which the same was done at another time."""
DELETED = "deleted_ms"
RECORD = "record:"
"""Begins the key of what only a record tells."""

Ident = tuple[str, int, str, str, int]
"""By which a request is found again in another Run: its task, life, verb, key and number."""


@attrs.frozen(eq=False)
class TracedEffect:
    """One object that was written, or one record."""

    step: int
    key: str
    """Of the object; of a record, `record:` with its task and its name."""
    act: Act
    sent: Sent | None = None
    """The request that wrote it; None for a record."""
    version: Version | None = None

    @property
    def change(self) -> Change | None:
        """What it wrote; None for a record."""
        return None if self.version is None else self.version.change

    @property
    def record(self) -> Record | None:
        """The record; None for a write."""
        return self.act.record

    @property
    def is_aside(self) -> bool:
        """Whether it only tells or renews."""
        return self.version is None or is_aside(self.key)


def is_aside(key: str) -> bool:
    """Whether what is written there only tells or renews: an Event, a Lease."""
    return plural_of(key) in ASIDE


class PlayedSide:
    """One played Run as values: what was written, by which request, and who knew what."""

    def __init__(self, trace: Trace, knowledge: Knowledge, requests: Requests) -> None:
        self.trace = trace
        self.steps = trace.steps
        self.knowledge = knowledge
        self.requests = requests
        self.sent: dict[Ident, Sent] = {}
        """The requests that were served, by what they are found again by."""
        self._of_step: dict[int, Sent] = {}
        for sent in requests.all:
            if sent.parts:
                self.sent.setdefault(ident(sent), sent)
                self._of_step |= {part.number: sent for part in sent.parts}
        self.effects = list(self._effects())
        """All that was written and recorded, in the order of the Trace."""
        self.times = {str(step.now_ms) for step in self.steps if step.now_ms}
        self._plain: dict[int, tuple[object, str]] = {}

    @classmethod
    def of(cls, trace: Trace) -> PlayedSide:
        """The same of a Trace alone."""
        return cls(trace, Knowledge(trace), Requests(trace))

    def _effects(self) -> Iterator[TracedEffect]:
        # What is recorded with the answer to a write was decided when that was asked.
        answered = {
            (sent.path, sent.answered): sent.asked for sent in self.requests.all if sent.is_write
        }
        for act in self.knowledge.acts:
            if act.record is not None:
                asked = answered.get((act.path, act.step), act.decided)
                key = f"{RECORD}{act.path}:{act.record.name}"
                yield TracedEffect(act.step, key, attrs.evolve(act, decided=asked))
            for version in act.versions:
                yield TracedEffect(act.step, version.key, act, self._of_step[act.step], version)

    @cached_property
    def initial(self) -> dict[str, Change]:
        """The objects that were there before anything moved, as they were made."""
        world = self.trace.played_in
        if world is None or world.store.compacted:
            return {}
        changes = world.store.log().changes
        played = {change.serial for step in self.steps for change in step.marks.changes}
        return {change.key: change for change in changes if change.serial not in played}

    @cached_property
    def keys(self) -> list[str]:
        """All objects that have ever been there."""
        return sorted({*self.initial, *self.knowledge.versions})

    def written_before(self, effect: TracedEffect) -> TracedEffect | None:
        """What the task of a record had last written and got the answer to before it; None if it
        is no record, or there is nothing. What is recorded changes nothing by itself."""
        if effect.record is None:
            return None
        sent = [
            each
            for each in self.requests.all
            if each.path == effect.act.path and each.is_write and 0 < each.answered <= effect.step
        ]
        # Of another Endpoint, such as a cloud, no write is an effect of the Run.
        written = [each for each in self.effects if sent and each.sent is sent[-1]]
        return next((each for each in written if not each.is_aside), None)

    def request_of(self, step: int) -> Sent | None:
        """The request of which that Step served a part."""
        return self._of_step.get(step)

    def value(self, key: str, before: int) -> Any:
        """The object before that Step; None if there was none."""
        versions = self.knowledge.versions.get(key, [])
        place = bisect_left(versions, before, key=lambda version: version.step)
        if place:
            entry = versions[place - 1].change.new
        elif versions:
            entry = versions[0].change.old
        else:
            entry = self.initial[key].new if key in self.initial else None
        return None if entry is None else entry.value

    def known(self, path: str, key: str, at: int) -> Known | None:
        """What that task knew of that object in turn `at`; None if it had never learned of it. Of a
        kind that its actor keeps in a Cache, answers to its own writes tell it nothing."""
        known = self.knowledge.known(path, key, at)
        if known is not None and known.sighting.how == WROTE:
            actor = path.partition("/")[0]
            known = self.knowledge.cached(Act(at, at, path, actor), key) or known
        if known is not None and known.entry is None and key not in self.knowledge.versions:
            first = self.initial.get(key)
            if first is not None and known.sighting.selector.has(first.new):
                return attrs.evolve(known, entry=first.new)
        return known

    def last_writer(self, key: str, before: int) -> Version | None:
        """The last write of that object before that Step."""
        versions = self.knowledge.versions.get(key, [])
        place = bisect_left(versions, before, key=lambda version: version.step)
        return versions[place - 1] if place else None

    def maker(self, key: str, value: object) -> Version | None:
        """The last write that left that object so."""
        plain = self.plain(value)
        for version in reversed(self.knowledge.versions.get(key, [])):
            new = version.change.new
            if self.plain(None if new is None else new.value) == plain:
                return version
        return None

    def plain(self, value: object) -> str:
        """A value as text, without what differs when the same was done at another time."""
        if value is None:
            return ""
        kept = self._plain.get(id(value))
        if kept is None or kept[0] is not value:
            try:
                text = repr(self._stripped(decode(encode_any(value))))
            except (TypeError, ValueError, RecursionError):
                text = type(value).__name__
            kept = self._plain[id(value)] = (value, text)
        return kept[1]

    def _stripped(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: (each is not None) if name == DELETED else self._stripped(each)
                for name, each in sorted(value.items())
                if name == DELETED or not _is_untold(name, each)
            }
        if isinstance(value, list):
            return [self._stripped(each) for each in value]
        return "a time" if isinstance(value, str) and value in self.times else value

    def fields(self, old: Any, new: Any) -> list[str]:
        """The fields in which two versions of an object differ, without such as those above."""
        return [
            field
            for field in changed_fields(old, new)
            if field.rpartition(".")[2] not in UNTOLD
            and self.plain(field_of(old, field)) != self.plain(field_of(new, field))
        ]

    def what(self, effect: TracedEffect) -> str:
        """What it did, as text that is the same in another Run in which it did the same."""
        if effect.record is not None:
            return f"recorded {self.plain(effect.record.facts)}"
        assert effect.change is not None
        old, new = effect.change.before, effect.change.after
        if new is None:
            return "removed"
        if old is None:
            return f"created {self.plain(new)}"
        return "; ".join(f"{f}={self.plain(field_of(new, f))}" for f in self.fields(old, new))

    def step(self, number: int) -> Step:
        """The Step with that number."""
        return self.steps[number - 1]


def _is_untold(name: str, value: object) -> bool:
    is_time = name.endswith("_at") or (name.endswith("_ms") and isinstance(value, int))
    return is_time or name in UNTOLD


def ident(sent: Sent) -> Ident:
    """What a request that was served is found again by."""
    option = sent.parts[0].option
    assert option.kind == SERVE
    return (sent.path, option.life, sent.verb, sent.key, option.nth)
