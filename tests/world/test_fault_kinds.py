"""Fault kinds: found by their words, made from a text, refused with the nearest word."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

import attrs
import pytest

import testbed.faults
from testbed.choosers.calm import Calm
from testbed.errors import ScenarioError, UnknownName
from testbed.fault import Fault
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.testing.run import play
from testbed.testing.seek import seek
from testbed.world.fault_kinds import as_named, check_aim, fault_kinds, fault_of, parse_fault
from tests.each_row import each_row


def test_each_file_is_a_kind() -> None:
    """A new kind is one new file: its word is the name of the file."""
    files = {path.stem for path in Path(testbed.faults.__path__[0]).glob("[a-z]*.py")}
    assert set(fault_kinds()) == files


@each_row(
    ("text", "fault"),
    [
        ("crash", Crash()),
        ("crash:alpha", Crash("alpha")),
        ("2*lose_reply:*a", LoseReply("*a", times_max=2)),
    ],
)
def test_a_text_stands_for_a_fault(text: str, fault: object) -> None:
    """How often, which, whom."""
    assert parse_fault(text) == fault


@each_row("text", ["", "crash alpha", "0*crash", "crash*2x y", "2 * crash"])
def test_another_text_stands_for_none(text: str) -> None:
    """It is told what was expected."""
    with pytest.raises(ScenarioError, match=r"is no fault: expected .*\nNext: say crash"):
        parse_fault(text)


@attrs.frozen(kw_only=True)
class LoseTwo(LoseReply):
    """One of a scenario's own, with a setting of its own."""

    who: str = "two"


@attrs.frozen(kw_only=True)
class Flood(Fault):
    """One that no race file can name."""

    word: ClassVar[str] = "flood"


def test_a_fault_of_a_scenarios_own_class_is_named_by_its_kind() -> None:
    """With all that the kind knows of; one whose word no race file knows is what it is."""
    assert as_named(LoseTwo("alpha", times_max=2, until_ms=9)) == LoseReply(
        "alpha", times_max=2, until_ms=9
    )
    assert as_named(Flood("alpha")) == Flood("alpha")


def test_an_unknown_word_or_setting_is_told_the_nearest() -> None:
    """As every unknown name is."""
    with pytest.raises(UnknownName, match="lose_reply"):
        parse_fault("loose_reply")
    with pytest.raises(UnknownName, match="by_ms"):
        fault_of("stall", by=3)


def test_a_setting_it_cannot_have_is_refused() -> None:
    """What the kind itself refuses is told, with what it takes."""
    with pytest.raises(ScenarioError, match="server_error cannot be made"):
        fault_of("server_error", code=777)


def test_a_fault_that_is_aimed_at_nobody_is_refused() -> None:
    """With the nearest name: a search would never see it strike, and call that harmless."""
    check_aim(parse_fault("crash:al*"), ["alpha", "store"])
    with pytest.raises(UnknownName, match="Did you mean 'alpha'"):
        check_aim(parse_fault("crash:alhpa"), ["alpha", "store"])
    with pytest.raises(UnknownName, match="gamma"):
        seek("lost_update", faults=["crash:gamma"], runs=1)
    with pytest.raises(UnknownName, match="gamma"):
        play("lost_update", Calm(), faults=["crash:gamma"])


def test_settings_stand_behind_their_fault() -> None:
    """As a race file calls them, or as they are called here."""
    crash = parse_fault("crash:alpha,restart=2s")
    assert crash == parse_fault("crash:alpha, restart_after_ms=2000")
    assert crash == fault_of("crash", "alpha", restart_after_ms=2000)
    both = parse_fault("3*server_error:beta,code=409,until=1m")
    assert both == fault_of("server_error", "beta", times_max=3, code=409, until_ms=60_000)
    assert parse_fault("clock_step,by=-500ms") == fault_of("clock_step", by_ms=-500)


@each_row(
    ("text", "error", "said"),
    [
        ("crash,restrat=2s", UnknownName, "no setting of the fault crash 'restrat'. Did you mean "),
        ("crash,by=2s", UnknownName, "Known: restart, until."),
        ("crash,restart", ScenarioError, "expected a duration, found ''"),
        ("crash,restart=2", ScenarioError, "restart=2: expected a duration, found '2', as a"),
        ("crash,restart=-2s", ScenarioError, "expected a duration"),
        ("server_error,code=high", ScenarioError, "expected a whole number, found 'high'"),
        ("restart=2s", ScenarioError, "'restart=2s' is no fault"),
        ("crsh,restart=2s", UnknownName, "there is no fault 'crsh'. Did you mean 'crash'?"),
    ],
)
def test_a_bad_setting_is_refused(text: str, error: type[Exception], said: str) -> None:
    """With what there is, and what to say."""
    with pytest.raises(error, match=re.escape(said)) as told:
        parse_fault(text)
    assert "\nNext: " in str(told.value)
