"""A new fault is one new file, and an own one needs none: both are told in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import attrs
import pytest

from testbed.errors import ScenarioError
from testbed.fault import Fault, Levers, Way
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.faults.lose_reply import LoseReply
from testbed.faults.partition import Partition
from testbed.faults.stall import Stall
from testbed.world.fault_kinds import fault_kinds
from testbed.world.fault_settings import is_duration, setting_fields
from tests.each_row import each_row
from tests.shared.scratch import call_copy, copy_with

DOZE = '''"""doze: a program sleeps. A machine may be suspended, and resumes later."""

from functools import partial
from typing import ClassVar

import attrs

from testbed.fault import Fault, Way


@attrs.frozen(kw_only=True)
class Doze(Fault):
    """No task of an actor moves until it wakes up."""

    word: ClassVar[str] = "doze"
    effect: ClassVar[str] = "{target} dozed off"
    recovery: ClassVar[str] = "wakes up"
    length: ClassVar[str] = "nap"

    nap_ms: int = 1000

    def ends_ms(self, now_ms):
        return now_ms + self.lasts_ms(self.nap_ms, now_ms)

    def ways(self, levers):
        for role in levers.actors():
            if self.hits(role.name):
                yield Way(role.name, partial(levers.stall, role, self.nap_ms), role.name)
'''


def test_one_new_file_is_enough(tmp_path: Path) -> None:
    """Searches and sweeps allow it with its own setting, a race file keeps it, and a story tells it
    in its own words, from when it struck to when it was over."""
    copy_with(tmp_path, {"testbed/faults/doze.py": DOZE})
    code, printed = call_copy(tmp_path, "search", "lost_update", "--faults=doze,nap=2s", "--runs=9")
    assert code == 1, printed
    assert "--faults doze,nap=2s" in printed
    sweep = ("sweep", "lost_update", "--fault=doze:alpha,nap=2s", "--out=red")
    assert "doze: 4 runs for 5 places: 3 held, 2 violated." in call_copy(tmp_path, *sweep)[1]
    race = tmp_path / "red/lost_update-doze-01.race.yaml"
    assert "  - doze: alpha\n    after: start of alpha\n    nap: 2s\n" in race.read_text()
    code, story = call_copy(tmp_path, "explain", str(race))
    assert code == 1, story
    assert "⚡ alpha dozed off" in story
    assert "⚡ wakes up" in story
    assert "\nalpha dozed off (step 2) until step 9, 2,000 ms.\n" in story


@attrs.frozen(kw_only=True)
class Melt(Fault):
    """One of a scenario's own, with a word and no more."""

    word: ClassVar[str] = "melt"

    def ways(self, levers: Levers) -> Iterator[Way]:
        yield from ()


@each_row(
    ("kind", "target", "sentence"),
    [
        (Crash, "alpha", "alpha crashed"),
        (Lag, "pods to alpha", "alpha's watch of pods began to lag"),
        (
            LoseReply,
            "alpha create/binding pods/default/web#2",
            "the reply to alpha's bind of pods/default/web was lost",
        ),
        (Melt, "node {n1}", "melt struck node {n1}"),
    ],
)
def test_a_fault_is_told_in_a_sentence(kind: type[Fault], target: str, sentence: str) -> None:
    """What it struck, and of whom; an own one without a sentence says its word."""
    assert kind().describe(target) == sentence


@each_row(
    ("kind", "recovery"),
    [(Stall, "goes on"), (Partition, "can be reached again"), (Melt, "recovers")],
)
def test_it_is_told_what_comes_when_it_is_over(kind: type[Fault], recovery: str) -> None:
    """Also of an own one."""
    assert kind().recovery == recovery


@each_row("kind", fault_kinds().values())
def test_each_setting_has_a_name_of_its_own(kind: type[Fault]) -> None:
    """The first word of its field; what lasts says how long by one of them, as a duration."""
    fields = setting_fields(kind)
    assert {"target", *fields.values()} == {field.name for field in attrs.fields(kind)}
    assert list(fields)[-2:] == ["times", "until"]
    assert not kind.length or is_duration(fields[kind.length])


@each_row("fields", [("for_ms", "for_pods"), ("at_ms",), ("_hidden",)])
def test_a_setting_has_a_name_of_its_own(fields: tuple[str, ...]) -> None:
    """Two settings of one name, or one called as a moment, could not be told apart."""
    made = attrs.make_class(
        "Odd", {name: attrs.field(default=1) for name in fields}, bases=(Fault,), kw_only=True
    )
    with pytest.raises(ScenarioError, match=r"(?s)^Odd\..*begin with another word"):
        setting_fields(made)
