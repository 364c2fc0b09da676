"""Knowledge: what each actor of a kept Trace took for true when it acted, and what it had missed.

1. Every write of the Trace is a Version of its object; what was there before the first is what
   that write replaced.
2. An actor learns when it is *told*: an answer (of what was there when the request was served), a
   delivery of a watch, its own write. A Cache learns in the turns that write it, and a task takes
   over what the Cache holds in the turns in which it looks there. What handlers are told, or
   another task, any task may have been told by them. A new life knows nothing.
3. An act is a write, or a record. It was decided in the turn that asked for it, on what its task
   had taken over by then. What others have written since, and before it took effect, was missed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import attrgetter

import attrs

from testbed.objects.meta import changed_fields
from testbed.store.change import Change, Entry
from testbed.store.delivery import BOOKMARK
from testbed.store.endpoint import EVERYTHING
from testbed.store.selector import Selector
from testbed.store.store_endpoint import READS
from testbed.turns.option import ANSWER, DELIVER, SERVE, START, request_key
from testbed.turns.trace import Record, Step, Trace
from testbed.words import spoken

GET, LIST, WATCH, WROTE = "get", "list", "watch", "wrote"
"""How an actor learns of an object."""
_step_of, _revision_of = attrgetter("step"), attrgetter("revision")


@attrs.frozen
class Version:
    """One write of one object."""

    key: str
    revision: int
    step: int
    actor: str
    word: str
    """What the writer did, as people say it: `update`, `bind`."""
    change: Change


@attrs.frozen
class Sighting:
    """One time that an actor was told how objects are."""

    step: int
    """The turn in which it was told."""
    read: int
    """The Step in which that was read: an answer may be late."""
    how: str
    """By get, list or watch, or because it wrote it itself."""
    revision: int
    """Of the Store, or of the object: it is so at that revision."""
    selector: Selector = EVERYTHING
    """Which objects it was told of, if it was a list or a watch."""
    fields: tuple[str, ...] | None = None
    """The fields it has declared to look at; None: all."""
    by_cache: bool = False
    """Whether a Cache of the actor was told."""
    is_handed_on: bool = True
    """Whether other tasks of the actor may have been told of it, where no trace shows it."""

    def shows(self, change: Change) -> bool:
        """Whether somebody who looks so would see that Change at all."""
        old, new = change.old, change.new
        if not (self.selector.has(old) or self.selector.has(new)):
            return False
        if self.fields is None or old is None or new is None:
            return True
        return any(
            f"{path}.".startswith(f"{field}.") or f"{field}.".startswith(f"{path}.")
            for path in changed_fields(old.value, new.value)
            for field in self.fields
        )


@attrs.frozen
class Known:
    """What a task took for true of one object."""

    key: str
    look: Sighting
    entry: Entry | None
    """The object as it knew it; None if it knew of none."""


@attrs.frozen
class Act:
    """What an actor did to be seen: a write, or a record."""

    step: int
    """When it took effect."""
    decided: int
    """The turn that asked for it."""
    path: str
    """The task that did."""
    actor: str
    word: str = ""
    versions: tuple[Version, ...] = ()
    """What it wrote."""
    record: Record | None = None

    @property
    def keys(self) -> list[str]:
        """The objects it wrote."""
        return [version.key for version in self.versions]


@attrs.frozen
class StaleAct:
    """An act on something that others had changed since."""

    act: Act
    known: Known
    missed: tuple[Version, ...]
    """What it did not know of, oldest first."""


class Knowledge:
    """Who knew what, and when, in one kept Trace."""

    def __init__(self, trace: Trace) -> None:
        self.versions: dict[str, list[Version]] = {}
        """Every write, by object, oldest first."""
        self.acts: list[Act] = []
        self._looks: dict[tuple[str, str], list[Sighting]] = {}
        """By who looked (a task, a Cache, an actor) and at what (an object, or a kind)."""
        self._took: dict[tuple[str, str], list[int]] = {}
        """The turns in which a task looked into the Cache of that kind."""
        self._born: dict[str, list[int]] = {}
        self._asked: dict[str, int] = {}
        self._served: dict[int, tuple[Step, int]] = {}
        """By number: what was served, and the Store's revision then."""
        self._seen_by: dict[tuple[str, str], Sighting] = {}
        """How each actor lists or watches a kind: which objects, which fields."""
        self._revision = 0
        for item in trace.items:
            if isinstance(item, Record):
                actor = item.path.partition("/")[0]
                self.acts.append(Act(item.step, item.step, item.path, actor, record=item))
            else:
                self._note(item)

    # -- reading the Trace ----------------------------------------------------------------------

    def _note(self, step: Step) -> None:
        option, marks = step.option, step.marks
        if step.kind == SERVE:
            self._serves(step)
        elif step.kind == ANSWER:
            self._answered(step)
        elif step.kind == DELIVER:
            self._delivered(step)
        elif step.kind == START and option.path == f"{option.actor}/main":
            self._born.setdefault(option.actor, []).append(step.number)
        for key in dict.fromkeys(marks.reads):
            if key.startswith("cache:"):
                plural = key.partition("/")[2].partition("/")[0]
                self._took.setdefault((_mover(step), plural), []).append(step.number)

    def _serves(self, step: Step) -> None:
        option, operation = step.option, step.operation
        verb, _, part = option.verb.partition(".")
        request = request_key(option.path, verb, option.key, option.nth)
        if not part:
            self._asked[request] = step.causes[-1] if step.causes else step.number
        self._served[step.number] = (step, self._revision)
        if operation is not None and operation.verb in (LIST, WATCH):
            self._seen_by[option.actor, operation.plural] = Sighting(
                0, 0, LIST, 0, operation.selector, operation.options.get("fields")
            )
        word = spoken(*verb.partition("/")[::2])
        made = [
            Version(c.key, c.revision, step.number, option.actor, word, c)
            for c in step.marks.changes
        ]
        for version in made:
            self.versions.setdefault(version.key, []).append(version)
            self._revision = version.revision
        if made:
            decided = self._asked.get(request, step.number)
            act = Act(step.number, decided, option.path, option.actor, word, tuple(made))
            self.acts.append(act)

    def _answered(self, step: Step) -> None:
        # An answer that follows from something else than its request is a fault's, or a refusal.
        served, then = self._served.get(step.causes[-1], (None, 0))
        if served is None or served.operation is None:
            return
        operation, revision = served.operation, _number(served.revision)
        told = step.number
        if served.marks.changes:
            for change in served.marks.changes:
                self._learn(step, change.key, Sighting(told, served.number, WROTE, change.revision))
        elif operation.verb == GET and served.outcome in ("", "NotFound"):
            # What is absent is absent at the Store's own revision.
            self._learn(step, operation.key, Sighting(told, served.number, GET, revision or then))
        elif operation.verb == LIST and not served.outcome:
            how = self._seen_by[served.option.actor, operation.plural]
            look = attrs.evolve(how, step=told, read=served.number, revision=revision)
            self._learn(step, operation.plural, look)

    def _delivered(self, step: Step) -> None:
        option = step.option
        if step.outcome or option.change in (BOOKMARK, "BROKEN"):
            return
        plural = option.key.partition("/")[0]
        how = self._seen_by.get((option.actor, plural), Sighting(0, 0, WATCH, 0))
        told, revision = step.number, _number(step.revision)
        look = attrs.evolve(how, step=told, read=told, how=WATCH, revision=revision)
        self._learn(step, option.key, look)

    def _learn(self, step: Step, what: str, look: Sighting) -> None:
        """Its task is told, its actor is, and its Cache if this turn has written it."""
        option = step.option
        caches = [key for key in dict.fromkeys(step.marks.writes) if key.startswith("cache:")]
        is_handed_on = not caches or step.marks.is_handed_on
        look = attrs.evolve(look, by_cache=bool(caches), is_handed_on=is_handed_on)
        told = [_mover(step), option.actor]
        if caches:
            told.append(f"cache:{option.actor}/{what.partition('/')[0]}")
        if is_handed_on:
            told.append(_all_tasks(option.actor))
        for who in told:
            self._looks.setdefault((who, what), []).append(look)

    # -- asking ---------------------------------------------------------------------------------

    def known(self, path: str, key: str, at: int) -> Known | None:
        """What that task took for true of that object in turn `at`; None if it had never looked."""
        actor, plural = path.partition("/")[0], key.partition("/")[0]
        born = self._birth(actor, at)
        # A task that has not looked into the Cache may have been handed things by its handlers.
        taken = self._looked(path, plural, at)
        looked = at if taken is None else taken
        found = [(look.step, look) for look in self._last(path, key, born, at)]
        for look in self._last(f"cache:{actor}/{plural}", key, born, looked):
            found.append((look.step if taken is None else looked, look))
        found += [(look.step, look) for look in self._last(_all_tasks(actor), key, born, at)]
        if not found:
            found = [(look.step, look) for look in self._last(actor, key, born, at)]
        if not found:
            return None
        look = max(found, key=lambda pair: (pair[0], pair[1].step))[1]
        entry = self.entry(key, look.revision)
        return Known(key, look, entry if look.selector.has(entry) else None)

    def _birth(self, actor: str, at: int) -> int:
        """When the life began that it was in."""
        births = self._born.get(actor, [])
        place = bisect_right(births, at)
        return births[place - 1] if place else 0

    def _looked(self, path: str, plural: str, at: int) -> int | None:
        """When that task had last looked into its Cache of that kind; None if never."""
        took = self._took.get((path, plural), [])
        place = bisect_right(took, at)
        return took[place - 1] if place else None

    def _last(self, who: str, key: str, born: int, at: int) -> Iterator[Sighting]:
        """The last look at the object, and the last list of its kind, in that life."""
        for what in (key, key.partition("/")[0]):
            looks = self._looks.get((who, what), [])
            place = bisect_right(looks, at, key=_step_of)
            if place and looks[place - 1].step >= born:
                yield looks[place - 1]

    def entry(self, key: str, revision: int) -> Entry | None:
        """The object as it was at that revision, if it was."""
        versions = self.versions.get(key, [])
        place = bisect_right(versions, revision, key=_revision_of)
        if place:
            return versions[place - 1].change.new
        return versions[0].change.old if versions else None

    def stale(self, act: Act, keys: Iterable[str]) -> Iterator[StaleAct]:
        """For each of these objects that others had changed before the act, unknown to it."""
        for key in keys:
            known = self.known(act.path, key, act.decided)
            if known is not None:
                missed = tuple(self.missed(known, act))
                if missed:
                    yield StaleAct(act, known, missed)

    def unseen(self, act: Act, keys: Iterable[str]) -> Iterator[Version]:
        """Of each of these objects the last write of that life's own that its Cache did not show
        yet when it was decided, if its task had looked there since. What it remembers is its own.
        """
        for key in keys:
            plural = key.partition("/")[0]
            born = self._birth(act.actor, act.decided)
            looked = self._looked(act.path, plural, act.decided)
            if looked is None:
                continue
            looks = self._last(f"cache:{act.actor}/{plural}", key, born, act.decided)
            look = max(looks, key=_revision_of, default=None)
            if look is None:
                continue
            versions = self.versions.get(key, [])
            later = versions[bisect_right(versions, look.revision, key=_revision_of) :]
            own = [v for v in later if v.actor == act.actor and born <= v.step <= looked]
            if own and look.shows(own[-1].change):
                yield own[-1]

    def missed(self, known: Known, act: Act) -> Iterator[Version]:
        """What others wrote of that object after what was known, and before the act."""
        versions = self.versions.get(known.key, [])
        first = bisect_right(versions, known.look.revision, key=_revision_of)
        for version in islice(versions, first, None):
            if version.step >= act.step:
                return
            if version.actor != act.actor and known.look.shows(version.change):
                yield version

    def version(self, key: str, revision: int) -> Version | None:
        """The write that gave the object this revision."""
        versions = self.versions.get(key, [])
        place = bisect_right(versions, revision, key=_revision_of)
        found = versions[place - 1] if place else None
        return found if found is not None and found.revision == revision else None

    def heard(self, act: Act, version: Version) -> Sighting | None:
        """When its actor was first told of that write, or of a later one, in the life in which it
        acted; else when an earlier life was; None if none ever was."""
        plural = version.key.partition("/")[0]
        looks = [
            look
            for what in (version.key, plural)
            for look in self._looks.get((act.actor, what), [])
            if look.revision >= version.revision
        ]
        return min(
            looks, key=lambda look: (not self.is_of_life(look, act), look.step), default=None
        )

    def is_of_life(self, look: Sighting, act: Act) -> bool:
        """Whether the actor was told so in the life in which it acted."""
        return self._birth(act.actor, look.step) == self._birth(act.actor, act.decided)


def _all_tasks(actor: str) -> str:
    return f"{actor}/*"


def changed_nothing(step: Step) -> bool:
    """Whether it is a write that left all as it was, so that no revision came of it."""
    verb, _, part = step.option.verb.partition(".")
    is_write = step.kind == SERVE and verb.partition("/")[0] not in READS
    # Of a request in several parts another may have written; a refusal has no revision.
    return is_write and not part and bool(step.revision) and not step.marks.changes


def _mover(step: Step) -> str:
    """The task that moved: of a delivery it is not the watch, but who reads it."""
    seat = step.option.seat
    return step.option.path if seat is None else str(seat.path)


def _number(revision: str) -> int:
    return int(revision) if revision.isdecimal() else 0
