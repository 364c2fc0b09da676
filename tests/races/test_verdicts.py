"""ShownVerdicts: what is not played again would have shown just that."""

from __future__ import annotations

from random import Random

from testbed.races.pattern import parse_pattern
from testbed.races.playing import play, race_of
from testbed.races.race import Hold, Race, Strike
from testbed.races.racefile import parse
from testbed.races.shrink import breach_of
from testbed.races.trying import Limits, Trying
from testbed.races.verdicts import ShownVerdicts
from testbed.world.chooser_kinds import chooser_of
from testbed.world.scenario import find
from tests.each_row import each_row

LATE = """
scenario: lost_update
holds:
  - hold: alpha update notes/default/list
    until: beta get notes/default/list
  - hold: beta update notes/default/nothing-of-the-kind
    until: quiet
"""


def whole_race(name: str, chooser: str = "uniform") -> Race:
    """The race of the first violated Run of that Chooser."""
    recipe = find(name)
    for seed in range(200):
        world = recipe.world({"guard": "off"})
        if world.run(chooser_of(chooser, seed), driver="direct").is_violated:
            return race_of(recipe, {"guard": "off"}, world.trace.choices)
    raise LookupError(name)


def trying_of(race: Race) -> Trying:
    """What plays the candidates of its shrink."""
    recipe = find(race.scenario)
    violation = breach_of(play(race, recipe).verdict)
    assert violation is not None
    return Trying(recipe, race.switches, violation, Limits(10_000))


@each_row("name", ["lost_update", "double_bind", "own_writes_unseen", "time_travel"])
def test_what_is_known_is_what_would_be_played(name: str) -> None:
    """Of drawn parts of a race: each Verdict is that of the Run, whether it was played or not, and
    so is that of the part without its idle lines."""
    race = whole_race(name)
    trying, recipe, chance = trying_of(race), find(name), Random(name)
    for _ in range(15):
        some = race.having([line for line in race.lines if chance.getrandbits(2)])
        verdict, played = trying.verdict(some), play(some, recipe)
        assert verdict is not None
        assert verdict.violations == played.verdict.violations
        assert verdict.turns == played.verdict.turns
        core = trying.core(some)
        again = play(core, recipe)
        assert again.trace.choices == played.trace.choices
        assert set(core.lines) <= set(some.lines)
    assert trying.runs <= min(15, 2 ** len(race))


def test_a_line_that_matches_nothing_needs_no_run_of_its_own() -> None:
    """Neither with it nor without it; but what holds something does."""
    race = parse(LATE, "late")
    trying = trying_of(race)
    assert trying.breaches(race)
    assert trying.breaches(race.having(race.lines[:1]))
    assert trying.core(race) == race.having(race.lines[:1])
    assert trying.runs == 1
    assert not trying.breaches(race.having(race.lines[1:]))
    assert trying.runs == 2
    assert not trying.breaches(race.having(()))
    assert trying.runs == 2


def test_another_world_is_another_run() -> None:
    """What is left out may be what the lines have to get past."""
    race = parse(LATE, "late")
    verdicts = ShownVerdicts()
    verdicts.note(race, play(race, find("lost_update")))
    assert verdicts.of(race) is not None
    assert verdicts.of(parse(LATE + "without: [beta]\n", "late")) is None


def test_a_line_more_or_in_another_place_is_not_known() -> None:
    """Of two holds of one Option the first counts, and one that is new may hold something."""
    race = parse(LATE, "late")
    what = parse_pattern("beta get notes/default/list")
    assert what is not None
    verdicts = ShownVerdicts()
    verdicts.note(race, play(race, find("lost_update")))
    assert verdicts.of(race.having((*race.lines, Hold(what)))) is None
    assert verdicts.of(race.having(race.lines[::-1])) is None
    assert verdicts.of(race.having(())) is None


def test_a_fault_at_a_time_is_never_idle() -> None:
    """Time passes up to its moment, whether it strikes or not."""
    text = "scenario: lost_update\nfaults:\n  - crash: nobody\n    at: 5s\n"
    race = parse(text, "own")
    assert isinstance(race.lines[0], Strike)
    verdicts = ShownVerdicts()
    verdicts.note(race, play(race, find("lost_update")))
    assert verdicts.core(race) == race
    assert verdicts.of(race.having(())) is None
