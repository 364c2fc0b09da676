"""Rewriting: what is to change changes, all else stays to the letter, and it is read as meant."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from race_texts import FULL, RACES

from testbed.errors import RaceRefused
from testbed.races.pattern import parse_pattern
from testbed.races.race import Expectation, Picked, Race
from testbed.races.race_chooser import Deviation
from testbed.races.racefile import parse
from testbed.races.rewriting import changed, held, kept

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


def test_a_kept_race_holds_what_it_violated() -> None:
    """On each side, in block style and in flow; all else is as it was."""
    text = kept(TEXT, "a.race.yaml")
    assert text == TEXT.replace('violates: "foo"', 'holds: ["foo"]')
    both = TEXT.replace("holds: [foo]}", "violates: foo}")
    assert kept(both, "a").count("holds: [") == 2
    assert kept('{"scenario": "x", "expect": {"violates": "foo"}}', "a") == (
        '{"scenario": "x", "expect": {"holds": ["foo"]}}'
    )


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
    assert str(caught.value).endswith("write it anew, as\nscenario: x\n")


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


@given(RACES)
def test_any_race_is_kept(race: Race) -> None:
    """Every claim that was breached is to hold, and nothing else has changed."""
    if not race.expect:
        return
    assert parse(kept(race.text(), "a"), "a") == attrs.evolve(race, expect=held(race.expect))


def test_a_full_file_is_kept_with_its_comment() -> None:
    """The first line is the user's."""
    assert kept(FULL, "a").startswith(FULL.partition("\n")[0])
    assert held((Expectation(violates="x"),)) == (Expectation(holds=("x",)),)
