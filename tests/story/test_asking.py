"""Asking: a belief is accused only if the actor would not have done that, had it known better."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import NotFound
from testbed.faults.crash import Crash
from testbed.invariant import Evidence, always
from testbed.objects import Note
from testbed.story.cause import CauseShape
from testbed.testing.seek import seek
from testbed.turns.option import FAULT, Choice, HoldBack, Release
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.world.scenario import of
from testbed.world.world import World
from tests.each_row import each_row
from tests.models.incidents import note
from tests.models.truths import cause_in
from tests.shared.stage import Doing, Puppet


def picnic(*, minds: bool, by_cache: bool = False) -> Callable[[Client], Any]:
    """Look at the weather, and have a picnic; only one who minds it stays at home."""

    async def run(client: Client) -> None:
        if by_cache:
            notes = Cache(client, Note)
            await notes.synced()
            await client.sleep(1000, "pack")
            weather = notes.get("weather", "default")
        else:
            weather = await client.get(Note, "weather")
            await client.sleep(1000, "pack")
        assert weather is not None
        if weather.data["sky"] == "clear" or not minds:
            await client.create(note("picnic"))

    return run


def planned(*, minds: bool, looks: int = 1) -> Callable[[Client], Any]:
    """Look at the weather in a Cache and plan; pack and walk for a while, and look in once more for
    nothing; then do what was planned."""

    async def run(client: Client) -> None:
        notes = Cache(client, Note)
        await notes.synced()
        weather = notes.get("weather", "default")
        assert weather is not None
        is_on = weather.data["sky"] == "clear" or not minds
        for _ in range(looks):
            await client.sleep(1000, "pack")
            notes.get("basket", "default")
        await client.sleep(1000, "walk")
        if is_on:
            await client.create(note("picnic"))

    return run


async def rain(client: Client) -> None:
    """From now on it rains."""
    await client.sleep(1000, "gather")
    weather = await client.get(Note, "weather")
    await client.update(weather.saying(sky="rain"))


def no_picnic_in_the_rain(see: Evidence) -> str | None:
    """While it rains nothing is there but the weather."""
    notes: dict[str, Any] = {entry.key: entry.value for entry in see.store.snapshot("notes/")}
    is_wet = notes["notes/default/weather"].data["sky"] == "rain"
    if is_wet and "notes/default/picnic" in notes:
        return "notes/default/picnic is there, and notes/default/weather says rain"
    return None


@attrs.frozen
class Outing:
    """A scenario: amy has a picnic, and it begins to rain."""

    minds: bool
    by_cache: bool
    actors: tuple[Doing, ...] = ()
    """What amy and the sky do, if not that alone."""

    def __call__(self, world: World) -> None:
        """Assemble it."""
        usual = (picnic(minds=self.minds, by_cache=self.by_cache), rain)
        amy, sky = self.actors or usual
        world.add(note("weather", sky="clear"))
        world.start(Puppet("amy", amy), Puppet("sky", sky))

        def breaks(see: Evidence) -> str | None:
            # Rain upon a picnic is nobody's fault.
            made = any(change.key == "notes/default/picnic" for change in see.changes)
            return no_picnic_in_the_rain(see) if made else None

        world.claim(always(breaks))
        world.needs_no_race = "who does not mind the weather has a picnic in any"


def with_care(world: World) -> None:
    """It reads the weather, and goes by it."""
    Outing(minds=True, by_cache=False)(world)


def with_care_and_cache(world: World) -> None:
    """It goes by what its Cache shows."""
    Outing(minds=True, by_cache=True)(world)


def without_care(world: World) -> None:
    """It reads the weather, and does not go by it."""
    Outing(minds=False, by_cache=False)(world)


def without_care_and_cache(world: World) -> None:
    """It looks at its Cache, and does not go by that."""
    Outing(minds=False, by_cache=True)(world)


@each_row("build", [with_care, with_care_and_cache])
def test_who_would_have_stayed_at_home_acted_on_old_news(build: Callable[..., None]) -> None:
    """With the news known there is no picnic: so the belief was the cause."""
    shrunk = seek(build, runs=400).shrunk
    assert shrunk is not None
    cause = cause_in(shrunk.played.trace, shrunk.violation)
    assert (cause.shape, cause.actor) == (CauseShape.OLD_NEWS, "amy")
    assert 'data.sky of notes/default/weather was "clear"' in cause.text


@each_row("build", [without_care, without_care_and_cache])
def test_who_would_have_gone_anyway_is_not_accused_of_a_belief(build: Callable[..., None]) -> None:
    """With the news known there is a picnic all the same: it is said what was done, and no more."""
    shrunk = seek(build, runs=400).shrunk
    assert shrunk is not None
    cause = cause_in(shrunk.played.trace, shrunk.violation)
    assert cause.shape is CauseShape.UNKNOWN, cause.text
    assert "this: amy created notes/default/picnic" in cause.text


def with_a_plan(world: World) -> None:
    """It goes by what its Cache showed when it planned, some turns ago."""
    Outing(minds=True, by_cache=True, actors=(planned(minds=True, looks=0), rain))(world)


def with_a_plan_and_more_looks(world: World) -> None:
    """It has looked into the Cache since then, and not at the weather."""
    Outing(minds=True, by_cache=True, actors=(planned(minds=True), late_rain))(world)


async def late_rain(client: Client) -> None:
    """It rains when the basket is packed."""
    await client.sleep(1500, "gather")
    weather = await client.get(Note, "weather")
    await client.update(weather.saying(sky="rain"))


def without_a_plan(world: World) -> None:
    """It has a picnic whatever its Cache showed."""
    Outing(minds=False, by_cache=True, actors=(planned(minds=False, looks=0), rain))(world)


@each_row("build", [with_a_plan, with_a_plan_and_more_looks])
def test_who_decided_some_turns_ago_is_asked_when_it_looked(build: Callable[..., None]) -> None:
    """It acts on no record, so it may have decided by its first look. The news must come before
    that: later it would have its picnic all the same, being out already."""
    shrunk = seek(build, runs=400).shrunk
    assert shrunk is not None
    cause = cause_in(shrunk.played.trace, shrunk.violation)
    assert (cause.shape, cause.actor) == (CauseShape.OLD_NEWS, "amy"), cause.text
    assert 'data.sky of notes/default/weather was "clear"' in cause.text


def test_who_would_have_gone_some_turns_ago_is_cleared() -> None:
    """With the news at its first look it does the same."""
    shrunk = seek(without_a_plan, runs=400).shrunk
    assert shrunk is not None
    cause = cause_in(shrunk.played.trace, shrunk.violation)
    assert cause.shape is CauseShape.UNKNOWN, cause.text


async def begin(client: Client) -> None:
    """Its first life leaves a Note and does no more; the next go on."""
    try:
        await client.get(Note, f"begun-{client.name}")
    except NotFound:
        await client.create(note(f"begun-{client.name}"))
        await client.queue(idle=True).get()


def in_second_lives(world: World, *, minds: bool) -> None:
    """The same outing, in the lives after a crash; until then all is at rest."""

    async def amy(client: Client) -> None:
        await begin(client)
        await picnic(minds=minds)(client)

    async def sky(client: Client) -> None:
        await begin(client)
        await rain(client)

    Outing(minds=minds, by_cache=False, actors=(amy, sky))(world)
    for name in ("amy", "sky"):
        world.allow(Crash(name, restart_after_ms=10))


def with_care_after_a_crash(world: World) -> None:
    """Its second life reads the weather, and goes by it."""
    in_second_lives(world, minds=True)


def without_care_after_a_crash(world: World) -> None:
    """Its second life reads the weather, and does not go by it."""
    in_second_lives(world, minds=False)


class Resting(Chooser):
    """Lets amy crash when all is at rest and the sky at once after her; then the sky goes first. It
    may hold back the first turn until all others of that time are done."""

    def __init__(self, *, holds: bool) -> None:
        self._holds = holds
        self._strikes = 0

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("at rest")

    def choose(self, options: Options | Alternatives) -> Choice:
        if isinstance(options, Alternatives):
            return 0
        if self._holds:
            self._holds = False
            return HoldBack(0)
        if self._strikes == 1:
            return self._crash(options, "sky")
        ready = options.in_line()
        if not ready or (options.held and ready[0].due_ms > options.now_ms):
            return Release(0)
        now_ms = max(options.now_ms, ready[0].due_ms)
        first = [n for n, each in enumerate(ready) if each.actor == "sky" and each.due_ms <= now_ms]
        return first[0] if first and self._strikes == 2 else 0

    def strike(self, options: Options) -> int | None:
        return None if self._strikes else self._crash(options, "amy")

    def _crash(self, options: Options, actor: str) -> int:
        self._strikes += 1
        return options.ready + [fault.key for fault in options.faults].index(actor)


@each_row("holds", [False, True])
@each_row(
    ("build", "shape"),
    [
        (with_care_after_a_crash, CauseShape.OLD_NEWS),
        (without_care_after_a_crash, CauseShape.HALF_DONE),
    ],
)
def test_a_fault_at_rest_strikes_again_before_an_actor_is_asked(
    build: Callable[..., None], shape: CauseShape, holds: bool
) -> None:
    """The Run is played again to where it decided, with what was held back, too."""
    trace = Trace({}, keep=True)
    verdict = of(build).world().run(Resting(holds=holds), driver="direct", trace=trace)
    assert sum(step.kind == FAULT for step in trace.steps) == 2
    assert any(isinstance(choice, HoldBack) for choice in trace.choices) is holds
    (violation,) = verdict.violations
    cause = cause_in(trace, violation)
    assert (cause.shape, cause.actor) == (shape, "amy"), cause.text
