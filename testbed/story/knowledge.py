"""Knowledge: what each actor of a kept Trace knew when it acted, and what it had missed.

1. Every write of the Trace is a Version of its object. Before its first write, an object is what
   that write replaced.
2. An actor learns of an object from an answer (the object as it was when the request was served),
   from a delivery of a watch, or from its own write. A Cache learns in the turns that write it. A
   task learns what the Cache holds in the turns in which it reads the Cache. What a handler or
   another task learns may reach every task of the actor. A new life knows nothing.
3. An act is a write, or a record. It was decided in the turn that asked for it, on what its task
   knew in that turn. It missed what others wrote after that knowledge and before it took effect.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import attrgetter

import attrs

from testbed.store.change import Change, Entry, plural_of
from testbed.store.delivery import BOOKMARK
from testbed.store.store_endpoint import READS
from testbed.story.sightings import GET, LIST, WATCH, WROTE, Sighting, Sightings
from testbed.turns.option import ANSWER, DELIVER, SERVE, START, request_key
from testbed.turns.trace import Record, Step, Trace
from testbed.words import spoken

_revision_of = attrgetter("revision")
CURSOR = "cursor:"
"""What a request reads that is answered from the watch cache of a server that lags."""


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
    asked: str = ""
    """The object that the request was about, if this one was only written for it: of an eviction
    the pod, where this is its budget."""

    @property
    def subject(self) -> str:
        """What people say was bound, evicted or updated by that request."""
        return self.asked or self.key


@attrs.frozen
class Known:
    """What a task knew of one object."""

    key: str
    sighting: Sighting
    """How it knew."""
    entry: Entry | None
    """The object as the task knew it; None if it knew of no such object."""


@attrs.frozen
class Act:
    """Something an actor did that others can see: a write, or a record."""

    step: int
    """When it took effect."""
    decided: int
    """The turn that asked for it."""
    path: str
    """The task that did it."""
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
    """An act that was decided on an old version of an object."""

    act: Act
    known: Known
    missed: tuple[Version, ...]
    """What others wrote to the object in the meantime, oldest first."""


class Knowledge:
    """Who knew what, and when, in one kept Trace."""

    def __init__(self, trace: Trace) -> None:
        self.versions: dict[str, list[Version]] = {}
        """Every write, by object, oldest first."""
        self.acts: list[Act] = []
        self._of_tasks = Sightings()
        """By path: what the task itself was given."""
        self._of_caches = Sightings()
        """By actor: what its Caches were given."""
        self._of_all_tasks = Sightings()
        """By actor: what may have reached every task of it."""
        self.of_actors = Sightings()
        """By actor: everything that any part of it learned."""
        self._cache_reads: dict[tuple[str, str], list[int]] = {}
        """By task and kind: the turns in which the task read the Cache."""
        self.births: dict[str, list[int]] = {}
        """By actor: the turns in which its lives began."""
        self._asked: dict[str, int] = {}
        """By request: the turn that asked for it."""
        self._served: dict[int, tuple[Step, int]] = {}
        """By number: the Steps that served a request, and the Store's revision then."""
        self._shown: dict[tuple[str, str], Sighting] = {}
        """By actor and kind: which objects and fields its lists and watches show."""
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
            self._note_served(step)
        elif step.kind == ANSWER:
            self._note_answered(step)
        elif step.kind == DELIVER:
            self._note_delivered(step)
        elif step.kind == START and option.path == f"{option.actor}/main":
            self.births.setdefault(option.actor, []).append(step.number)
        for key in dict.fromkeys(marks.reads):
            if key.startswith("cache:"):
                kind = plural_of(key.partition("/")[2])
                self._cache_reads.setdefault((task_of(step), kind), []).append(step.number)

    def _note_served(self, step: Step) -> None:
        """(1 and 3) The Versions that a request wrote, and the act they are."""
        option, operation = step.option, step.operation
        verb, _, part = option.verb.partition(".")
        request = request_key(option.path, verb, option.key, option.nth)
        # Served in several parts, it was still decided in the turn that caused the first of them.
        if not part:
            self._asked[request] = step.causes[-1] if step.causes else step.number
        self._served[step.number] = (step, self._revision)
        if operation is not None and operation.verb in (LIST, WATCH):
            fields = operation.options.get("fields")
            self._shown[option.actor, operation.plural] = Sighting(
                0, 0, LIST, 0, operation.selector, fields, _server_of(step)
            )
        word = spoken(*verb.partition("/")[::2])
        made = [
            Version(c.key, c.revision, step.number, option.actor, word, c, _asked(step, c.key))
            for c in step.marks.changes
        ]
        for version in made:
            self.versions.setdefault(version.key, []).append(version)
            self._revision = version.revision
        if made:
            decided = self._asked.get(request, step.number)
            act = Act(step.number, decided, option.path, option.actor, word, tuple(made))
            self.acts.append(act)

    def _note_answered(self, step: Step) -> None:
        """(2) What an answer says was true when its request was served."""
        # An answer with another cause than its request comes from a fault, or is a refusal.
        served, then = self._served.get(step.causes[-1], (None, 0))
        if served is None or served.operation is None:
            return
        operation, revision = served.operation, _number(served.revision)
        now, read = step.number, served.number
        if served.marks.changes:
            for change in served.marks.changes:
                self._learn(step, change.key, Sighting(now, read, WROTE, change.revision))
        elif operation.verb == GET and served.outcome in ("", "NotFound"):
            # An absent object has no revision: it was absent at the revision of the Store.
            found = Sighting(now, read, GET, revision or then, server=_server_of(served))
            self._learn(step, operation.key, found)
        elif operation.verb == LIST and not served.outcome:
            shown = self._shown[served.option.actor, operation.plural]
            sighting = attrs.evolve(shown, step=now, read=read, revision=revision)
            self._learn(step, operation.plural, sighting)

    def _note_delivered(self, step: Step) -> None:
        """(2) What a watch delivers is read and learned in the same turn."""
        option = step.option
        if step.outcome or option.change in (BOOKMARK, "BROKEN"):
            return
        shown = self._shown.get((option.actor, plural_of(option.key)), Sighting(0, 0, WATCH, 0))
        now, revision = step.number, _number(step.revision)
        sighting = attrs.evolve(shown, step=now, read=now, how=WATCH, revision=revision)
        self._learn(step, option.key, sighting)

    def _learn(self, step: Step, what: str, sighting: Sighting) -> None:
        """(2) Give it to the task, to the actor, and to the Cache if this turn wrote it."""
        actor = step.option.actor
        by_cache = any(key.startswith("cache:") for key in step.marks.writes)
        # What goes into a Cache alone reaches a task when the task reads the Cache. But a handler
        # can tell any task, and so can a task that got it itself: no trace shows how.
        is_handed_on = not by_cache or step.marks.is_handed_on
        sighting = attrs.evolve(sighting, by_cache=by_cache, is_handed_on=is_handed_on)
        self._of_tasks.add(task_of(step), what, sighting)
        self.of_actors.add(actor, what, sighting)
        if by_cache:
            self._of_caches.add(actor, what, sighting)
        if is_handed_on:
            self._of_all_tasks.add(actor, what, sighting)

    # -- asking ---------------------------------------------------------------------------------

    def known(self, path: str, key: str, at: int) -> Known | None:
        """What that task knew of that object in turn `at`; None if it had never learned of it."""
        actor = path.partition("/")[0]
        born = self.birth(actor, at)
        cache_read = self.last_cache_read(path, key, at)
        # Each with the turn in which the task got it. A story blames no task for what it may have
        # known, so the newest counts. Of a Cache that is the turn in which the task read it, and
        # what the Cache held then: a task that never read the Cache may know it from a handler.
        found = [(s.step, s) for s in self._of_tasks.last(path, key, born, at)]
        if cache_read is None:
            found += [(s.step, s) for s in self._of_caches.last(actor, key, born, at)]
        else:
            held = self._of_caches.last(actor, key, born, cache_read)
            found += [(cache_read, s) for s in held]
        found += [(s.step, s) for s in self._of_all_tasks.last(actor, key, born, at)]
        if not found:
            found = [(s.step, s) for s in self.of_actors.last(actor, key, born, at)]
        if not found:
            return None
        sighting = max(found, key=lambda pair: (pair[0], pair[1].step))[1]
        entry = self.entry(key, sighting.revision)
        return Known(key, sighting, entry if sighting.selector.has(entry) else None)

    def birth(self, actor: str, at: int) -> int:
        """The turn in which the life began that the actor was in at turn `at`."""
        births = self.births.get(actor, [])
        place = bisect_right(births, at)
        return births[place - 1] if place else 0

    def last_cache_read(self, path: str, key: str, at: int) -> int | None:
        """When that task last read its Cache of the object's kind; None if it never did."""
        reads = self._cache_reads.get((path, plural_of(key)), [])
        place = bisect_right(reads, at)
        return reads[place - 1] if place else None

    def entry(self, key: str, revision: int) -> Entry | None:
        """The object as it was at that revision; None if there was none."""
        versions = self.versions.get(key, [])
        place = bisect_right(versions, revision, key=_revision_of)
        if place:
            return versions[place - 1].change.new
        return versions[0].change.old if versions else None

    def stale(self, act: Act, keys: Iterable[str]) -> Iterator[StaleAct]:
        """(3) For each of these objects that the act was stale on, what it missed. A user who
        reads nothing creates from a script: it goes by what it made before only if that is gone."""
        for key in keys:
            known = self.known(act.path, key, act.decided)
            missed = tuple(self.missed(known, act)) if known is not None else ()
            if known is not None and missed and self._rests_on(act, known, missed):
                yield StaleAct(act, known, missed)

    def _rests_on(self, act: Act, known: Known, missed: Iterable[Version]) -> bool:
        is_made = known.sighting.how == WROTE and known.key not in act.keys
        is_typed = act.word == "create" and not self.has_read(act.actor, act.decided)
        return not (is_made and is_typed) or any(each.change.new is None for each in missed)

    def cached(self, act: Act, key: str) -> Known | None:
        """What the actor's Caches showed of that object when the act was decided; None if they had
        never shown its kind in that life."""
        born = self.birth(act.actor, act.decided)
        shown = self._of_caches.last(act.actor, key, born, act.decided)
        sighting = max(shown, key=_revision_of, default=None)
        if sighting is None:
            return None
        entry = self.entry(key, sighting.revision)
        return Known(key, sighting, entry if sighting.selector.has(entry) else None)

    def has_heard(self, actor: str, version: Version, until: int, since: int = 0) -> bool:
        """Whether the actor had read or been told of that write, or a later one, between these
        turns, in whatever life; answers to its own writes do not count."""
        return any(
            sighting.how != WROTE
            and sighting.revision >= version.revision
            and max(version.step, since - 1) < sighting.step <= until
            for found in self.of_actors.of(actor, version.key)
            for sighting in found
        )

    def has_met(self, actor: str, key: str, until: int) -> bool:
        """Whether the actor had ever learned anything of that object by that turn."""
        return any(True for _ in self.of_actors.last(actor, key, 0, until))

    def has_read(self, actor: str, until: int) -> bool:
        """Whether the actor had read anything by that turn. A user who types commands has not."""
        return self.of_actors.any_by(actor, until)

    def unseen(self, act: Act, keys: Iterable[str]) -> Iterator[Version]:
        """For each of these objects, the actor's own last write that its Cache did not show when
        the act was decided. Only writes of the same life, made before the task last read the Cache:
        what it wrote after that, the task remembers by itself."""
        for key in keys:
            born = self.birth(act.actor, act.decided)
            cache_read = self.last_cache_read(act.path, key, act.decided)
            if cache_read is None:
                continue
            shown = self._of_caches.last(act.actor, key, born, act.decided)
            sighting = max(shown, key=_revision_of, default=None)
            if sighting is None:
                continue
            versions = self.versions.get(key, [])
            later = versions[bisect_right(versions, sighting.revision, key=_revision_of) :]
            own = [v for v in later if v.actor == act.actor and born <= v.step <= cache_read]
            if own and sighting.shows(own[-1].change):
                yield own[-1]

    def missed(self, known: Known, act: Act) -> Iterator[Version]:
        """What others wrote to that object after what was known, and before the act."""
        versions = self.versions.get(known.key, [])
        first = bisect_right(versions, known.sighting.revision, key=_revision_of)
        for version in islice(versions, first, None):
            if version.step >= act.step:
                return
            if version.actor != act.actor and known.sighting.shows(version.change):
                yield version

    def version(self, key: str, revision: int) -> Version | None:
        """The write that gave the object this revision."""
        versions = self.versions.get(key, [])
        place = bisect_right(versions, revision, key=_revision_of)
        found = versions[place - 1] if place else None
        return found if found is not None and found.revision == revision else None

    def first_told(self, act: Act, version: Version) -> Sighting | None:
        """When the actor first learned of that write, or of a later one, in the life in which it
        acted; else in an earlier life; None if it never did."""
        found = (s for each in self.of_actors.of(act.actor, version.key) for s in each)
        late = [sighting for sighting in found if sighting.revision >= version.revision]
        return min(late, key=lambda s: (not self.is_of_life(s, act), s.step), default=None)

    def went_back(self, act: Act, key: str) -> tuple[Sighting, Version] | None:
        """What the life in which it acted learned first of that object, if an earlier life had been
        told of something newer; and the last write that the earlier one had been told of."""
        born = self.birth(act.actor, act.decided)
        found = [s for each in self.of_actors.of(act.actor, key) for s in each if s.how != WROTE]
        early = max((s.revision for s in found if s.step < born), default=0)
        late = [sighting for sighting in found if born <= sighting.step <= act.decided]
        first = min(late, key=attrgetter("step"), default=None)
        if first is None or first.revision >= early:
            return None
        told = [v for v in self.versions.get(key, []) if first.revision < v.revision <= early]
        return (first, told[-1]) if told else None

    def is_of_life(self, sighting: Sighting, act: Act) -> bool:
        """Whether the actor learned it in the life in which it acted."""
        return self.birth(act.actor, sighting.step) == self.birth(act.actor, act.decided)


def changed_nothing(step: Step) -> bool:
    """Whether it is a write that left everything as it was, so that it made no revision."""
    verb, _, part = step.option.verb.partition(".")
    is_write = step.kind == SERVE and verb.partition("/")[0] not in READS
    # Of a request in several parts, another part may have written. A refusal has no revision.
    return is_write and not part and bool(step.revision) and not step.marks.changes


def _server_of(step: Step) -> str:
    """The server whose watch cache that request was answered from; empty if it was the Store."""
    cursors = (key for key in step.marks.reads if key.startswith(CURSOR))
    return next(cursors, "").removeprefix(CURSOR).partition("/")[0]


def _asked(step: Step, key: str) -> str:
    """What the request that wrote that object was about, if it was about one of another kind."""
    asked: str = step.option.key
    is_side = "/" in asked and plural_of(asked) != plural_of(key)
    return asked if is_side else ""


def task_of(step: Step) -> str:
    """The task that moved; for a delivery, the task that reads the watch."""
    seat = step.option.seat
    return step.option.path if seat is None else str(seat.path)


def _number(revision: str) -> int:
    return int(revision) if revision.isdecimal() else 0
