"""Small Worlds from plain data, and every Run of them by brute force: what a search is held to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from testbed.chooser import Chooser, Cut, Plan, RunInfo
from testbed.choosers.equivalence.orders import Keys, OrderedTurn
from testbed.client.cache import Cache
from testbed.client.client import Client, Task
from testbed.errors import ApiError
from testbed.fault import Fault
from testbed.objects import Note
from testbed.store.delivery import BOOKMARK
from testbed.testing.complete.unsound import Form, Witness, form_of
from testbed.turns.option import Choice
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.turns.waits import Queue, Signal
from testbed.world.scenario import Scenario, of
from testbed.world.world import World
from tests.shared.stage import Apart, Puppet, note

Action = tuple[Any, ...]
"""A word, and what it needs: `("update", "x")`, `("spawn", "w", (("get", "x"),))`."""


REQUESTS = ("get", "update", "swap", "create", "delete", "list", "cache")
"""The words for what a server is asked."""


@attrs.frozen
class Small:
    """A World as data: what each actor does, which notes are there, what may strike."""

    actors: tuple[tuple[Action, ...], ...]
    apart: tuple[bool, ...] = ()
    """Which actors share no memory; those beyond it do."""
    notes: tuple[str, ...] = ("x",)
    faults: tuple[Fault, ...] = ()
    turns_max: int = 1_000
    """How long a Run may be: a Cache whose server is gone asks for an hour, again and again."""

    def scenario(self) -> Scenario:
        """It as a Scenario."""
        return of(self.build, "small")

    def build(self, world: World) -> None:
        """Assemble it."""
        for name in self.notes:
            world.add(note(name, by="nobody"))
        for place, actions in enumerate(self.actors):
            kind = Apart if place < len(self.apart) and self.apart[place] else Puppet
            world.start(kind("abc"[place], _playing(actions)))
        world.allow(*self.faults)
        world.limit(turns_max=self.turns_max)


def _playing(actions: tuple[Action, ...]) -> Callable[[Client], Any]:
    async def play(client: Client) -> None:
        await Hands(client).do("main", actions)

    return play


class Hands:
    """What one life of an actor has in hand, for all its tasks."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.cache: Cache[Note] | None = None
        self.queue: Queue = client.queue("q", idle=True)
        self.signal: Signal = client.signal("s")
        self.hidden: list[int] = []
        """What no Footprint tells of."""
        self.tasks: dict[str, list[Task]] = {}
        """By the task that has spawned them."""

    async def do(self, task: str, actions: tuple[Action, ...]) -> None:
        """One action after another; what each comes to is recorded."""
        for action in actions:
            try:
                said = await self.act(task, *action)
            except ApiError as error:
                said = error.reason
            self.client.record("did", action=action[0], said=said)

    async def act(self, task: str, word: str, *given: Any) -> str:
        """One of them."""
        ask: Callable[..., Any] = self.requests if word in REQUESTS else self.others
        return str(await ask(task, word, *given) or "")

    async def requests(self, task: str, word: str, *given: Any) -> object:
        """What its server answers."""
        client = self.client
        match word:
            case "get":
                return dict((await client.get(Note, given[0])).data)
            case "update":
                new = note(given[0], by=task)
                return dict((await client.update(new, whatever_it_was=True)).data)
            case "swap":
                old = await client.get(Note, given[0])
                seen = f"{old.data['by']}+{task}"
                return dict((await client.update(old.saying(by=seen))).data)
            case "create":
                return dict((await client.create(note(given[0], by=task))).data)
            case "delete":
                await client.delete(note(given[0]), whatever_it_was=True)
            case "list":
                return [(n.key, dict(n.data)) for n in (await client.list(Note)).items]
            case "cache":
                self.cache = Cache(client, Note)
                await self.cache.synced()
        return None

    async def others(self, task: str, word: str, *given: Any) -> object:
        """What its tasks do among themselves."""
        client = self.client
        match word:
            case "look" if self.cache is not None:
                return [(n.key, dict(n.data)) for n in self.cache.all()]
            case "put":
                self.queue.put(task)
            case "take":
                return await self.queue.get()
            case "set":
                self.signal.set()
            case "clear":
                self.signal.clear()
            case "wait":
                return str((await client.first(self.signal.wait(), client.sleep(5)))[0])
            case "sleep":
                await client.sleep(given[0])
            case "pick":
                return client.pick("lot", ("white", "black"))
            case "spawn":
                name, actions = given
                mine = self.tasks.setdefault(task, [])
                mine.append(client.spawn(name, self.do, f"{task}.{name}", actions))
            case "join" if self.tasks.get(task):
                await client.join(self.tasks[task].pop())
            case "cancel" if self.tasks.get(task):
                client.cancel(self.tasks[task].pop())
            case "hide":
                self.hidden.append(given[0])
                return self.hidden
            case "die":
                raise RuntimeError("meant")
        return None


def _but_meta(value: Any) -> str:
    """What it holds beside its revision."""
    return str([(f.name, getattr(value, f.name)) for f in attrs.fields(type(value))[1:]])


def outcome_of(world: World) -> object:
    """All that anybody can tell of a Run from its end: how it was judged, what the Store holds,
    and what each task has found, without numbers that only say when it was."""
    verdict = world.verdict
    assert verdict is not None
    found: dict[str, list[str]] = {}
    for record in world.evidence.records:
        found.setdefault(record.path, []).append(str(record.facts))
    stored = tuple((e.key, _but_meta(e.value)) for e in world.store.snapshot(""))
    tasks = tuple((path, tuple(lines)) for path, lines in sorted(found.items()))
    broken = tuple(sorted(violation.invariant for violation in verdict.violations))
    return verdict.outcome, verdict.end, broken, stored, tasks


class Watched(Witness):
    """Whatever another Chooser does, with the class of each whole Run of it."""

    def __init__(self, inner: Chooser) -> None:
        super().__init__(inner)
        self.form: Form | None = None
        """Of the last Run; None if it was cut."""
        self.bare: Form | None = None
        """The same without the bookmarks of Caches."""
        self._keys = Keys()

    def end(self, trace: Trace, verdict: Verdict) -> None:
        super().end(trace, verdict)
        run = self.runs.pop() if self.runs else None
        self.form = self.bare = None
        if run is not None:
            self.form = self.bare = form_of(run, self._keys)
            if any(_is_bookmark(turn) for turn in run):
                self.bare = form_of(_without_bookmarks(run), self._keys)


def _is_bookmark(turn: OrderedTurn) -> bool:
    """Whether a Cache is told nothing but how far its server has read."""
    to_cache = any(key.startswith("cache:") for key in turn.did.writes)
    return turn.sentence.change == BOOKMARK and to_cache


def _without_bookmarks(run: list[OrderedTurn]) -> Iterator[OrderedTurn]:
    """The other turns. What a bookmark has caused follows from what came before it on its path."""
    places: dict[int, int] = {}
    for place, turn in enumerate(run):
        if not _is_bookmark(turn):
            causes = tuple(places[cause] for cause in turn.causes if cause in places)
            places[place] = len(places)
            yield attrs.evolve(turn, causes=causes)


def has_next(path: list[list[int]]) -> bool:
    """Take the next side at the last choice that has one; False if there is none. Each choice has
    its index and how many there were."""
    while path and path[-1][0] + 1 == path[-1][1]:
        path.pop()
    if path:
        path[-1][0] += 1
    return bool(path)


class Brute(Chooser):
    """Every Run there is: after each, the last choice that had another side takes the next."""

    def __init__(self, faults_max: int | None = None) -> None:
        self.faults_max = faults_max
        self.path: list[list[int]] = []
        self.depth = 0
        self.strikes = 0

    def begin(self, run: RunInfo) -> Plan | None:
        if run.number and not has_next(self.path):
            return None
        self.depth = self.strikes = 0
        return Plan("brute force")

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        choice = self._next(len(options) if self._may_strike() else options.ready)
        self.strikes += choice >= options.ready
        return choice

    def strike(self, options: Options) -> int | None:
        faults = len(options.faults) if self._may_strike() else 0
        choice = self._next(1 + faults) if faults else 0
        self.strikes += choice > 0
        return options.ready + choice - 1 if choice else None

    def _may_strike(self) -> bool:
        return self.faults_max is None or self.strikes < self.faults_max

    def _next(self, of: int) -> int:
        if self.depth == len(self.path):
            self.path.append([0, of])
        self.depth += 1
        return self.path[self.depth - 1][0]
