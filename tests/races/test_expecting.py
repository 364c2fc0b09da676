"""Expecting: each side is played under its own switches, and is met only by what it says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from testbed import Client, Evidence, World, always
from testbed.errors import RaceRefused, UnknownName
from testbed.objects.meta import Map
from testbed.races.expecting import (
    Side,
    both_sides,
    check_switches,
    expect,
    expected_under,
    pair_of,
)
from testbed.races.race import Expectation, Race
from testbed.races.racefile import parse
from testbed.world.scenario import find, of
from tests.each_row import each_row
from tests.shared.stage import Puppet, note

LATE = """\
scenario: lost_update
holds:
  - hold: alpha update notes/default/list
    until: beta get notes/default/list
"""
PAIR = f"""{LATE}
expect:
  - switches: {{guard: off}}
    violates: every_signature_is_kept
  - switches: {{guard: on}}
    holds: [every_signature_is_kept]
"""
RECIPE = find("lost_update")


def sides(text: str) -> list[Side]:
    """Each side of a race, played."""
    return both_sides(parse(text, "a.race.yaml"), RECIPE, "a.race.yaml")


def test_both_sides_of_a_pair_are_played() -> None:
    """Each under its own switches, beside those of the race."""
    off, on = sides(PAIR)
    assert (off.played.world.switches["guard"], on.played.world.switches["guard"]) == ("off", "on")
    assert off.is_met
    assert on.is_met
    assert (off.said, on.said) == ("as expected", "as expected")


@each_row(
    ("expected", "is_met"),
    [
        ("violates: every_signature_is_kept", True),
        ("violates: no_actor_dies", False),
        ("holds: [every_signature_is_kept]", False),
        ("holds: []", False),
        ("{switches: {guard: on}, holds: []}", True),
        ("{switches: {guard: on}, violates: every_signature_is_kept}", False),
    ],
)
def test_a_side_is_met_by_what_it_says_and_nothing_else(expected: str, is_met: bool) -> None:
    """The claim that is named, or that all of them hold."""
    said = expected if expected[0] == "{" else f"\n  {expected}"
    (side,) = sides(f"{LATE}expect: {said}\n")
    assert side.is_met is is_met
    assert side.said.startswith("as expected" if is_met else "not as expected, which is: ")


def two_claims(world: World, *, late: bool = False, dies: bool = False) -> None:
    """A second note is one too many, and breaches a claim; if it is `late`, a third one breaches
    the other. The actor may also die of it."""

    async def writes(client: Client) -> None:
        for number in range(3 if late else 2):
            await client.create(note(f"n{number}"))
        assert not dies

    def at_most(most: int) -> Callable[[Evidence], str | None]:
        def claim(see: Evidence) -> str | None:
            return "one too many" if len(see.store.snapshot("notes/")) > most else None

        claim.__name__ = f"at_most_{most}"
        return claim

    world.start(Puppet("alpha", writes))
    world.claim(always(at_most(1)), always(at_most(2)))


@each_row(
    ("switches", "holds", "is_met"),
    [
        ("{}", "at_most_2", True),
        ("{}", "at_most_2, no_actor_dies", True),
        ("{}", "at_most_1", False),
        ("{}", "at_most_1, at_most_2", False),
        ("{}", "", False),
        ("{late: on}", "at_most_2", False),
        ("{dies: on}", "at_most_2", False),
    ],
)
def test_of_the_claims_that_are_named_each_must_hold_to_the_end(
    switches: str, holds: str, is_met: bool
) -> None:
    """Whatever becomes of the others that the scenario makes; so the Run goes on after these. Those
    of every World must hold, too: what a dead actor would have done breaches nothing."""
    text = f"scenario: two\nexpect: {{switches: {switches}, holds: [{holds}]}}\n"
    (side,) = both_sides(parse(text, "a"), of(two_claims), "a")
    assert side.is_met is is_met, str(side.played.verdict)


def test_a_run_that_did_not_come_to_its_end_shows_of_no_claim_that_it_holds() -> None:
    """One is breached before the limit, and the one that is named is not."""

    def limited(world: World) -> None:
        two_claims(world)
        world.limit(turns_max=4)

    (side,) = both_sides(
        parse("scenario: two\nexpect: {holds: [at_most_2]}\n", "a"), of(limited), "a"
    )
    assert side.played.verdict.end.startswith("turns_max")
    assert side.played.verdict.is_violated
    assert not side.is_met


def test_undecided_is_not_what_was_expected() -> None:
    """A limit that was reached shows nothing."""

    def limited(world: World, *, guard: bool = False) -> None:
        RECIPE.build(world, guard=guard)
        world.limit(turns_max=3)

    race = parse(f"{LATE}expect: {{switches: {{guard: on}}, holds: []}}\n", "a")
    assert both_sides(race, RECIPE, "a")[0].is_met
    assert not both_sides(race, of(limited), "a")[0].is_met


def test_nothing_is_expected_of_a_race_that_says_nothing() -> None:
    """It is played once."""
    (side,) = sides(LATE)
    assert side.is_met
    assert side.said == "nothing is expected"


@each_row("said", ["violates: every_signature_is_keept", "holds: [no_actor_die]"])
def test_a_claim_that_nobody_makes_is_refused(said: str) -> None:
    """With its line and the nearest name."""
    with pytest.raises(RaceRefused, match=r"a\.race\.yaml, line 6: there is no claim of lost_up"):
        sides(f"{LATE}expect:\n  {said}\n")


def test_a_line_that_matched_nothing_is_stale_where_a_breach_is_expected() -> None:
    """Where a claim is to hold, it may rightly never come."""
    gone = PAIR.replace("alpha update", "alfa update")
    off, on = sides(gone)
    assert off.is_stale
    assert not on.is_stale
    assert [fate.deviation.line for fate in on.unmatched] == [3]


@each_row(
    ("wrong", "right", "line"),
    [("alpha update", "alfa update", 3), ("beta get", "bata get", 3)],
)
def test_a_line_that_speaks_of_nobody_says_who_there_is(wrong: str, right: str, line: int) -> None:
    """Whether it matched nothing for that, or waits in vain."""
    off, _ = sides(PAIR.replace(wrong, right))
    (fate,) = off.played.fates
    assert fate.deviation.line == line
    name, meant = right.split()[0], wrong.split()[0]
    said = f"there is no actor {name!r}. Did you mean {meant!r}? There are: alpha, beta, store"
    assert off.stranger(fate) == said
    assert fate.matched or off.closest(fate) == f"; {said}"


def test_whoever_is_there_or_is_a_glob_is_no_stranger() -> None:
    """An actor, one of its tasks or lives, a server, a glob."""
    for who in ("alpha", "alpha/main", "alpha@2", "*", "al*"):
        hold = f'{{"hold": "{who} updaet x", "until": "store is up"}}'
        (side,) = sides(f"scenario: lost_update\nholds: [{hold}]\n")
        assert side.stranger(side.played.fates[0]) == ""


@each_row(
    ("switches", "said"),
    [
        ("gaurd: on", "there is no switch of lost_update 'gaurd'. Did you mean 'guard'?"),
        ("guard: offf", "offf"),
    ],
)
def test_a_switch_misspelt_is_told_with_its_line(switches: str, said: str) -> None:
    """Of the race, and of a side."""
    for text, line in (
        (f"scenario: lost_update\nswitches:\n  writers: 2\n  {switches}\n", 4),
        (f"{LATE}expect:\n  - holds: []\n  - switches:\n      {switches}\n    holds: []\n", 8),
    ):
        with pytest.raises(RaceRefused) as refused:
            check_switches(parse(text, "a.race.yaml"), RECIPE, "a.race.yaml")
        assert f"a.race.yaml, line {line}: " in str(refused.value)
        assert said in str(refused.value)


def test_switches_say_which_side_is_meant() -> None:
    """The one whose switches are in force; none, if none says that."""
    race = parse(PAIR, "a")
    off, on = race.expect
    assert expected_under(race, RECIPE, {}) == off
    assert expected_under(race, RECIPE, {"guard": "true"}) == on
    assert expected_under(race, RECIPE, {"guard": "off"}) == off
    assert expected_under(race, RECIPE, {"guard": "off", "writers": "3"}) is None
    own = parse(f"{LATE}expect: {{violates: every_signature_is_kept}}\n", "a")
    assert expected_under(own, RECIPE, {"guard": "on"}) is None
    assert expected_under(Race("lost_update"), RECIPE, {}) is None
    with pytest.raises(UnknownName):
        expected_under(race, RECIPE, {"gaurd": "on"})


def test_an_expectation_is_said_in_words() -> None:
    """As a race file says it."""
    said = [
        str(Expectation(violates="x")), str(Expectation(holds=("x", "y"))), str(Expectation()),
        Expectation(Map(guard="on")).under,
    ]  # fmt: skip
    assert said == ["violates x", "holds x, y", "holds", "guard=on"]


def test_a_side_may_be_played_by_either_driver() -> None:
    """With the same trace."""
    race = parse(PAIR, "a")
    one, other = (
        expect(race, RECIPE, race.expect[0], "a", driver=driver) for driver in ("trio", "direct")
    )
    assert one.played.trace.digest() == other.played.trace.digest()


@each_row(
    "expected",
    [
        "violates: every_signature_is_kept",
        "{switches: {guard: off}, violates: every_signature_is_kept}",
        "{switches: {guard: on}, violates: every_signature_is_kept}",
        "[{violates: every_signature_is_kept}, {switches: {guard: yes}, holds: []}]",
        "[{violates: every_signature_is_kept}, "
        "{switches: {guard: on}, violates: every_signature_is_kept}]",
    ],
)
def test_a_pair_has_each_side_once(expected: str) -> None:
    """Whichever side was found, and whatever the other says already."""
    said = f"\n  {expected}" if expected[0] == "v" else expected
    race = parse(f"{LATE}expect: {said}\n".replace("yes", "on"), "a.race.yaml")
    sides = pair_of(race, RECIPE, "a.race.yaml")
    told = [(RECIPE.values(side.switches)["guard"], side.violates) for side in sides]
    assert told == [(False, "every_signature_is_kept"), (True, "")]
