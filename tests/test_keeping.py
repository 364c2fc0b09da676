"""Races that are kept: when one is as expected, and what is told when it is not."""

from __future__ import annotations

from textwrap import dedent

import pytest

from testbed.errors import UnknownName
from testbed.keeping import Kept, keep
from testbed.race import Expectation
from testbed.racefile import parse
from testbed.scenario import find, of
from testbed.world import World

RACE = """
    scenario: lost_update
    holds:
      - hold: alpha update notes/default/list
        until: beta update notes/default/list
    """
CLAIM = "every_signature_is_kept"


def kept(expect: str, more: str = "", scenario: str = "lost_update") -> Kept:
    """The race above, with what is said to be expected of it, and perhaps more lines."""
    text = dedent(RACE) + more + f"expect: {expect}\n"
    race = parse(text, "a.race.yaml")
    return keep(race, race.expect[0], find(scenario))


@pytest.mark.parametrize(
    ("expect", "is_as_expected", "said"),
    [
        (f"{{violates: {CLAIM}}}", True, ""),
        (f"{{switches: {{guard: on}}, violates: {CLAIM}}}", False, "expected a breach of"),
        (f"{{switches: {{guard: on}}, holds: [{CLAIM}]}}", True, ""),
        ("{switches: {guard: on}, holds: []}", True, ""),
        (f"{{holds: [{CLAIM}]}}", False, f"expected to hold: {CLAIM}.\nViolated: {CLAIM}"),
        ("{holds: []}", False, "expected to hold: every claim.\nViolated: "),
        ("{violates: nobody_is_stuck}", False, "expected a breach of nobody_is_stuck.\nViolated: "),
        # The Run was over before it could have been told whether this one holds.
        ("{holds: [nobody_is_stuck]}", False, "expected to hold: nobody_is_stuck.\nViolated: "),
    ],
)
def test_a_race_is_as_expected_or_says_what_came_instead(
    expect: str, is_as_expected: bool, said: str
) -> None:
    """By the claim that was named and no other; `holds` of a Run that was not ended by a breach."""
    done = kept(expect)
    assert done.is_as_expected is is_as_expected
    assert done.said.startswith(said)


def test_a_line_that_matches_nothing_is_no_way_to_breach_a_claim() -> None:
    """What is breached all the same is another race than the file tells of; under `holds` such a
    line is only told, for a guard may well do away with what it speaks of."""
    more = "  - hold: alpha update notes/default/lst\n    until: quiet\n"
    done = kept(f"{{violates: {CLAIM}}}", more)
    assert not done.is_as_expected
    told = done.told("testbed replay a.race.yaml")
    assert told.startswith(f"{CLAIM} was breached, but not by this race.\nViolated: {CLAIM}")
    assert (
        "line 6 matched nothing: hold alpha update notes/default/lst until quiet; "
        "closest: alpha update notes/default/list\n"
    ) in told
    assert told.endswith("\n\nAgain: testbed replay a.race.yaml")
    done = kept("{switches: {guard: on}, holds: []}", more)
    assert done.is_as_expected
    assert len(done.unmatched) == 1


def test_a_run_that_reached_a_limit_has_not_held() -> None:
    """It may have been on its way to the breach."""

    def short(world: World) -> None:
        find("lost_update").build(world, guard=True)
        world.limit(turns_max=3)

    race = parse("scenario: lost_update\nexpect: {holds: []}\n", "a.race.yaml")
    done = keep(race, race.expect[0], of(short))
    assert not done.is_as_expected
    assert "Undecided: turns_max" in done.said


@pytest.mark.parametrize(
    "expect", [Expectation(violates="every_one"), Expectation(holds=("every_one",))]
)
def test_a_claim_that_nobody_makes_is_an_error(expect: Expectation) -> None:
    """Misspelt, it would hold for ever."""
    race = parse("scenario: lost_update\n", "a.race.yaml")
    with pytest.raises(UnknownName, match="there is no claim of lost_update 'every_one'"):
        keep(race, expect, find("lost_update"))
