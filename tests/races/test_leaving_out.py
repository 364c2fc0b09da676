"""Leaving out: what plays a part in a breach stays in its World, and what plays none goes."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import attrs
import pytest

from scenarios.basics.lost_update import Writer, every_signature_is_kept, lost_update
from testbed import Client, Evidence, World, always, quiescent, scenario
from testbed.errors import ScenarioError, UnknownName
from testbed.invariant import COMMIT, Invariant
from testbed.objects import Map, Note
from testbed.races.course import course_of
from testbed.races.leaving_out import LeavingOut, differing, noting
from testbed.races.playing import play, race_of
from testbed.races.race import Race
from testbed.races.racefile import parse
from testbed.races.shrink import Shrunk, breach_of, shrink
from testbed.races.trying import Limits, Trying
from testbed.turns.found import Wrong
from testbed.turns.trace import Step
from testbed.world.chooser_kinds import chooser_of
from testbed.world.keeping import is_kept
from testbed.world.scenario import Scenario, find, known, of
from tests.each_row import each_row
from tests.models.planted import PLANTED, Planted, onlookers
from tests.shared.stage import Puppet, note

SEEDS = 40
EACH = pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)


def violated(recipe: Scenario, switches: dict[str, str], most: int = 2) -> Iterator[Race]:
    """The races of the first violated Runs among these seeds, so many of each Chooser."""
    for name in ("uniform", "pct"):
        found = 0
        for seed in range(SEEDS):
            world = recipe.world(switches)
            verdict = world.run(chooser_of(name, seed), driver="direct")
            if verdict.is_violated:
                found += 1
                yield race_of(recipe, switches, world.trace.choices)
            if found == most:
                break


def shrunk(planted: Planted) -> list[tuple[Scenario, Shrunk]]:
    """Each of its races, shrunk."""
    recipe = of(planted.build)
    whole = [parse(planted.race, "planted")] if planted.race else []
    races = whole or violated(recipe, planted.switches)
    return [(recipe, shrink(race, recipe)) for race in races]


def lines_of(race: Race) -> list[str]:
    """Its lines, as a race file writes them."""
    return [str(line) for line in (*race.holds, *race.faults, *race.picks)]


@EACH
def test_the_cause_that_was_planted_is_there(planted: Planted) -> None:
    """Its lines are, and no others; what must stay stays, and what has no part in it goes. In the
    whole World the same lines come to the same breach, word for word, by the same way; and in both
    Worlds each of them is needed."""
    races = shrunk(planted)
    assert races
    for _, small in races:
        lines = lines_of(small.race)
        assert len(lines) == len(planted.cause), small.race.text()
        for glob in planted.cause:
            assert any(fnmatchcase(line, glob) for line in lines), f"{glob}\n{small.race.text()}"
        assert tuple(sorted(small.race.without)) == planted.goes
        assert not small.cut_off
    for recipe, small in races:
        whole = attrs.evolve(small.race, without=())
        played = play(whole, recipe)
        (same,) = (v for v in played.verdict.violations if v.invariant == small.violation.invariant)
        assert same.said == small.violation.said
        out, gone = small.race.without, course_of(played.world, same).made_by(small.race.without)
        course = course_of(played.world, same).aside(out, {*out, *gone})
        assert course == course_of(small.played.world, small.violation).aside((), ())
        for race in (whole, small.race):
            for field in ("holds", "faults", "picks"):
                lines = getattr(race, field)
                for place in range(len(lines)):
                    fewer = attrs.evolve(race, **{field: lines[:place] + lines[place + 1 :]})
                    assert play(fewer, recipe).verdict.is_held, fewer.text()


SHIPPED = ("double_bind", "late_short_write", "lost_update", "two_defaults", "time_travel")


@each_row("name", SHIPPED)
def test_the_lines_of_a_shipped_race_need_no_smaller_world(name: str) -> None:
    """Whatever was left out, its lines breach the same claim where all is there."""
    recipe = find(name)
    for race in violated(recipe, {"guard": "off"}, most=1):
        small = shrink(race, recipe).race
        assert play(attrs.evolve(small, without=()), recipe).verdict.is_violated


def test_a_race_in_a_smaller_world_is_shrunk_in_the_whole_one() -> None:
    """If it breaches the claim there, too. Else what it leaves out stays out."""
    recipe = of(onlookers)
    (race, *_) = violated(recipe, {})
    small = shrink(race, recipe).race
    assert small.without
    assert shrink(attrs.evolve(small, without=small.without[:1]), recipe).race == small

    def unlocked(see: Evidence) -> str | None:
        return None if see.store.peek("notes/default/lock") else "it is not locked"

    def build(world: World) -> None:
        world.add(note("lock"), note("list"))
        world.start(Puppet("alpha", look_on))
        world.claim(always(unlocked))

    without = ("notes/default/lock",)
    assert shrink(Race("r", without=without), of(build)).race.without == without


# -- keep=, switches and claims -------------------------------------------------------------------


def test_a_scenario_says_what_it_keeps() -> None:
    """Actors, keys, kinds, and globs of these."""

    @scenario(keep=("nodes", "kubelet-*", "pods/default/db"))
    def build(world: World) -> None:
        """Nothing."""

    keep = of(build).keep
    assert keep == ("nodes", "kubelet-*", "pods/default/db")
    assert all(is_kept(name, keep) for name in ("nodes/n1", "kubelet-n1", "pods/default/db"))
    assert not any(is_kept(name, keep) for name in ("pods/default/db-2", "node", "alpha"))
    assert of(scenario(keep="nodes")(build)).keep == ("nodes",)


def test_to_keep_what_is_not_there_is_an_error() -> None:
    """It suggests the nearest name; what only one side of the guard has can be kept."""

    def build(world: World, *, guard: bool = False) -> None:
        world.add(note("n"), *([note("lock")] if guard else []))

    of(scenario(keep=("notes/default/lock", "notes"))(build)).check({})
    recipe = of(scenario(keep=("notes/default/luck",))(build))
    with pytest.raises(UnknownName, match=r"that .* keeps: 'notes/default/luck'.*mean .*/lock'"):
        recipe.check({})
    with pytest.raises(UnknownName, match="'notes/default/luck'"):
        shrink(Race(recipe.name), recipe)
    for wrong in ((1,), ("",)):
        with pytest.raises(ScenarioError, match=r"expected names of actors, keys or kinds"):
            scenario(keep=wrong)  # type: ignore[arg-type]


def test_what_a_switch_that_is_set_brings_stays() -> None:
    """What the guard brings or changes does, on both its sides; another switch only if it is set
    to what is not its default."""

    def build(
        world: World, *, guard: bool = False, extra: bool = False, usual: bool = True
    ) -> None:
        world.add(note("n", by="guard" if guard else "none"), note("clutter"))
        world.add(
            *(note(name) for name, is_on in (("g", guard), ("x", extra), ("u", usual)) if is_on)
        )
        if extra:
            world.start(Puppet("more", look_on))

    recipe = of(build)
    sides = {
        "off": {"notes/default/n"},
        "on": {"notes/default/n", "notes/default/g"},
    }
    for guard, names in sides.items():
        switches = Map({"guard": guard, "extra": "off", "usual": "on"})
        assert differing(recipe, Race("r", switches=switches)) == names
        more, switches = {"more", "notes/default/x"}, switches.having(extra="on")
        assert differing(recipe, Race("r", switches=switches)) == names | more


async def look_on(client: Client) -> None:
    """List the notes."""
    await client.list(Note)


def test_what_a_claim_looks_at_by_its_key_is_noted() -> None:
    """By `peek`, by a snapshot of the one, and by what it declares; not by a snapshot of a kind,
    nor by the claims that every World has."""

    def looks(see: Evidence) -> str | None:
        see.store.peek("notes/default/a")
        see.store.snapshot("notes/default/b")
        return None if see.store.snapshot("notes/") else "there is none"

    def build(world: World) -> None:
        world.add(*(note(name) for name in "abcd"))
        world.start(Puppet("alpha", look_on))
        world.claim(always(looks, reads=("notes/default/c", "log:notes")))

    looked: set[str] = set()
    play(Race("r"), noting(of(build), looked))
    assert {key[-1] for key in looked if key.startswith("notes/default/")} == {"a", "b", "c"}


@attrs.frozen
class Signed(Invariant):
    """Two have signed by the third version; a claim of a class that nobody can write to."""

    name: str = "signed"
    looks_at = frozenset({COMMIT})

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        entry: Any = evidence.store.peek("notes/default/list")
        is_lost = (
            len(evidence.store) and entry.version == 3 and " " not in entry.value.data["signed"]
        )
        return "one is lost" if is_lost else None


def test_a_frozen_claim_may_look() -> None:
    """It is not changed, so that its looks are noted; and it may ask how many objects there are."""

    def build(world: World) -> None:
        world.add(note("list", signed=""), note("other"))
        world.start(Writer("alpha"), Writer("beta"))
        world.claim(Signed())

    recipe = of(build)
    (race, *_) = violated(recipe, {})
    assert shrink(race, recipe).race.without == ("notes/default/other",)


def test_each_run_that_leaving_out_plays_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the one in which it is noted at what the claims look."""
    played: list[Race] = []

    def counting(race: Race, *given: Any, **named: Any) -> Any:
        played.append(race)
        return play(race, *given, **named)

    recipe = of(onlookers)
    (race, *_) = violated(recipe, {})
    monkeypatch.setattr("testbed.races.trying.play", counting)
    monkeypatch.setattr("testbed.races.leaving_out.play", counting, raising=False)
    reason = play(race, recipe).verdict.violations[0]
    trying = Trying(recipe, race.switches, reason, Limits())
    LeavingOut(trying, race).race()
    assert trying.runs == len(played)


def test_what_the_sentence_names_stays() -> None:
    """Even if the claim does not look at it."""

    def as_it_says(see: Evidence) -> Wrong:
        return every_signature_is_kept(see) and "one is lost, as config says"

    def build(world: World) -> None:
        lost_update(world)
        world.add(note("config"), note("clutter"))
        world.claim(quiescent(as_it_says, reads=()))

    recipe = of(build)
    (race, *_) = violated(recipe, {})
    small = shrink(race, recipe, invariant="as_it_says").race
    assert small.without == ("notes/default/clutter",)


def test_what_breaches_another_claim_in_the_calm_run_may_go() -> None:
    """That is less than the calm run of the whole World breaches, and nothing the race is about:
    its own breach comes sooner."""

    async def errs(client: Client) -> None:
        await client.sleep(1000, "later")
        client.record("erred")

    def nobody_errs(see: Evidence) -> str | None:
        return "somebody did" if see.records and see.records[-1].name == "erred" else None

    def build(world: World) -> None:
        world.add(note("list", signed=""))
        world.start(Writer("alpha"), Writer("beta"), Puppet("zoe", errs))
        world.claim(Signed(), always(nobody_errs, reads=("records",)))

    recipe = of(build)
    races = [
        race for race in violated(recipe, {}, 20) if breach_of(play(race, recipe).verdict, "signed")
    ]
    assert shrink(races[0], recipe).race.without == ("zoe",)


def test_every_shipped_scenario_has_what_it_keeps() -> None:
    """Or keeps nothing."""
    for each in known():
        each.check({})
