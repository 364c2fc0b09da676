"""Sameness: what a state of a World is compared by; equal keys lead to equal ends.

A key is the Moment, and what may decide beside it:

1. what the claims keep, which of them are violated, and what of the past they look at (`looks.py`);
2. how often each fault may still strike;
3. the Changes after each revision that an actor may yet resume a watch from. A revision itself is
   only a name, unless a claim or an actor looks at its number: so it makes no difference by itself
   which of two objects was written first;
4. the time, if an actor looks at its clock, if a claim looks at the time, or if a limit of virtual
   time has ended a Run; else only how far the second has come, since objects keep whole seconds.

What cannot be compared is Unlike, and is never the same as anything else.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from testbed.invariant import DEATHS, RECORDS
from testbed.invariants.lasso.lasting import Lasting
from testbed.invariants.lasso.likeness import Likeness, Unlike
from testbed.invariants.lasso.moment import EVENTS, moment, tells_time
from testbed.invariants.lasso.no_lasso import NoLasso
from testbed.invariants.lasso.renaming import Mark, Renaming
from testbed.maps.looks import (
    EVENTS_TOO,
    FAULT_TIME,
    HITS,
    LIVES,
    NUMBERS,
    OWN,
    PATH,
    STEPS,
    TIME,
    PastLooks,
    memory_of,
)
from testbed.maps.saying import uncounted, without_numbers
from testbed.objects.meta import LOOKED, UNSET, Object, Revision, text_of
from testbed.store.change import Change
from testbed.store.delivery import BOOKMARK
from testbed.store.footprint import LOG
from testbed.store.selector import View
from testbed.turns.life import Role
from testbed.world.world import World

SECOND_MS = 1000
READS = ("get", "list", "watch")


class Sameness:
    """Writes the keys of the states of one Run, one after another."""

    def __init__(self, world: World, looks: PastLooks) -> None:
        self._world = world
        self._looks = looks
        self._names = _Names()
        self._lasting = Lasting()
        world.table.context.run(LOOKED.set, self._actor_looks)
        self._lasting.ways[Revision] = self._write_revision

    def learn(self, change: Change) -> None:
        """Learn the uid of an object that was created: it only names its object. To be told of each
        commit before the next turn, since a compaction may take it away."""
        if change.new is not None and isinstance(change.new.value, Object):
            self._names.learn(change.new.value, is_new=change.old is None)

    def key(self, choices: tuple[object, ...]) -> str:
        """The key of the state now. If a claim looks at the choices that have led here, they are a
        part of it; if something in the state cannot be compared, they are all of it."""
        self._look_around()
        evidence = self._world.evidence
        path = repr(choices) if PATH in self._looks.at else ""
        try:
            now = moment(evidence, self._names, self._lasting, order_matters=False, also=self._also)
        except Unlike:
            return f"unlike {choices!r}"
        return f"{now.digest} {path}".rstrip()

    def _actor_looks(self) -> None:
        """An actor looks at the number of a revision, or compares that of a list."""
        if self._world.table.running is not None and not self._world.table.is_over:
            self._looks.add(NUMBERS)
        self._world._looked()

    def _look_around(self) -> None:
        """Note the time, if an actor has looked at its clock and does not say what it made of that,
        or if a fault may only strike until some time. Note numbers, if the Store was compacted: how
        far back its history reaches is a number."""
        if self._world.store.compacted:
            self._looks.add(NUMBERS)
        if any(fault.until_ms is not None for fault in self._world.allowed):
            self._looks.add(TIME)
        for role in self._world.evidence.actors:
            life = role.life
            if life is not None and life.saw_time_at and not tells_time(life):
                self._looks.add(TIME)

    # -- what is compared beside the Moment -----------------------------------------------------

    def _also(self, likeness: Likeness) -> None:
        self._write_time(likeness)
        self._write_faults(likeness)
        self._write_claims(likeness)
        self._write_past(likeness)
        self._write_to_come(likeness)

    def _write_time(self, likeness: Likeness) -> None:
        likeness.begin("the time")
        now_ms, evidence = self._world.evidence.now_ms, self._world.evidence
        if TIME in self._looks.at:
            likeness.write(now_ms)
        else:
            second_ms = now_ms - now_ms % SECOND_MS
            likeness.write((now_ms % SECOND_MS, Mark("ms", second_ms)))
        if FAULT_TIME in self._looks.at:
            likeness.write(evidence.last_fault_ms)
        likeness.write(tuple([role.lives for role in evidence.actors]))

    def _write_faults(self, likeness: Likeness) -> None:
        likeness.begin("the faults left")
        likeness.write(tuple(each.struck for each in self._world._allowed))
        if HITS in self._looks.at:
            likeness.write(repr(self._world.hits))

    def _write_claims(self, likeness: Likeness) -> None:
        likeness.begin("what is violated")
        found = ((v.invariant, without_numbers(v.said)) for v in self._world.judge.violations)
        likeness.write(tuple(sorted(found)))
        for number, claim in enumerate(self._world.judge._invariants):
            likeness.begin(f"what claim {number}, {claim.name}, keeps")
            if not isinstance(claim, (*OWN, NoLasso)):
                likeness.write(memory_of(claim))

    def _write_past(self, likeness: Likeness) -> None:
        """What has been, as far as claims look at it."""
        evidence, looks = self._world.evidence, self._looks
        for part in sorted(looks.at):
            likeness.begin(f"what has been: {part}")
            is_bag = looks.unordered.get(part, False)
            if part.startswith(LOG):
                log = evidence.store.log(part.removeprefix(LOG) or None)
                likeness.write(_in_a_bag(log.changes) if is_bag else tuple(log.changes))
            elif part == RECORDS:
                said = [(each.path, each.name, each.facts) for each in evidence.records]
                likeness.write(sorted(said, key=itemgetter(0)) if is_bag else said)
            elif part == DEATHS:
                died = [(each.path, each.error) for each in evidence.deaths]
                likeness.write(sorted(died, key=itemgetter(0)) if is_bag else died)
            elif part == NUMBERS:
                store = evidence.store
                written = [(e.key, e.version, e.created) for e in store.snapshot("")]
                likeness.write((store.revision, store.compacted, written))
            elif part == LIVES:
                lives = [role.life for role in evidence.actors if role.life is not None]
                likeness.write([(life.is_alive, life.shown) for life in lives])
            elif part == STEPS:
                told = [(each.number, each.step, each.now_ms) for each in evidence.records]
                likeness.write((evidence.table.step, told))
            elif part == EVENTS_TOO:
                likeness.write(tuple(evidence.store.snapshot(EVENTS)))

    # -- what may still be read of the past -----------------------------------------------------

    def _write_to_come(self, likeness: Likeness) -> None:
        """The Changes with which a watch may yet begin, and the bookmarks that are due."""
        evidence = self._world.evidence
        likeness.begin("what may be read again")
        readers = _readers(evidence.actors)
        for role in evidence.actors:
            life = role.life
            for cache in life.caches if life is not None and life.is_alive else ():
                view = View(cache.kind.plural, cache.selector, cache.reads)
                likeness.write(self._after(cache.upto, view))
                if NUMBERS in self._looks.at:
                    likeness.write(_number(cache.upto))
        for _, post in sorted(evidence.wire.posts.items()):
            for request in post.requests:
                asked = request.operation
                if asked.verb not in READS or not _number(asked.revision):
                    continue
                likeness.write(self._after(asked.revision, asked.view))
                is_of_list = asked.revision._view is not None and not asked.revision._is_commit
                if not is_of_list and request.seat not in readers:
                    self._looks.add(LOG)
        pending = evidence.table.pending
        marks = [each for each in pending if each.change == BOOKMARK and each.seat in readers]
        likeness.write(sorted((uncounted(o.path), o.due_ms - evidence.now_ms) for o in marks))

    def _after(self, revision: Revision, view: View) -> list[Change]:
        """The Changes that a watch of that view would begin with at that revision."""
        number = _number(revision)
        after = self._world.store.log(view.plural).after(number) if number else ()
        return [change for change in after if view.delivers(change)]

    def _write_revision(self, likeness: Any, revision: Revision) -> None:
        """Write the revision of an object as a name, without its age. The revision of a list is
        never compared with another. What was committed after it stands for it, since a watch may
        begin there."""
        number = _number(revision)
        if not number:
            likeness._revision(revision)
        elif NUMBERS in self._looks.at:
            likeness._part.append(f"rv {number}")
        elif revision._is_commit or revision._view is None:
            likeness._part.append(Mark("rv", str(number)))
        else:
            view: Any = revision._view
            likeness._changing += 1
            likeness.write(("of a list", self._after(revision, view)))


def _number(revision: Revision) -> int:
    """What it counts; 0 if it is unset, or names no state."""
    text = text_of(revision)
    return int(text) if text.isdecimal() else 0


def _readers(roles: Iterable[Role]) -> list[object]:
    """The tasks that read for Caches."""
    return [
        cache.reader._seat
        for role in roles
        for cache in (role.life.caches if role.life is not None else ())
    ]


def _in_a_bag(changes: Iterable[Change]) -> list[Any]:
    """Changes without their order: by key, and those of one key in their order."""
    by_key = sorted(changes, key=lambda change: change.key)
    return [(change.key, _undated(change.before), _undated(change.after)) for change in by_key]


def _undated(value: object) -> object:
    return value.with_meta(revision=UNSET) if isinstance(value, Object) else value


class _Names(Renaming):
    """Names, and revisions among them, none of which has an age."""

    def number(self, name: str) -> int:
        return self._numbers.get(name, 0)
