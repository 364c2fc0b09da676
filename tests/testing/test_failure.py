"""How a race file that fails is told: what was expected of it, and what came instead."""

from __future__ import annotations

from textwrap import dedent

from testbed.races.expecting import Side, expect
from testbed.races.racefile import parse
from testbed.testing.failure import side_text
from testbed.world.scenario import find, of
from testbed.world.world import World
from tests.each_row import each_row

RACE = """
    scenario: lost_update
    holds:
      - hold: alpha update notes/default/list
        until: beta update notes/default/list
    """
CLAIM = "every_signature_is_kept"


def side_of(expected: str, more: str = "") -> Side:
    """The race above, with what is said to be expected of it, and perhaps more lines."""
    race = parse(dedent(RACE) + more + f"expect: {expected}\n", "a.race.yaml")
    return expect(race, find("lost_update"), race.expect[0], "a.race.yaml")


@each_row(
    ("expected", "is_as_expected", "said"),
    [
        (f"{{violates: {CLAIM}}}", True, ""),
        (f"{{switches: {{guard: on}}, violates: {CLAIM}}}", False, "expected a breach of"),
        (f"{{switches: {{guard: on}}, holds: [{CLAIM}]}}", True, ""),
        ("{switches: {guard: on}, holds: []}", True, ""),
        (f"{{holds: [{CLAIM}]}}", False, f"expected to hold: {CLAIM}.\nViolated: {CLAIM}"),
        ("{holds: []}", False, "expected to hold: every claim.\nViolated: "),
        ("{violates: nobody_is_stuck}", False, "expected a breach of nobody_is_stuck.\nViolated: "),
        # The Run goes on to its end, so that it can be told whether this one holds.
        ("{holds: [nobody_is_stuck]}", True, ""),
    ],
)
def test_a_race_is_as_expected_or_says_what_came_instead(
    expected: str, is_as_expected: bool, said: str
) -> None:
    """By the claim that was named and no other; `holds` of a Run that was not ended by a breach."""
    side = side_of(expected)
    assert side.is_as_expected is is_as_expected
    assert is_as_expected or side_text(side, "").startswith(said)


def test_a_line_that_matches_nothing_is_no_way_to_breach_a_claim() -> None:
    """What is breached all the same is another race than the file tells of; under `holds` such a
    line is only told, for a guard may well do away with what it speaks of."""
    more = "  - hold: alpha update notes/default/lst\n    until: quiet\n"
    side = side_of(f"{{violates: {CLAIM}}}", more)
    assert not side.is_as_expected
    told = side_text(side, "testbed replay a.race.yaml")
    assert told.startswith(f"{CLAIM} was breached, but not by this race.\nViolated: {CLAIM}")
    assert (
        "line 6 matched nothing: hold alpha update notes/default/lst until quiet; "
        "closest: alpha update notes/default/list\n"
    ) in told
    assert told.endswith("\n\nAgain: testbed replay a.race.yaml")
    side = side_of("{switches: {guard: on}, holds: []}", more)
    assert side.is_as_expected
    assert len(side.unmatched) == 1


def test_a_run_that_reached_a_limit_has_not_held() -> None:
    """It may have been on its way to the breach."""

    def short(world: World) -> None:
        find("lost_update").build(world, guard=True)
        world.limit(turns_max=3)

    race = parse("scenario: lost_update\nexpect: {holds: []}\n", "a.race.yaml")
    side = expect(race, of(short), race.expect[0], "a.race.yaml")
    assert not side.is_as_expected
    assert "Undecided: turns_max" in side_text(side, "")
