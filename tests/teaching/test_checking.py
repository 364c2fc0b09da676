"""Checking: how far was looked is never more than was played, and each end of a Run is judged."""

from __future__ import annotations

import attrs
import pytest

from scenarios.levels.lost_count import Clerk, lost_count
from testbed import Client, Conflict, Unavailable
from testbed.objects import Note
from testbed.policy import own
from testbed.teaching.alone import noted_again, runs_of
from testbed.teaching.answer import answering
from testbed.teaching.checked import HELD, REFUSED, TriedTrial
from testbed.teaching.checking import check
from testbed.teaching.ladder import level_of
from testbed.teaching.level import LevelTrial
from testbed.teaching.looks import (
    NONE_STRUCK,
    EveryMoment,
    EveryOrder,
    FewDeviations,
    ManyOrders,
    Stage,
    WayToLook,
    looked,
)
from testbed.teaching.noting import needed, noted
from testbed.world.fault_kinds import parse_fault
from testbed.world.scenario import find
from tests.each_row import each_row

LEVEL = level_of(1)


class CarefulClerk(Clerk):
    """Counts each delivery, however often it is refused."""

    async def run(self, client: Client) -> None:
        """Read, write, and again after a refusal."""
        for _ in range(self.deliveries):
            while True:
                try:
                    note = await client.get(Note, self.stock)
                    count = int(note.data["count"])
                    await client.update(note.saying(count=str(count + 1)))
                    break
                except (Conflict, Unavailable):
                    continue


class SleepyClerk(Clerk):
    """Never counts, and never rests."""

    async def run(self, client: Client) -> None:
        """Sleep, and look at the clock."""
        while client.now() >= 0:
            await client.sleep(2_000)


class SilentClerk(Clerk):
    """Asks for nothing."""

    async def run(self, client: Client) -> None:
        """Return."""


class ForgetfulClerk(Clerk):
    """Forgets to wait for what it asks."""

    async def run(self, client: Client) -> None:
        """Ask, and go on."""
        client.get(Note, self.stock)  # type: ignore[unused-coroutine]


def tried(answer: type[Clerk], trial: LevelTrial) -> TriedTrial:
    """What comes of an answer in that one trial."""
    (one,) = check(attrs.evolve(LEVEL, trials=(trial,)), answer).trials
    return one


@each_row(
    ("look", "said"),
    [
        (EveryOrder(), "complete: every order, 46 runs"),
        (
            EveryOrder(runs_max=10, random_max=5),
            "not complete: 10 runs of the search for every order, and 5 random runs",
        ),
        (FewDeviations(1), "complete up to 1 deviation, 0 faults, 35 runs"),
        (FewDeviations(2, runs_max=9), "complete up to 0 deviations, 0 faults, 9 runs"),
        (ManyOrders(12), "12 runs: things late, random orders"),
        (ManyOrders(12, has_late=False), "12 runs: random orders"),
        (EveryMoment("stall"), "stall at each of 22 moments of the calm run"),
        (EveryMoment("break_watch"), "the calm run, in which no break_watch can strike"),
    ],
)
def test_how_far_was_looked_is_said_as_it_was_played(look: WayToLook, said: str) -> None:
    """Only a search that came to its end is called complete; and the count is that of the Runs."""
    runs: list[int] = []
    switches = {LEVEL.switch: CarefulClerk.__name__}
    recipe = find(lost_count.__name__)
    stage = Stage(recipe, switches, (), runs_out=False, seed=0, on_run=runs.append)
    with answering(LEVEL, CarefulClerk):
        far = looked(look, stage)
    assert far.words == said
    assert far.shown is None
    assert far.runs == len(runs)


def test_the_faults_that_may_strike_are_counted() -> None:
    """They stand beside what is complete."""
    faults = (parse_fault("lose_request"),)
    switches = {LEVEL.switch: CarefulClerk.__name__, "deliveries": 1}
    recipe = find(lost_count.__name__)
    stage = Stage(recipe, switches, faults, runs_out=False, seed=0, on_run=lambda _: None)
    with answering(LEVEL, CarefulClerk):
        far = looked(EveryOrder(), stage)
    assert far.words.startswith("complete: every order, ≤ 1 fault, ")


@each_row(
    "look",
    [EveryOrder(), FewDeviations(0, faults_max=2), ManyOrders(20)],
    ids=lambda look: type(look).__name__,
)
def test_a_trial_in_which_no_fault_has_struck_says_so(look: WayToLook) -> None:
    """No clerk watches, so no watch can break; one that asks can lose a request. What struck
    nowhere was not tried, whatever the trial is called."""
    alone = LevelTrial(
        name="faults", look=look, faults=("break_watch",), switches={"names": "alpha"}
    )
    far = tried(CarefulClerk, alone).looked
    assert far.endswith(NONE_STRUCK)
    assert "break_watch" not in far
    assert NONE_STRUCK not in tried(CarefulClerk, attrs.evolve(alone, faults=())).looked
    lost = tried(CarefulClerk, attrs.evolve(alone, faults=("lose_request",)))
    assert NONE_STRUCK not in lost.looked


def test_a_run_that_comes_to_no_end_is_refused() -> None:
    """Unless its time may run out: then only claims refuse it."""
    trial = LevelTrial(name="calm", look=EveryOrder(runs_max=5, random_max=0))
    refused = tried(SleepyClerk, trial)
    assert refused.outcome == REFUSED
    assert refused.said.startswith("the run comes to no end: virtual_ms_max")
    assert refused.race.startswith("scenario: lost_count\n")
    assert not refused.claim
    assert tried(SleepyClerk, attrs.evolve(trial, runs_out=True)).outcome == HELD


def test_a_program_that_breaks_a_rule_of_the_world_is_refused_with_the_line() -> None:
    """Not with the text of a crash, and by the name of its file alone."""
    refused = tried(ForgetfulClerk, LevelTrial(name="calm", look=ManyOrders(3)))
    assert refused.outcome == REFUSED
    assert refused.said.startswith("test_checking.py, line ")
    assert "never awaited Client.get" in refused.said


def test_the_fault_that_a_sweep_strikes_stands_in_the_race() -> None:
    """Where it struck is said, too."""
    crash = LevelTrial(name="crash", look=EveryMoment("crash"))
    refused = tried(CarefulClerk, crash)
    assert refused.outcome == REFUSED
    assert refused.looked == "crash before alpha's get notes/default/stock"
    assert "\nfaults:\n  - crash: alpha\n" in refused.race
    silent = tried(SilentClerk, crash)
    assert (silent.looked, silent.claim) == (
        "the calm run, without a crash", "every_delivery_is_counted"
    )  # fmt: skip


def test_a_life_is_played_alone_once_in_runs_that_are_the_same_to_it() -> None:
    """A Run that was drawn before tells it nothing new, nor one that differs only after its last
    turn; whatever else a Run was to a life, that life is played in it."""
    switches = {LEVEL.switch: CarefulClerk.__name__, "deliveries": 1}
    recipe, name = find(lost_count.__name__), CarefulClerk.__name__
    stage = Stage(recipe, switches, (), runs_out=False, seed=0, on_run=lambda _: None, kept=[])
    with answering(LEVEL, CarefulClerk):
        looked(ManyOrders(60), stage)
        runs = runs_of(stage)
        found = {life: [turns for _, turns in its] for life, its in noted_again(stage, name, runs)}
        wholes = [turns for _, turns in noted(recipe, switches, runs)]
    assert len(runs) == len({run.choices for run in runs}) < 60
    for life, its in found.items():
        assert len(its) < len(runs)
        assert all(turns not in its[:place] for place, turns in enumerate(its))
        told = [needed(turns, life, ["alpha", "beta"]) for turns in wholes]
        assert all(turns in its for turns in told)
        for turns, whole in zip(told, wholes, strict=True):
            own = [turn for turn in whole if (turn.actor, turn.life) == life]
            assert [turn for turn in turns if turn in own] == own
            assert turns[-1] == own[-1]


def test_a_run_that_differs_in_time_alone_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same turns at another time, or with other answers, may be something else to a life."""
    switches = {LEVEL.switch: CarefulClerk.__name__}
    recipe, name = find(lost_count.__name__), CarefulClerk.__name__
    stage = Stage(recipe, switches, (), runs_out=False, seed=0, on_run=lambda _: None, kept=[])
    with answering(LEVEL, CarefulClerk):
        looked(ManyOrders(1), stage)
        runs = runs_of(stage) * 3
        ((verdict, turns),) = noted(recipe, switches, runs[:1])
        later = [turn._replace(now_ms=turn.now_ms + 1) for turn in turns]
        monkeypatch.setattr(
            "testbed.teaching.alone.noted", lambda *_: [(verdict, t) for t in (turns, later, turns)]
        )
        assert {len(its) for _, its in noted_again(stage, name, runs)} == {2}


def test_how_far_a_check_is_can_be_followed() -> None:
    """Each Run is told, by the name of its trial."""
    told: list[tuple[str, int]] = []
    checked = check(LEVEL, SilentClerk, on_run=lambda trial, runs: told.append((trial, runs)))
    assert told == [(LEVEL.trials[0].name, 1)]
    assert checked.runs == 1


def test_nothing_of_an_answer_stays_behind() -> None:
    """No switch can name a class that was checked, unless the caller has said so."""
    check(LEVEL, SilentClerk)
    assert SilentClerk.__name__ not in own()
    with answering(LEVEL, SilentClerk):
        check(LEVEL, SilentClerk)
        assert own()[SilentClerk.__name__] is SilentClerk
