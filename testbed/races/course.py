"""Course: what was done in a violated Run, to compare it with the Run of a smaller World.

Two Runs take the same course if the same claim says the same, and each actor has asked for the
same at the same times, got the same outcomes, written the same, recorded the same and picked the
same. Revisions, uids and the hashes in the names of Events are left out: they count what was there
before, so they differ whatever is left out of a World.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import attrs

from testbed.objects.codec import encode
from testbed.objects.kinds import kinds_below
from testbed.objects.meta import Object
from testbed.store.change import Change
from testbed.store.store_endpoint import READS
from testbed.turns.option import FAULT, PICK, SERVE
from testbed.turns.trace import Record, Step
from testbed.turns.verdict import Violation
from testbed.world.world import World

WORD = re.compile(r"[\w.-]*\w")
STAMPS = re.compile(r'("(?:uid|revision)":)"[^"]*"')
HASHED = re.compile(r"(events/[\w./-]+|\"name\":\"[\w.-]+)\.[0-9a-f]{16}(?![0-9a-f])")


@attrs.frozen
class Done:
    """One thing that was done: a request that was served, a record, a pick, or a fault."""

    actor: str
    text: str
    """What it was, with all that came of it; without what depends on how much there is."""
    about: frozenset[str]
    """The objects that it wrote or spoke of."""
    looked: frozenset[str] = frozenset()
    """The objects that it read by their keys, and not because it was about them."""


@attrs.frozen
class Course:
    """What was done in a violated Run."""

    said: str
    """What the claim said."""
    done: tuple[Done, ...]
    made: Mapping[str, str]
    """By key: which actor created what was not there at the start."""

    def aside(self, actors: Iterable[str], keys: Iterable[str]) -> dict[str, list[str]]:
        """By actor, what was done in order, but for what these actors did and what was done to
        these objects."""
        out, gone = frozenset(actors), frozenset(keys)
        rest: dict[str, list[str]] = {}
        for each in self.done:
            if each.actor not in out and gone.isdisjoint(each.about):
                rest.setdefault(each.actor, []).append(each.text)
        return rest

    def made_by(self, actors: Iterable[str]) -> frozenset[str]:
        """The objects that these actors created."""
        makers = frozenset(actors)
        return frozenset(key for key, actor in self.made.items() if actor in makers)

    def is_looked_at(self, keys: Iterable[str], out: Iterable[str]) -> bool:
        """Whether an actor, other than these that are out, read one of these objects by its key."""
        looked, gone = frozenset(keys), frozenset(out)
        return any(each.actor not in gone and looked & each.looked for each in self.done)


def course_of(world: World, violation: Violation) -> Course:
    """Return the course of a Run. Its Steps must be kept."""
    words = _Words(world)
    items = world.trace.items
    made: dict[str, str] = {}
    for step in items:
        if isinstance(step, Step):
            for change in step.marks.changes:
                if change.old is None:
                    made.setdefault(change.key, step.option.actor)
    done = tuple(each for item in items if (each := words.done(item)) is not None)
    return Course(words.plain(violation.said), done, made)


def content_of(value: object) -> str:
    """What an object says, without its uid and its revision."""
    try:
        return HASHED.sub(r"\1", STAMPS.sub(r'\1""', encode(value).decode()))
    except TypeError:
        return repr(value)


class _Words:
    """Puts what was done in a Run into words that another Run has in common with it."""

    def __init__(self, world: World) -> None:
        self._names: dict[str, str] = {}
        """By uid: the key of the object, and which of that key it is."""
        lives: dict[str, int] = {}
        store = world.store
        for change in store.changes(since=max(store.compacted - 1, 0)):
            value = change.after
            if isinstance(value, Object) and value.meta.uid not in self._names:
                nth = lives[change.key] = lives.get(change.key, 0) + 1
                self._names[value.meta.uid] = f"uid {nth} of {change.key}"

    def plain(self, text: str) -> str:
        """The text with the name of each object in place of its uid."""
        return WORD.sub(lambda word: self._names.get(word[0], word[0]), HASHED.sub(r"\1", text))

    def done(self, item: Step | Record) -> Done | None:
        """What was done in that Step or Record; None if nothing that another Run must repeat."""
        if isinstance(item, Record):
            actor, facts = item.path.partition("/")[0], content_of(item.facts)
            text = f"{item.now_ms} {item.path} records {item.name} {facts}"
            return Done(actor, self.plain(text), item.speaks_of)
        option = item.option
        if option.kind in (FAULT, PICK):
            actor = option.actor if option.kind == PICK else ""
            asked = f"{option.path} {option.verb} {option.key} {option.label}"
            return Done(actor, self.plain(f"{item.now_ms} {option.kind} {asked}"), frozenset())
        return self._served(item) if option.kind == SERVE else None

    def _served(self, step: Step) -> Done:
        option, changes = step.option, step.marks.changes
        is_read = option.verb.partition(".")[0] in READS
        about = set() if is_read else _prefixes(option.key)
        about |= {change.key for change in changes}
        looked = step.did.reads - about
        about |= {key for change in changes for key in _regarded(change)}
        written = " ".join(sorted(f"{each.key}={_new(each)}" for each in changes))
        text = f"{step.now_ms} {option.path} {option.verb} {option.key} {step.outcome} {written}"
        return Done(option.actor, self.plain(text), frozenset(about), looked)


def _prefixes(key: str) -> set[str]:
    """The key of a request; if it is for a subresource, the key of the object, too."""
    parts = key.split("/")
    return {"/".join(parts[:count]) for count in range(2, len(parts) + 1)}


def _new(change: Change) -> str:
    return "gone" if change.new is None else content_of(change.new.value)


def _regarded(change: Change) -> Iterator[str]:
    """What the Event is about that was written, if it was an Event."""
    value = change.after
    about = getattr(value, "involved", None)
    if about is not None:
        place = f"{about.namespace}/" if about.namespace else ""
        plurals = {kind.kind: kind.plural for kind in kinds_below() if kind.plural}
        plural = plurals.get(about.kind, f"{about.kind.lower()}s")
        yield f"{plural}/{place}{about.name}"
