"""Healing: what was renamed, moved or left out is found again; what is the code's fault is not."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

from testbed.races.expecting import both_sides
from testbed.races.healing import Healed, Healer, applies
from testbed.races.racefile import parse
from testbed.races.rewriting import changed
from testbed.world.scenario import find
from tests.each_row import each_row

FOUND = {
    "lost_update": """
        scenario: lost_update
        holds:
          # Beta reads before alpha has written.
          - hold: alpha update notes/default/list
            until: beta get notes/default/list
        expect:
          - switches: {guard: off}
            violates: every_signature_is_kept
          - switches: {guard: on}
            holds: [every_signature_is_kept]
        """,
    "late_short_write": """
        scenario: late_short_write
        holds:
          - hold: auditor get notes/default/account-40
            until: teller txn notes/default/account-40
        expect: {violates: every_audit_balances}
        """,
    "double_bind": """
        scenario: double_bind
        holds:
          - hold: alpha bind pods/default/c
            until: beta bind pods/default/d
        expect: {violates: no_node_is_overcommitted}
        """,
}  # fmt: skip
WOUNDS = {
    "an actor was renamed": ("lost_update", "alpha", "first"),
    "the auditor was renamed": ("late_short_write", "auditor", "inspector"),
    "an object was renamed": ("lost_update", "default/list", "default/register"),
    "a verb was another": ("lost_update", "alpha update", "alpha patch"),
    "it had a number": ("lost_update", "update notes/default/list", "update notes/default/list#2"),
    "it had a task": ("lost_update", "alpha update", "alpha/writer update"),
    "it was of another life": ("lost_update", "alpha update", "alpha@2 update"),
    "its end never comes": ("lost_update", "until: beta get notes/default/list", "until: 0ms"),
    "another account": ("late_short_write", "default/account-40", "default/a-1"),
    "the wrong account": ("late_short_write", "get notes/default/account-40",
                          "get notes/default/account-38"),
    "pods were renamed": ("double_bind", "pods/default/c", "pods/default/web"),
    "both were renamed": ("double_bind", "bind pods/default", "place jobs/default"),
}  # fmt: skip


def healer(text: str, **how: Any) -> Healer:
    """Of that race."""
    race = parse(dedent(text), "a.race.yaml")
    return Healer(race, find(race.scenario), "a.race.yaml", **how)


def healed(text: str) -> str:
    """The text after healing."""
    found = healer(text).heal()
    assert found is not None
    return changed(dedent(text), "a.race.yaml", found.changes, found.added)


@each_row(("name", "was", "now"), WOUNDS.values(), ids=WOUNDS.keys())
def test_a_race_that_no_longer_applies_is_found_again(name: str, was: str, now: str) -> None:
    """By a few Runs; every side shows what is expected, every line speaks of something."""
    text = FOUND[name]
    assert was in text
    wounded = healer(text.replace(was, now))
    assert not wounded.is_well
    found = wounded.heal()
    assert isinstance(found, Healed)
    assert found.runs <= 600, found.runs
    assert applies(both_sides(found.race, find(name), "a.race.yaml"))
    assert len(found.race) <= 1 + len(wounded.race)


def test_what_was_renamed_is_found_at_once_and_comments_stay() -> None:
    """The first words that are close are the right ones, and only they change."""
    text = FOUND["lost_update"]
    assert healed(text.replace("alpha", "alfa")) == dedent(text).replace(
        "Beta reads before alpha", "Beta reads before alfa"
    )


def test_another_race_for_the_same_claim_is_found_if_nothing_nearby_is() -> None:
    """All lines are gone; what is found instead is as short as it can be."""
    text = FOUND["late_short_write"].replace(
        "hold: auditor get notes/default/account-40", "hold: start of zzz"
    ).replace("until: teller txn notes/default/account-40", "until: 1ms")  # fmt: skip
    found = healer(text).heal()
    assert found is not None
    assert applies(both_sides(found.race, find("late_short_write"), "a"))
    assert len(found.race) == 1


@each_row("text", FOUND.values(), ids=FOUND.keys())
def test_what_applies_is_left_alone(text: str) -> None:
    """There is nothing to heal."""
    assert healer(text).is_well


def test_a_claim_that_is_to_hold_and_does_not_is_red_and_no_wound() -> None:
    """The file speaks of what is there: it is the code that must be mended."""
    text = dedent(FOUND["lost_update"]).partition("expect:")[0]
    red = healer(text + "expect: {holds: [every_signature_is_kept]}\n")
    assert red.is_red
    assert not red.is_well
    assert not healer(FOUND["lost_update"]).is_red


def test_a_breach_is_never_healed_away() -> None:
    """Not even if another line speaks of nothing: what held then would be another race."""
    text = dedent(FOUND["lost_update"]).partition("expect:")[0]
    gone = "  - hold: alfa get notes/default/list\n    until: quiet\n"
    assert healer(f"{text}{gone}expect: {{holds: []}}\n").is_red


def test_a_line_that_speaks_of_nothing_is_a_wound_though_the_race_is_lost() -> None:
    """It is found again, or goes."""
    text = FOUND["lost_update"].replace("expect:", "faults:\n" + 10 * " " + "- {lose_reply: "
                                        "gamma list pods}\n" + 8 * " " + "expect:")  # fmt: skip
    wounded = healer(text)
    assert all(side.is_met for side in wounded.sides)
    assert not wounded.is_well
    found = wounded.heal()
    assert found is not None
    assert applies(both_sides(found.race, find("lost_update"), "a"))


def test_a_race_that_cannot_happen_is_not_healed() -> None:
    """With the guard on there is none, and the search for it ends."""
    text = dedent(FOUND["lost_update"]).partition("expect:")[0]
    text += "expect: {switches: {guard: on}, violates: every_signature_is_kept}\n"
    runs: list[int] = []
    wounded = healer(text, runs_max=300, on_run=runs.append)
    assert wounded.heal() is None
    assert wounded.runs <= 300
    assert runs == [*range(1, wounded.runs + 1)]


def test_an_end_that_never_comes_is_no_wound_if_the_race_is_lost_all_the_same() -> None:
    """The hold expires, and that is told; what is expected is shown."""
    assert healer(FOUND["lost_update"].replace("until: beta get", "until: beta fetch")).is_well


def test_healing_is_the_same_each_time() -> None:
    """For one file and one scenario."""
    text = FOUND["double_bind"].replace("pods/default", "jobs/default")
    assert healed(text) == healed(text)
