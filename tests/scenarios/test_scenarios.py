"""The scenarios that come with the testbed: what all of them promise, and the race of each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scenarios.basics.late_short_write import ACCOUNTS
from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.calm import Calm
from testbed.choosers.complete import Complete
from testbed.choosers.uniform import Uniform
from testbed.races.playing import play
from testbed.turns.option import SERVE
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.world.scenario import Scenario, find, known, play_runs
from tests.each_row import each_row
from tests.models.witness import SLOW
from tests.models.worlds.recipes import BUSY
from tests.models.worlds.shelved import race_named

BRIEF = [
    pytest.param(each, id=each.name, marks=(pytest.mark.long,) if each.name in SLOW else ())
    for each in known()
]
"""All; where a random Run plays laps again it is `long`."""
DRIVERS = ("trio", "direct")


def settings_of(scenario: Scenario) -> Iterator[dict[str, str]]:
    """Its defaults, and each switch that is on or off turned the other way."""
    yield {}
    for name, switch in scenario.switches.items():
        if switch.kind is bool:
            yield {name: "off" if switch.default else "on"}


# -- what all of them promise ---------------------------------------------------------------------


@pytest.mark.parametrize("scenario", known(), ids=lambda each: each.name)
def test_the_calm_run_holds_every_claim(scenario: Scenario) -> None:
    """Under every setting of its switches, unless it says why it needs no race; as it is, under
    either driver."""
    for switches in settings_of(scenario):
        for driver in ("direct",) if switches else DRIVERS:
            world = scenario.world(switches)
            verdict = world.run(Calm(), driver=driver)
            assert verdict.is_held or world.needs_no_race, f"{switches}: {verdict}"


@each_row("scenario", [each for each in known() if each.has_guard])
def test_the_guard_is_there_and_off(scenario: Scenario) -> None:
    """`guard` is a switch of every pair, and by default the race can happen."""
    assert scenario.switches["guard"].kind is bool
    assert scenario.switches["guard"].shown == "off"


def traced(
    scenario: Scenario, switches: dict[str, str], seed: int, *, audit: bool = False
) -> Trace:
    """The whole trace of a random Run."""
    trace = Trace({}, keep=True)
    world = scenario.world(switches, audit=audit)
    world.run(Uniform(seed), driver="direct", trace=trace)
    return trace


@pytest.mark.parametrize("scenario", BRIEF)
def test_nothing_is_kept_between_worlds_nor_read_that_was_not_declared(scenario: Scenario) -> None:
    """Two Worlds of the same choices make the same trace, with another one played between, and
    although every read of a field is checked in the second."""
    settings = [{}] if scenario.name in BUSY else settings_of(scenario)
    for switches in settings:
        first, other = (traced(scenario, switches, seed) for seed in (1, 2))
        again = traced(scenario, switches, 1, audit=True)
        assert list(again.lines()) == list(first.lines())
        assert again.digest() != other.digest()


# -- lost_update ----------------------------------------------------------------------------------


def test_the_violation_names_who_was_lost() -> None:
    """What was promised to which writer, and what the list says instead."""
    verdict = find("lost_update").world().run(Uniform(1))
    (violation,) = verdict.violations
    assert str(violation) == (
        "every_signature_is_kept: beta was told that it had signed, and the list says 'alpha' "
        "(step 10, 0 ms)"
    )


# -- late_short_write -----------------------------------------------------------------------------


class LandsAfter(Chooser):
    """Calm, but that the teller's one transaction takes effect after that many reads."""

    def __init__(self, reads: int) -> None:
        self.reads = reads
        self.read = 0

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan(f"the transfer after {self.reads} reads")

    def choose(self, options: Options | Alternatives) -> int:
        teller = [n for n in range(options.ready) if options[n].actor == "teller"]
        auditor = [n for n in range(options.ready) if options[n].actor == "auditor"]
        transfer = [n for n in teller if options[n].kind == SERVE]
        if teller and not transfer:
            return teller[0]
        if transfer and (self.read == self.reads or not auditor):
            return transfer[0]
        self.read += options[auditor[0]].kind == SERVE
        return auditor[0]


def landing(reads: int, guard: str) -> Verdict:
    """The Run in which the transfer lands just there."""
    trace = Trace({}, keep=True)
    world = find("late_short_write").world({"guard": guard})
    verdict = world.run(LandsAfter(reads), driver="direct", trace=trace)
    served = [step.option for step in trace.steps if step.kind == SERVE]
    assert [option.actor for option in served].index("teller") == reads
    assert len(served) == ACCOUNTS + 1 + (guard == "on")
    return verdict


def test_only_the_last_gap_is_dangerous() -> None:
    """Of the 41 places where the transfer can take effect, before the first of forty reads or after
    any of them, exactly one is violated: between the two accounts it touches."""
    outcomes = [landing(reads, "off").outcome for reads in range(ACCOUNTS + 1)]
    assert [place for place, outcome in enumerate(outcomes) if outcome == "violated"] == [39]
    assert set(outcomes) == {"held", "violated"}


def test_a_snapshot_is_safe_in_every_gap() -> None:
    """Guarded, the audit asks for a revision and reads all accounts as they were then: it holds
    wherever the transfer lands, before or after any of those 41 operations."""
    outcomes = [landing(reads, "on").outcome for reads in range(ACCOUNTS + 2)]
    assert outcomes == ["held"] * (ACCOUNTS + 2)


def test_the_audit_says_what_it_found() -> None:
    """The sum that cannot be, beside the one that must."""
    assert str(landing(39, "off").violations[0]).startswith(
        "every_audit_balances: the audit found 405 of 400 "
    )


# -- two_defaults ---------------------------------------------------------------------------------


@pytest.mark.spec("PRI-6")
def test_one_name_is_enough_for_one_default() -> None:
    """In every class of runs there is: who is second is told that the name is taken."""
    scenario = find("two_defaults")
    chooser, guarded = Complete(), {"guard": "on"}
    play_runs(
        scenario, chooser, lambda _: True, runs_max=20, switches=guarded, driver="direct", keep=True
    )
    assert chooser.outcomes == {"held": 4}


@pytest.mark.spec("PRI-7")
def test_two_defaults_are_told_with_what_they_mean() -> None:
    """By their values, the one that is used first."""
    played = play(race_named("two_defaults"), find("two_defaults"), switches={"guard": "off"})
    (violation,) = played.verdict.violations
    assert str(violation) == (
        "there_is_one_default: beta-default (10) and alpha-default (1000) are both the default: a "
        "pod that names no class gets 10 (step 9, 0 ms)"
    )
