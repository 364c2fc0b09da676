"""Racing: any Run is a Race, a Race is a text, and the text makes the same turns again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from random import Random
from typing import Any

import attrs
import pytest

from testbed.choosers.complete import Complete
from testbed.choosers.pct import PCT
from testbed.choosers.pos import POS
from testbed.choosers.surw import SURW
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.fault import Fault
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.invariant import Evidence, quiescent
from testbed.races.counting import Counting
from testbed.races.playing import Played, play, race_of
from testbed.races.race import Race
from testbed.races.racefile import parse
from testbed.races.shrink import shrink
from testbed.turns.option import ANSWER, FAULT, HOLD, PASS, RELEASE, SERVE, Option
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict
from testbed.world.fault_kinds import fault_kinds, fault_of
from testbed.world.scenario import Scenario, find, known, of, play_runs
from testbed.world.world import World
from tests.models.worlds.recipes import recipes
from tests.shared.busy import BUSY, LATE
from tests.shared.lots import drawing_lots
from tests.shared.stage import Puppet

LOTS = of(drawing_lots)
ASIDES = (HOLD, RELEASE, PASS)
SAMPLERS: tuple[type[Uniform | POS | PCT | SURW], ...] = (Uniform, POS, PCT, SURW)
SLOW = ("descheduler_pingpong", "hostile_schedulers", "pressure_pingpong", "tug_of_war")
"""Their Runs take seconds each: laps are played again."""


def turns(trace: Trace) -> list[str]:
    """The sentences of what was performed, and of what was picked."""
    return [_said(step) for step in trace.steps if step.kind not in ASIDES]


def _said(step: Step) -> str:
    if step.kind == FAULT:
        return f"{step.option.verb} {step.option.key}"
    return f"{step.sentence} {step.option.label}"


def random_run(recipe: Scenario, seed: int, switches: Mapping[str, object] | None = None) -> World:
    """A Run of a seed that is over."""
    world = recipe.world(switches)
    world.run(Uniform(seed), driver="direct", trace=Trace({}, keep=True))
    return world


def seeds(few: int, many: int) -> pytest.MarkDecorator:
    """So many random Runs of each; and, in minutes, so many."""
    return pytest.mark.parametrize("seeds", [few, pytest.param(many, marks=pytest.mark.long)])


def shown(trace: Trace) -> list[Any]:
    """Each turn, with its time and what came of it; and how the Run has ended."""
    steps = [step for step in trace.steps if step.kind not in ASIDES]
    assert trace.end is not None
    # Holds and releases are Steps, too, so that only the numbers of Steps are others.
    end = re.sub(r"step \d+", "step", str({k: v for k, v in trace.end.items() if k != "sum"}))
    return [[(s.now_ms, _said(s), s.outcome, s.revision) for s in steps], end]


def the_same_through_its_text(
    recipe: Scenario,
    world: World,
    faults: Sequence[Fault] = (),
    switches: Mapping[str, object] | None = None,
) -> Played:
    """Write a Run as a Race, as a text, read that, play it, and compare all turns and the end."""
    race = race_of(recipe, switches or {}, world.trace.choices, faults=faults)
    text = race.text()
    assert parse(text, "a.race.yaml") == race
    played = play(parse(text, "a.race.yaml"), recipe)
    there, here = shown(played.trace), shown(world.trace)
    assert there == here, text
    return played


def every_kind() -> tuple[Fault, ...]:
    """One fault of each kind, at whatever it may strike."""
    more: dict[str, dict[str, Any]] = {"crash": {"restart_after_ms": 100}}
    return tuple(fault_of(word, **more.get(word, {})) for word in sorted(fault_kinds()))


@seeds(3, 300)
@pytest.mark.parametrize("recipe", recipes())
def test_any_run_is_a_race(recipe: Scenario, seeds: int) -> None:
    """Written as a text, read back and played over the calm run, it makes the same turns, and each
    of its lines speaks of something."""
    if recipe.name in SLOW:
        seeds = max(seeds // 6, 1)
    for seed in range(seeds):
        played = the_same_through_its_text(recipe, random_run(recipe, seed))
        assert all(fate.matched for fate in played.fates)


def samplers(recipe: Scenario, *, is_long: bool) -> tuple[type[Uniform | POS | PCT | SURW], ...]:
    """All of them; in the short form one, which is another for the next scenario."""
    place = [each.name for each in known()].index(recipe.name) % len(SAMPLERS)
    return SAMPLERS if is_long else SAMPLERS[place : place + 1]


@seeds(2, 96)
@pytest.mark.parametrize("recipe", recipes())
def test_any_run_with_any_faults_is_a_race(recipe: Scenario, seeds: int) -> None:
    """With all twelve kinds of faults, of all scenarios, whoever has chosen: 4,992 Runs in the long
    form, and in the short one those of each scenario under one sampler."""
    faults = every_kind()
    assert len(faults) == 12
    for sampler in samplers(recipe, is_long=seeds > 2):
        for seed in range(1 if recipe.name in SLOW and seeds == 2 else seeds):
            world = recipe.world(faults=faults)
            world.run(sampler(seed), driver="direct", trace=Trace({}, keep=True))
            the_same_through_its_text(recipe, world, faults)


@seeds(1, 60)
@pytest.mark.parametrize("recipe", recipes())
def test_a_run_in_which_a_server_is_down_is_a_race(recipe: Scenario, seeds: int) -> None:
    """Whichever server it is. What is asked of it is refused before it could be served, and counts
    among the requests of its name all the same."""
    if recipe.name in SLOW and seeds == 1:
        pytest.skip("in the long form")
    choosers = (Uniform, POS) if seeds > 1 else (Uniform,)
    for post, sampler in product(sorted(recipe.world().wire.posts), choosers):
        faults = (Crash(post, restart_after_ms=1_000),)
        for seed in range(seeds):
            world = recipe.world(faults=faults)
            world.run(sampler(seed), driver="direct", trace=Trace({}, keep=True))
            the_same_through_its_text(recipe, world, faults)


def limited(recipe: Scenario, **limits: int) -> Scenario:
    """A scenario under other limits than its own."""

    def build(world: World, **switches: Any) -> None:
        recipe.build(world, **switches)
        world.limit(**limits)

    return attrs.evolve(recipe, build=build)


@seeds(4, 120)
@pytest.mark.parametrize("recipe", recipes())
def test_a_run_that_ends_at_a_limit_is_a_race(recipe: Scenario, seeds: int) -> None:
    """Of time, of turns, or judged at a time, wherever it comes, with faults and without: what the
    race holds back is let go before time ends it, and so makes the last turns of the Run, too."""
    is_long = seeds > 4
    if recipe.name in SLOW and not is_long:
        pytest.skip("in the long form")
    for sampler, seed in product(samplers(recipe, is_long=is_long), range(seeds)):
        draw, faults = Random(seed), every_kind() if seed % 2 else ()
        whole = recipe.world(faults=faults)
        whole.run(sampler(seed), driver="direct")
        limit, most = draw.choice(
            [
                ("virtual_ms_max", whole.table.now_ms),
                ("turns_max", whole.table.step),
                ("until_ms", whole.table.now_ms),
            ]
        )
        short = limited(recipe, **{limit: draw.randint(1, max(most, 1))})
        world = short.world(faults=faults)
        world.run(sampler(seed), driver="direct", trace=Trace({}, keep=True))
        the_same_through_its_text(short, world, faults)


@pytest.mark.long
@pytest.mark.parametrize("seed", [461930, 794863, 630491])
def test_what_is_held_when_time_is_over_is_let_go(seed: int) -> None:
    """When all that could still happen at that second was held back, and the next timer is beyond
    the limit, this race ended 234 turns before its Run."""
    recipe = find("tolerated_for_a_while")
    world = recipe.world()
    world.run(SURW(seed), driver="direct", trace=Trace({}, keep=True))
    assert world.verdict is not None
    assert world.verdict.end.startswith("virtual_ms_max")
    the_same_through_its_text(recipe, world)


SHRUNK = ("lost_update", "double_bind")


@seeds(12, 60)
@pytest.mark.parametrize("name", SHRUNK)
def test_a_shrunk_race_is_the_same_through_its_text(name: str, seeds: int) -> None:
    """What is shrunk is a race like any other: its text makes the same turns as it does."""
    recipe, shrunk = find(name), 0
    for seed in range(seeds):
        faults = every_kind() if seed % 2 else ()  # With so many, few Runs come to a breach.
        world = recipe.world(faults=faults)
        verdict = world.run(Uniform(seed), driver="direct")
        if verdict.is_violated:
            shrunk += 1
            small = shrink(race_of(recipe, {}, world.trace.choices, faults=faults), recipe)
            again = play(parse(small.race.text(), "a.race.yaml"), recipe)
            assert shown(again.trace) == shown(small.played.trace)
            whole = race_of(recipe, {}, again.trace.choices, faults=faults)
            if not small.race.without:
                assert turns(play(whole, recipe).trace) == turns(again.trace)
    assert shrunk


def test_two_requests_that_are_late_keep_their_numbers() -> None:
    """A partition holds up a request until its caller has given up and asks again. Then the later
    of two equal requests is served first. Which of them a line means must not depend on whether
    something that was released passed over it."""
    for seed in (125, 204):
        recipe = find("leader_overlap")
        the_same_through_its_text(recipe, random_run(recipe, seed))


def test_a_request_in_parts_keeps_its_number() -> None:
    """Of two deletions one is struck by a fault, and the other takes two turns: the answer to the
    second is not that to the first. Its later part is counted by a name of its own."""

    def option(kind: str, verb: str, nth: int) -> Option:
        made = Option(kind, "alpha/main", lambda: None, actor="alpha")
        return made.about(verb, "pods/default/v", nth=nth)

    counting = Counting()
    counting.number_once(option(SERVE, "delete", 1))
    assert counting.number(option(SERVE, "delete", 2))[0] == 2
    assert counting.number(option(SERVE, "delete.2", 2))[0] == 1
    assert counting.number(option(ANSWER, "delete", 2))[0] == 2
    assert counting.number(option(ANSWER, "delete", 1))[0] == 1


@pytest.mark.long
def test_laps_end_a_run_and_its_race_alike() -> None:
    """A lap is proved by what has happened, and not by the choices: those of a race hold back what
    others pass over. This Run ended after 765 turns, and as a race after 560."""
    recipe = find("hostile_schedulers")
    world = recipe.world()
    world.run(PCT(101), driver="direct", trace=Trace({}, keep=True))
    the_same_through_its_text(recipe, world)


@seeds(100, 1_000)
@pytest.mark.parametrize("name", ["two_defaults", "twice_created", "time_travel"])
def test_a_run_with_holds_between_the_parts_of_a_request_is_a_race(name: str, seeds: int) -> None:
    """Who samples holds things back and lets them go: what is let go comes first, and has passed
    what is duller, as a later part of a request is. With the faults that the scenario allows."""
    recipe = find(name)
    if name == "time_travel":  # Each of its Runs has a hundred turns.
        seeds //= 4
    for seed in range(seeds):
        world = recipe.world()
        world.run(POS(seed), driver="direct", trace=Trace({}, keep=True))
        the_same_through_its_text(recipe, world)


@seeds(25, 1_000)
@pytest.mark.parametrize("faults", [0, 2])
def test_a_run_with_faults_and_picks_is_a_race(faults: int, seeds: int) -> None:
    """Crashes, lost messages, stalls and what else the rich scenario allows."""
    switches = {"faults": faults}
    for seed in range(seeds):
        the_same_through_its_text(LOTS, random_run(LOTS, seed, switches), switches=switches)


def test_a_fault_strikes_before_a_hold_expires() -> None:
    """When only what is held is left to move, and the moment of a fault has come: the hold ends by
    what the fault brings about. A random Run in which a watch breaks before a restart."""
    world = random_run(LOTS, 419, {"faults": 2})
    race = race_of(LOTS, {"faults": 2}, world.trace.choices)
    played = play(race, LOTS)
    assert not any(fate.expired for fate in played.fates)
    assert turns(played.trace) == turns(world.trace)


@seeds(12, 1_000)
@pytest.mark.parametrize("recipe", [BUSY, LATE], ids=["busy", "late"])
def test_a_run_of_actors_with_several_tasks_is_a_race(recipe: Scenario, seeds: int) -> None:
    """Tasks that ask and pick the same, with faults between; servers that lag, too."""
    faults = (LoseReply(times_max=2), LoseRequest(times_max=2), Crash(restart_after_ms=50))
    for seed in range(seeds):
        world = recipe.world(faults=faults)
        world.run(Uniform(seed), driver="direct", trace=Trace({}, keep=True))
        the_same_through_its_text(recipe, world, faults)


LOST = (LoseReply(), LoseRequest())
KILLED = (Crash(), Crash(restart_after_ms=50), Crash("store", restart_after_ms=5))
STRUCK = [
    *(("lost_update", fault) for fault in (*LOST, *KILLED)),
    *(("double_bind", fault) for fault in LOST),
    *(pytest.param("double_bind", fault, marks=pytest.mark.long) for fault in KILLED),
]


@pytest.mark.parametrize(("name", "fault"), STRUCK, ids=str)
def test_any_class_with_a_fault_is_a_race(name: str, fault: Fault) -> None:
    """Each Run of a complete search, wherever the fault strikes, at rest among them, is a race file
    that comes to the same Verdict: the first claim that is breached, as a race ends there."""
    recipe, chooser = find(name), Complete(faults_max=1)
    struck = 0

    def look(world: World) -> bool:
        nonlocal struck
        verdict = world.verdict
        assert verdict is not None
        if not verdict.end.startswith("cut"):
            struck += verdict.faults
            race = race_of(recipe, {}, world.trace.choices, faults=[fault])
            assert parse(race.text(), "a.race.yaml") == race
            again = play(race, recipe).verdict
            assert again.outcome == verdict.outcome, race.text()
            assert _first(again) == _first(verdict)
            assert again.is_violated or again.faults == verdict.faults, race.text()
        return True

    play_runs(recipe, chooser, look, runs_max=5_000, faults=[fault], driver="direct")
    assert chooser.is_complete
    assert struck


def _first(verdict: Verdict) -> list[str]:
    return [violation.invariant for violation in verdict.violations[:1]]


async def signs_when_it_starts(client: Client) -> None:
    """And then waits for what never comes."""
    client.record("signed")
    await client.queue("orders", idle=True).get()


def one_signature(world: World) -> None:
    """Somebody who must sign but once, which a crash after all is done undoes."""
    world.start(Puppet("alpha", signs_when_it_starts))
    world.claim(quiescent(it_signed_once))


def it_signed_once(see: Evidence) -> str | None:
    """A claim about the end."""
    return "twice" if len(see.records) > 1 else None


def test_a_fault_that_strikes_at_rest_is_a_race() -> None:
    """Nothing is left to do when it strikes, so nothing but the fault leads to the breach: in the
    Run, and in the race made of it."""
    recipe, fault = of(one_signature), Crash(restart_after_ms=50)
    races: list[Race] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        if world.verdict.is_violated:
            races.append(race_of(recipe, {}, world.trace.choices, faults=[fault]))
        return True

    play_runs(recipe, Complete(), look, runs_max=99, faults=[fault], driver="direct")
    assert races
    for race in races:
        assert len(race.faults) == 1
        played = play(race, recipe)
        assert played.verdict.is_violated
        assert all(fate.took_place for fate in played.fates)


def test_a_race_is_played_alike_by_either_driver() -> None:
    """The same trace to the byte."""
    recipe = find("double_bind")
    race = race_of(recipe, {}, random_run(recipe, 1).trace.choices)
    one, other = (play(race, recipe, driver=driver) for driver in ("trio", "direct"))
    assert list(one.trace.lines()) == list(other.trace.lines())
