"""Rewriting: what is to change changes, all else stays to the letter, and it is read as meant."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.errors import RaceRefused
from testbed.objects.meta import Map
from testbed.races.pattern import parse_pattern
from testbed.races.race import Deviation, Expectation, Picked, Race
from testbed.races.racefile import parse
from testbed.races.rewriting import changed, kept
from tests.each_row import each_row
from tests.shared.race_texts import FULL, RACES

TEXT = """\
# é Two, one place
scenario: x   # mine
holds:  # late
  # é the first
  - hold: alpha get n   # why
    until: quiet
  # the second
  - {hold: beta get n, until: 5s}  # long
faults:
  - lose_reply: "alpha get n#2"  # lost
    after: beta get n

picks: [{alpha node: n2}]
expect: # both
  - switches: {guard: off}
    violates: "foo"   # bad
  - {switches: {guard: on}, holds: [foo]}
"""


def lines_of(race: Race) -> list[Deviation]:
    """All of them."""
    return [*race.holds, *race.faults, *race.picks]


def held(text: str) -> tuple[Expectation, ...]:
    """Of a race file: each claim that it expects to be breached must hold."""
    return tuple(side.held for side in parse(text, "a").expect)


def test_a_kept_race_holds_what_it_violated() -> None:
    """On each side, in block style and in flow; all else is as it was."""
    text = kept(TEXT, "a.race.yaml", held(TEXT))
    assert text == TEXT.replace('violates: "foo"', 'holds: ["foo"]')
    both = TEXT.replace("holds: [foo]}", "violates: foo}")
    assert kept(both, "a", held(both)).count("holds: [") == 2
    flow = '{"scenario": "x", "expect": {"violates": "foo"}}'
    assert kept(flow, "a", held(flow)) == '{"scenario": "x", "expect": {"holds": ["foo"]}}'
    assert kept(TEXT, "a", parse(TEXT, "a").expect) == TEXT


OFF = Expectation(Map(guard="off"), violates="a#b")
ON = Expectation(Map(guard="on"), holds=("a#b",))
SIDES = """\
expect:
  - switches: {guard: off}
    violates: a#b
  - switches: {guard: on}
    holds: [a#b]
"""


@each_row(
    ("text", "rest"),
    [
        ("expect: {violates: a#b}\n", SIDES),
        ("expect:\n  violates: a#b\n# end\n", f"{SIDES}# end\n"),
        ("expect:\n  violates: a#b", SIDES.rstrip("\n")),
        ("expect:  # one\n  # two\n  violates: a#b # three\n", f"# one\n# two\n# three\n{SIDES}"),
        ("expect:\n  - violates: a#b\n  # last\n", f"{SIDES}  # last\n"),
    ],
)
def test_one_side_becomes_two_and_the_comments_stay(text: str, rest: str) -> None:
    """In block style, whatever stood before; a hash within a name is no comment."""
    assert kept(f"scenario: x # mine\n{text}", "a", (OFF, ON)) == f"scenario: x # mine\n{rest}"


def test_one_side_in_json_becomes_two_in_json() -> None:
    """Since no block may stand within braces."""
    text = kept('{"expect": {"violates": "a#b"}, "scenario": "x"}', "a", (OFF, ON))
    assert json.loads(text)["expect"] == [
        {"switches": {"guard": "off"}, "violates": "a#b"},
        {"switches": {"guard": "on"}, "holds": ["a#b"]},
    ]


def test_a_value_changes_and_its_comment_stays() -> None:
    """Of a hold, a fault, a pick; quoted where that is needed."""
    race = parse(TEXT, "a")
    (hold, _), (fault,), (pick,) = race.holds, race.faults, race.picks
    olds: list[Deviation] = [hold, fault, pick]
    news: list[Deviation] = [
        attrs.evolve(hold, until=parse_pattern("beta get m")),
        attrs.evolve(fault, operation=parse_pattern("alpha get m"), target="alpha get m"),
        attrs.evolve(pick, alternative="n: 3"),
    ]
    text = changed(TEXT, "a", list(zip(olds, news, strict=True)), [])
    assert text == (
        TEXT.replace("until: quiet", "until: beta get m")
        .replace('"alpha get n#2"', "alpha get m")
        .replace("node: n2", 'node: "n: 3"')
    )


def test_a_line_goes_and_the_comments_stay() -> None:
    """One of several, and the last one of a section with the section's name."""
    race = parse(TEXT, "a")
    first, second, fault, pick = lines_of(race)
    text = changed(TEXT, "a", [(first, None)], [])
    assert "alpha get n   #" not in text
    for comment in ("# late", "# é the first", "# the second", "# long", "# lost"):
        assert comment in text
    text = changed(TEXT, "a", [(line, None) for line in (first, second, fault, pick)], [])
    assert "holds:\n" not in text
    assert "# é the first" in text
    assert "# the second" in text
    assert parse(text, "a") == attrs.evolve(race, holds=(), faults=(), picks=())


def test_lines_are_added_behind_the_others() -> None:
    """In their section, or in a new one before what is expected."""
    pick = Picked("beta", "node", "n1")
    text = changed(TEXT, "a", [], [pick])
    assert parse(text, "a").picks == (Picked("alpha", "node", "n2"), pick)
    bare = "scenario: x\nexpect: {violates: foo}\n"
    assert changed(bare, "a", [], [pick]) == (
        "scenario: x\npicks:\n  - beta node: n1\nexpect: {violates: foo}\n"
    )


def test_what_cannot_be_changed_line_by_line_is_refused() -> None:
    """And told in full, so that it can be written by hand."""
    text = '{"scenario": "x", "holds": [{"hold": "alpha get n", "until": "quiet"}]}'
    (hold,) = parse(text, "a").holds
    with pytest.raises(RaceRefused, match="cannot be changed line by line") as caught:
        changed(text, "a", [(hold, None)], [])
    assert str(caught.value).endswith("write it again, as\nscenario: x\n")


@given(RACES, st.data())
def test_any_race_is_rewritten_as_meant(race: Race, data: st.DataObject) -> None:
    """Whatever goes, and whatever is added: it is read as just that."""
    text = race.text()
    read = parse(text, "a")
    lines = lines_of(read)
    gone = data.draw(st.lists(st.sampled_from(lines), unique_by=id) if lines else st.just([]))
    more = data.draw(RACES)
    left: dict[str, Any] = {
        name: (*(line for line in getattr(read, name) if not _is_among(line, gone)), *new)
        for name, new in (("holds", more.holds), ("faults", more.faults), ("picks", more.picks))
    }
    changes = [(line, None) for line in gone]
    new = changed(text, "a", changes, lines_of(more))
    assert parse(new, "a") == attrs.evolve(race, **left)


def _is_among(line: object, lines: list[Deviation]) -> bool:
    return any(line is each for each in lines)


@given(RACES, st.booleans())
def test_any_race_is_kept(race: Race, as_pair: bool) -> None:
    """What is to be expected of it is, and nothing else has changed."""
    if not race.expect:
        return
    sides = (OFF, *race.expect, ON) if as_pair else tuple(side.held for side in race.expect)
    new = parse(kept(race.text(), "a", sides), "a")
    assert new == attrs.evolve(race, expect=sides)


def test_a_full_file_is_kept_with_its_comment() -> None:
    """The first line is the user's."""
    assert kept(FULL, "a", held(FULL)).startswith(FULL.partition("\n")[0])
    assert Expectation(violates="x").held == Expectation(holds=("x",))
