"""complete: every class of Runs is seen, none twice, and what is claimed is what was looked at."""

from __future__ import annotations

from functools import cache

import attrs
import pytest

from testbed import Client, Evidence, World, always
from testbed.chooser import Chooser
from testbed.choosers.complete import Complete
from testbed.choosers.equivalence.orders import Keys, Touch
from testbed.choosers.equivalence.tree import TurnNode
from testbed.choosers.uniform import Uniform
from testbed.errors import ReplayDiverged, ScenarioError
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.objects import Note
from testbed.store.footprint import NOTHING
from testbed.turns.trace import Step
from testbed.world.scenario import Scenario, find, of, play_runs
from tests.models.worlds.small_worlds import Brute, Small, Watched, outcome_of
from tests.shared.stage import Apart, Doing, Puppet, note

RUNS_MAX = 3_000


@attrs.define
class Found:
    """What a Chooser has come across: the classes of its Runs, and how they ended."""

    runs: int
    forms: set[object]
    outcomes: set[object]


def found_by(
    scenario: Scenario, chooser: Chooser, runs_max: int = RUNS_MAX, /, **switches: str
) -> Found:
    """Play until it has no Run left, or so many were played."""
    watched = Watched(chooser)
    found = Found(0, set(), set())

    def look(world: World) -> bool:
        if watched.form is not None:
            found.forms.add(watched.form)
            found.outcomes.add(outcome_of(world))
        return True

    found.runs = play_runs(
        scenario, watched, look, runs_max=runs_max, switches=switches, driver="direct"
    )
    return found


def agrees(scenario: Scenario, **switches: str) -> Complete:
    """Brute force finds the same classes and the same ends, and nothing was seen twice."""
    chooser = Complete()
    found = found_by(scenario, chooser, RUNS_MAX, **switches)
    every = found_by(scenario, Brute(), 20_000, **switches)
    assert chooser.is_complete
    assert every.runs < 20_000
    assert found.forms == every.forms
    assert found.outcomes == every.outcomes
    assert len(found.forms) == chooser.classes
    assert chooser.repeated == 0
    return chooser


def playing(**puppets: Doing) -> Scenario:
    """A scenario of nothing but these actors and one note."""

    def build(world: World) -> None:
        world.add(Note("n"))
        for name, do in puppets.items():
            world.start(Puppet(name, do))

    return of(build, "puppets")


# -- the scenarios that come with the testbed ------------------------------------------------------

PAIRS = [
    ("lost_update", {"writers": "2"}, (4, 4)),
    ("lost_update", {"writers": "3"}, (36, 60)),
    ("late_short_write", {}, (3, 2)),
    ("double_bind", {}, (6, 6)),
]


@pytest.mark.parametrize("guard", ["off", "on"])
@pytest.mark.parametrize(("name", "switches", "classes"), PAIRS)
def test_it_finishes_the_scenarios(
    name: str, switches: dict[str, str], classes: tuple[int, int], guard: str
) -> None:
    """One Run for each class, none blocked: two writers read and write one list in 4 ways that
    differ, three in 36, and a guarded writer that is refused tries again. Without the guard some
    of the classes are violated; with it none is, which is now known and not only sampled."""
    chooser = Complete()
    found_by(find(name), chooser, RUNS_MAX, guard=guard, **switches)
    assert chooser.is_complete
    assert chooser.classes == chooser.runs == classes[guard == "on"]
    assert chooser.blocked == 0
    assert ("violated" in chooser.outcomes) is (guard == "off")
    assert "held" in chooser.outcomes


def test_it_sees_the_classes_of_all_252_runs_of_two_writers() -> None:
    """Brute force plays 252 Runs of two naive writers, of 4 classes; complete plays 4."""
    assert agrees(find("lost_update"), guard="off").runs == 4


@pytest.mark.parametrize("runs", [60, pytest.param(5_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("guard", ["off", "on"])
@pytest.mark.parametrize(("name", "switches"), [pair[:2] for pair in PAIRS])
def test_no_class_of_a_random_run_lies_outside(
    name: str, switches: dict[str, str], guard: str, runs: int
) -> None:
    """What uniform choices come across, complete has seen."""
    seen = found_by(find(name), Complete(), RUNS_MAX, guard=guard, **switches)
    sampled = found_by(find(name), Uniform(0), runs, guard=guard, **switches)
    assert sampled.forms <= seen.forms


# -- what it is made of ----------------------------------------------------------------------------

RACE = Small(((("swap", "x"),), (("get", "x"), ("create", "y"))))
TASKS = Small(
    ((("spawn", "v", (("update", "x"),)), ("get", "x")), (("update", "x"),)), (True, True)
)
STRUCK = Small(((("update", "x"),), (("get", "x"),)), faults=(Crash("*"), LoseReply()))


@pytest.mark.parametrize("small", [RACE, TASKS, STRUCK])
def test_three_small_worlds_are_seen_whole(small: Small) -> None:
    """The Worlds on which its parts are taken out, one by one, below."""
    agrees(small.scenario())


@cache
def all_of(small: Small) -> Found:
    """What brute force finds; that depends on none of the parts."""
    return found_by(small.scenario(), Brute(), 20_000)


def everything_asleep_wakes(self: TurnNode, touch: Touch, has_passed: bool) -> list[object]:
    """No sleep sets."""
    return []


def test_without_sleep_it_plays_more_runs_of_the_same_classes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sleep sets save Runs and lose no class."""
    asleep = Complete()
    with_sleep = found_by(STRUCK.scenario(), asleep)
    monkeypatch.setattr(TurnNode, "still_asleep", everything_asleep_wakes)
    awake = Complete()
    without = found_by(STRUCK.scenario(), awake)
    assert without.forms == with_sleep.forms
    assert awake.runs > asleep.runs


@pytest.mark.parametrize("broken", ["no clash", "no causes", "told too early"])
def test_a_search_that_lacks_a_part_is_found_out(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the clash of Footprints, without causes, or with a Footprint taken when the turn has
    only begun, it no longer agrees with brute force: the tests above would fail."""
    scenario, complete = TASKS.scenario(), Complete()
    every = all_of(TASKS)
    if broken == "no clash":
        monkeypatch.setattr(complete._keys, "touch", lambda _: Keys().touch(NOTHING))
    elif broken == "no causes":
        ended = complete.ended
        monkeypatch.setattr(complete, "ended", lambda step: ended(_uncaused(step)))
    else:
        ended = complete.ended
        monkeypatch.setattr(complete, "ended", lambda step: ended(_unfinished(step)))
    found = found_by(scenario, complete)
    twice = complete.repeated or complete.blocked
    assert found.forms != every.forms or twice


def _uncaused(step: Step) -> Step:
    step.causes = ()
    return step


def _unfinished(step: Step) -> Step:
    step.marks.reads.clear()
    step.marks.writes.clear()
    step.marks.changes.clear()
    return step


# -- what it claims --------------------------------------------------------------------------------


def test_a_violation_does_not_hide_what_comes_after_it() -> None:
    """A claim that is broken at once would end every Run at its first turn; complete goes on, so
    two writers still have their two classes, and each is violated."""

    def build(world: World) -> None:
        RACE.build(world)
        world.claim(always(lambda see: "no" if see.store.revision else None, reads=()))

    chooser = Complete()
    found = found_by(of(build, "broken"), chooser)
    plain = found_by(RACE.scenario(), Complete())
    assert chooser.outcomes == {"violated": len(plain.forms)}
    assert found.forms == plain.forms


@pytest.mark.parametrize("reads", [None, ("log:notes",), ()])
def test_a_claim_that_can_tell_an_order_has_it_played_both_ways(
    reads: tuple[str, ...] | None,
) -> None:
    """Two creates of two notes commute, but for a claim that one is never there without the other;
    one that says it reads no note is taken at its word."""

    def build(world: World) -> None:
        Small(((("create", "y"),), (("create", "z"),)), (True, True)).build(world)
        world.claim(always(y_comes_first, reads=reads))

    chooser = Complete()
    play_runs(of(build, "told"), chooser, lambda _: True, runs_max=RUNS_MAX, driver="direct")
    assert chooser.is_complete
    assert ("violated" in chooser.outcomes) is (reads != ())


def y_comes_first(see: Evidence) -> str | None:
    """A claim about the order of two creates."""
    is_alone = see.store.peek("notes/default/z") and not see.store.peek("notes/default/y")
    return "z is there without y" if is_alone else None


async def looks_on_from_the_list(client: Client) -> None:
    """Opens a watch on the past if both notes were written since; records what it hears first."""
    listed = await client.list(Note)
    notes = [await client.get(Note, name) for name in "xy"]
    if all(one.data["by"] != "nobody" for one in notes):
        stream = await client.watch(Note, listed.revision)
        client.record("heard", key=(await stream.next()).key)


def test_what_a_watch_hears_of_the_past_is_heard_in_each_order() -> None:
    """Two writes of two notes commute, until a watch is opened that hears of both: only then is it
    known that it matters which was first, and none of the two may have slept till then."""

    def build(world: World) -> None:
        Small(((("update", "x"),), (("update", "y"),)), (True, True), ("x", "y")).build(world)
        world.start(Apart("late", looks_on_from_the_list))

    scenario, chooser = of(build, "late"), Complete()
    found = found_by(scenario, chooser)
    sampled = found_by(scenario, Uniform(0), 300)
    assert chooser.is_complete
    assert sampled.forms <= found.forms
    for key in ("x", "y"):
        assert any(f"'key': 'notes/default/{key}'" in str(outcome) for outcome in found.outcomes)


def test_a_limit_is_part_of_the_claim() -> None:
    """Runs that are ended by a limit show no class to its end; the claim names the limit, and all
    that is ready is tried on the way, so no beginning of that length is missed."""

    def build(world: World) -> None:
        RACE.build(world)
        world.limit(turns_max=5)

    chooser = Complete()
    found = found_by(of(build, "short"), chooser)
    every = found_by(of(build, "short"), Brute())
    assert chooser.summary.startswith("complete up to turns_max: ")
    assert found.forms == every.forms


def test_it_says_how_much_it_has_seen() -> None:
    """The summary, before the end and at it; the estimate grows to 1."""
    chooser = Complete(runs_max=2)
    found_by(find("lost_update"), chooser)
    assert chooser.summary == "not complete: 2 classes in 2 runs, 0 blocked, ≤ 0 faults, no delays"
    chooser = Complete()
    found_by(find("lost_update"), chooser)
    assert chooser.summary == "complete: 4 classes in 4 runs, 0 blocked, ≤ 0 faults, no delays"


def test_fewer_faults_than_are_allowed_may_be_asked_for() -> None:
    """With none, the classes of the World without faults; with one, more; no Run has two."""
    counts = {}
    for faults_max in (0, 1, 2):
        chooser = Complete(faults_max)
        found_by(STRUCK.scenario(), chooser)
        assert chooser.summary.endswith(
            f"≤ {faults_max} fault{'' if faults_max == 1 else 's'}, no delays"
        )
        struck = {sum(turn.is_fault for turn in seen.turns) for seen in chooser.seen}
        assert struck == set(range(faults_max + 1))
        counts[faults_max] = chooser.classes
    assert counts[0] < counts[1] < counts[2]


def test_a_fault_may_strike_when_all_is_done() -> None:
    """A Run is over when nothing is ready, and yet an actor may crash then: else whether it can
    would depend on who happens to move last."""
    small = Small(((("get", "x"),), (("take",),)), (True, True), faults=(Crash("b"),))
    chooser = Complete()
    found_by(small.scenario(), chooser)
    lasts = {str(seen.turns[-1].sentence) for seen in chooser.seen}
    assert "fault fault/crash crash b" in lasts


def test_a_delay_is_refused() -> None:
    """With time passing over what is ready, swapping two turns changes when later ones are due."""

    def build(world: World) -> None:
        RACE.build(world)
        world.limit(delay_max_ms=5)

    with pytest.raises(ScenarioError, match=r"no search of it is complete\.\nNext: world\.limit"):
        found_by(of(build, "late"), Complete())


def test_what_decides_outside_the_world_is_found_out() -> None:
    """An actor whose moves change from Run to Run would make the tree another one each time."""
    calls = iter(range(1000))

    async def fickle(client: Client) -> None:
        if next(calls) % 2:
            await client.get(Note, "n")

    async def steady(client: Client) -> None:
        await client.update(note("n", by=client.name), whatever_it_was=True)

    with pytest.raises(ReplayDiverged, match="Something outside the World decided"):
        found_by(playing(a=fickle, b=steady, c=steady), Complete())


def test_memory_that_tasks_hide_makes_it_blind() -> None:
    """Two tasks share a list. Declared, its order is seen both ways; hidden, only one way: hence
    `shares_memory` is true unless an actor says that it is not."""

    def sharing(hidden: bool) -> Small:
        child = (("hide", 1), ("get", "x"))
        actions = (("spawn", "v", child), ("get", "x"), ("hide", 2), ("get", "x"))
        return Small((actions,), (hidden,))

    def orders(small: Small) -> set[object]:
        return found_by(small.scenario(), Complete()).outcomes

    assert len(orders(sharing(hidden=False))) == 2
    assert len(orders(sharing(hidden=True))) == 1


def test_two_searches_play_the_same_runs() -> None:
    """A search is a function of its scenario: the same Runs in the same order."""
    told: list[list[object]] = []
    for _ in range(2):
        chooser = Complete()
        found_by(STRUCK.scenario(), chooser)
        told.append([[turn.content for turn in seen.turns] for seen in chooser.seen])
    assert told[0] == told[1]
