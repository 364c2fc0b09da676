"""One Run, and the others that its footprints say are the same: played, and compared.

Two Steps of a Run are ordered if one made the other possible, if what they did clashes, or if time
passed between them. Every order of the Steps that keeps to this must be possible, Step by Step, and
must lead to the same: the Store, the Caches, what is pending, what each actor has done and said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import attrs

from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo
from testbed.choosers.uniform import Uniform
from testbed.invariants.confluence import Confluent
from testbed.objects.meta import Revision, field_of
from testbed.store.delivery import BOOKMARK
from testbed.store.footprint import Footprint
from testbed.turns.option import FAULT, PICK, Option
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.world.counterpart import key_of_hits
from testbed.world.world import World

Name = tuple[Any, ...]
Build = Callable[[], World]


def name_of(option: Option) -> Name:
    """What an Option is known by in every order: its sentence, its life, and what is picked."""
    return (*option.sentence, option.life, option.label)


@attrs.frozen
class Seen:
    """What one Step was, in one order of them."""

    name: Name
    did: Footprint
    at_ms: int
    causes: tuple[int, ...]
    pending: frozenset[Name]
    """What was pending before it; a bookmark, which may be owed or not, left out."""


class Watched(Chooser):
    """Lets another Chooser choose, and keeps what was there to be chosen from."""

    def __init__(self, chooser: Chooser, world: World) -> None:
        self.chooser = chooser
        self.world = world
        self.pending: list[frozenset[Name]] = []

    def begin(self, run: RunInfo) -> Plan | None:
        return self.chooser.begin(run)

    def choose(self, options: Options | Alternatives) -> Any:
        line = self.world.table.pending
        self.pending.append(frozenset(name_of(o) for o in line if o.change != BOOKMARK))
        return self.chooser.choose(options)


class Named(Chooser):
    """Chooses what it is told, by name."""

    def __init__(self, names: list[Name]) -> None:
        self.names = names
        self.done = 0
        self.missing = ""

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("named")

    def choose(self, options: Options | Alternatives) -> int | Cut:
        if self.done == len(self.names):
            return CUT
        name = self.names[self.done]
        self.done += 1
        if name[4] == BOOKMARK and all(name_of(option) != name for option in options):
            # Whether one is owed is not part of what is the same.
            return self.choose(options)
        places = range(options.ready) if name[0] != FAULT else range(options.ready, len(options))
        for index in places:
            if name_of(options[index]) == name:
                return index
        there = ", ".join(str(options[index]) for index in places)
        self.missing = f"{' '.join(map(str, name))} is not there, but {there}"
        return CUT


@attrs.frozen
class Played:
    """A Run: its Steps, and what it has led to."""

    steps: list[Seen]
    state: dict[str, Any]
    missing: str


def play(build: Build, chooser: Chooser) -> Played:
    """Play it, and look at what it has led to before anything is torn down."""
    world = build()
    world.goes_on = True
    watched = Watched(chooser, world)
    states: list[dict[str, Any]] = []
    trace = Trace({}, keep=True)
    close = trace.close

    def closed(end: dict[str, Any]) -> None:
        states.append(state_of(world))
        close(end)

    trace.close = closed  # type: ignore[method-assign]
    world.run(watched, driver="direct", trace=trace)
    steps = [
        Seen(name_of(s.option), s.did, s.now_ms, s.causes, before)
        for s, before in zip(trace.steps, watched.pending, strict=False)
    ]
    return Played(steps, states[0], getattr(chooser, "missing", ""))


# -- what it has led to -------------------------------------------------------------------------


def state_of(world: World) -> dict[str, Any]:
    """All that could tell two Runs apart, each revision put as the Step that wrote it."""
    names = {step.number: name_of(step.option) for step in world.trace.steps}
    commits = world.wire.streams.commits
    wrote = {str(rv): str(names.get(step[0], "")) for rv, step in commits.items()}
    pending = world.table.pending
    state: dict[str, Any] = {
        "store": {e.key: plain(e.value, wrote) for e in world.store.snapshot("")},
        "pending": sorted((name_of(o), o.due_ms) for o in pending if o.change != BOOKMARK),
        "faults": sorted(name_of(o) for o in world.find_faults()),
        "up": {post.name: post.is_up for post in world.wire.posts.values()},
        "where faults struck": key_of_hits(world.hits) if world.judge.claimed(Confluent) else (),
    }
    for record in world.table.records:
        said = (record.name, plain(record.facts, wrote), record.now_ms)
        state.setdefault(f"records of {record.path}", []).append(said)
    for role in world.table.roles.values():
        life = role.life
        state[role.name] = (role.lives, role.is_up, role.clock_shift_ms)
        if life is None or not life.is_alive:
            continue
        for place, cache in enumerate(life.caches):
            held = {key: known(item, cache.reads, wrote) for key, item in cache.known.items()}
            state[f"cache {place} of {role.name}"] = held
        for path, seat in sorted(life.seats.items()):
            state[path] = (str(seat.waits_for), seat.is_idle, seat.is_cancelled, *frames(seat.coro))
    for stream in world.wire.streams.open:
        queue = [(plain(change.after, wrote), change.key) for change in stream.watch.queue]
        state[stream.path] = queue
    return state


def known(item: Any, reads: tuple[str, ...] | None, wrote: dict[str, str]) -> Any:
    """What an actor may know of an object: all of it, or what it has declared."""
    paths = () if reads is None else (*reads, "meta.uid")
    return [plain(field_of(item, path), wrote) for path in paths] or plain(item, wrote)


def frames(coro: Any) -> Iterator[tuple[str, int]]:
    """Where a task stands, from its first frame to its last."""
    while coro is not None and getattr(coro, "cr_frame", None) is not None:
        yield coro.cr_code.co_name, coro.cr_frame.f_lineno
        coro = coro.cr_await


def plain(value: Any, wrote: dict[str, str]) -> Any:
    """The same without numbers that depend on the order of what commutes."""
    if isinstance(value, Revision):
        return wrote.get(str(value), "before")
    if isinstance(value, dict):
        return {key: plain(item, wrote) for key, item in value.items()}
    if attrs.has(type(value)):
        return {
            field.name: plain(getattr(value, field.name), wrote)
            for field in attrs.fields(type(value))
        }
    return value


# -- which orders are the same ------------------------------------------------------------------


def before_each(steps: list[Seen]) -> list[set[int]]:
    """For each Step those that must come before it, directly or not."""
    before: list[set[int]] = []
    for j in range(len(steps)):
        mine: set[int] = set()
        for i in range(j - 1, -1, -1):
            if i not in mine and are_ordered(steps, i, j):
                mine |= {i} | before[i]
        before.append(mine)
    return before


def are_ordered(steps: list[Seen], i: int, j: int) -> bool:
    """Whether the first made the second possible, clashes with it, or was over before its time."""
    one, other = steps[i], steps[j]
    if one.at_ms < other.at_ms and FAULT not in (one.name[0], other.name[0]):
        return True
    return i + 1 in other.causes or one.did.clashes(other.did)


def orders(steps: list[Seen], before: list[set[int]], seed: str) -> list[int]:
    """One of the orders that are said to be the same, drawn."""
    bits = Random(seed).getrandbits
    left = list(range(len(steps)))
    done: list[int] = []
    gone: set[int] = set()
    while left:
        free = [i for i in left if before[i] <= gone]
        one = free[(bits(32) * len(free)) >> 32]
        # A pick belongs to the turn that asks: it comes right behind it.
        for place in [one, *range(one + 1, len(steps))]:
            if place != one and steps[place].name[0] != PICK:
                break
            left.remove(place)
            done.append(place)
            gone.add(place)
    return done


def holes(build: Build, seed: int, tries: int) -> list[str]:
    """What goes wrong in some orders that are said to be the same as one random Run."""
    first = play(build, Uniform(seed))
    steps = first.steps
    before = before_each(steps)
    for j, step in enumerate(steps):
        if step.name[0] == PICK:
            # It follows the turn before it, and whatever comes after that turn follows it.
            before[j] |= {j - 1} | before[j - 1]
    found = list(taken_back(steps, before))
    for number in range(tries):
        order = orders(steps, before, f"{seed}/{number}")
        again = play(build, Named([steps[i].name for i in order]))
        found += [f"order {order}: {said}" for said in differences(first, again, order)]
        if found:
            break
    return found


def taken_back(steps: list[Seen], before: list[set[int]]) -> Iterator[str]:
    """What one Step has made possible and another, not ordered with it, takes away again: played
    the other way round, nobody would see that it ever was."""
    since: dict[Name, int] = {}
    took = -1
    for turn, step in enumerate(steps):
        if step.name[0] == PICK:
            continue
        for name in since.keys() - step.pending:
            made = since.pop(name)
            if name != steps[took].name and made not in (took, -1) and made not in before[took]:
                yield f"{steps[took].name} takes away {name}, made by {steps[made].name}"
        for name in step.pending - since.keys():
            since[name] = took
        took = turn


def differences(first: Played, again: Played, order: list[int]) -> Iterator[str]:
    """How that order led elsewhere."""
    if again.missing:
        yield again.missing
        return
    if len(again.steps) < len(order) and first.steps[order[len(again.steps)]].name[0] == FAULT:
        # It came to rest first, and then no fault strikes any more.
        return
    ones = [first.steps[i] for i in order if first.steps[i].name[4] != BOOKMARK]
    others = [step for step in again.steps if step.name[4] != BOOKMARK]
    for one, other in zip(ones, others, strict=False):
        if one.did != other.did and one.name == other.name:
            more = sorted((one.did.reads | one.did.writes) ^ (other.did.reads | other.did.writes))
            yield f"{one.name} did something else: {more}"
            return
        if one.at_ms != other.at_ms and one.name[0] != FAULT:
            yield f"{one.name} was at {other.at_ms} ms"
            return
    for what in sorted({*first.state, *again.state}):
        was, is_now = first.state.get(what), again.state.get(what)
        if was != is_now:
            yield f"{what}: {shown(was)} … {shown(is_now)}"


def shown(value: object) -> str:
    """The beginning of it, on one line."""
    return re.sub(r"\s+", " ", repr(value))[:400]
