"""The Choosers: calm, uniform, drawn by Hypothesis, replayed; and what each promises."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from scenarios.basics.lost_update import Writer
from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo
from testbed.choosers.calm import Calm
from testbed.choosers.drawn import Drawn
from testbed.choosers.replayed import Replayed
from testbed.choosers.struck import Struck
from testbed.choosers.uniform import Uniform
from testbed.choosers.urw import URW
from testbed.client.actor import Actor
from testbed.client.client import Client
from testbed.errors import ReplayDiverged, ScenarioError
from testbed.faults.crash import Crash
from testbed.faults.stall import Stall
from testbed.objects import Map, Note
from testbed.turns.option import SERVE, Choice, Option
from testbed.turns.pending import Alternatives, Options
from testbed.turns.recorded import Recorded, load
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.world.scenario import Scenario, find, of, play_runs
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.lots import Drawer
from tests.shared.stage import world_of

LOTS = find("tests.shared.lots:drawing_lots")
LOST_UPDATE = find("lost_update")
LATE = find("late_short_write")
INFO = RunInfo("made up", 0, 0, lambda: 100)


def traced(
    scenario: Scenario,
    chooser: Chooser,
    *,
    number: int = 0,
    driver: str = "direct",
    **switches: Any,
) -> Trace:
    """Play one Run and keep its trace."""
    trace = Trace({}, keep=True)
    scenario.world(switches).run(chooser, driver=driver, trace=trace, number=number)
    return trace


def crashing(scenario: Scenario, times_max: int) -> Scenario:
    """The same scenario, with so many crashes allowed."""

    def build(world: World) -> None:
        scenario.build(world)
        world.allow(Crash(times_max=times_max, restart_after_ms=100))

    return of(build, scenario.name)


def storeless(scenario: Scenario) -> Scenario:
    """The same scenario, with a store that may crash."""

    def build(world: World) -> None:
        scenario.build(world)
        world.allow(Crash("store", restart_after_ms=100))

    return of(build, scenario.name)


# -- the protocol ---------------------------------------------------------------------------------


def test_a_chooser_is_told_what_it_may_spend() -> None:
    """Which scenario, which Run, how many faults in all, and the length of the calm run."""
    infos: list[RunInfo] = []

    class Told(Uniform):
        def begin(self, run: RunInfo) -> Plan | None:
            infos.append(run)
            return super().begin(run)

    world = crashing(LOST_UPDATE, 3).world()
    world.allow(Crash("store", times_max=2))
    world.prepare(Told(1), number=7)
    (info,) = infos
    assert (info.scenario, info.number, info.faults_max) == ("lost_update", 7, 5)
    assert info.turns_expected() == 10


def test_a_chooser_without_a_plan_is_not_played() -> None:
    """None from `begin` says that there is nothing left; asked for one more Run, it is an error."""

    class Exhausted(Calm):
        def begin(self, run: RunInfo) -> Plan | None:
            return Plan("another") if run.number < 3 else None

    look: Callable[[World], bool] = lambda world: True  # noqa: E731
    assert play_runs(LOST_UPDATE, Exhausted(), look, runs_max=9, driver="direct") == 3
    with pytest.raises(ScenarioError, match="Exhausted has no Run left to play"):
        LOST_UPDATE.world().run(Exhausted(), number=3)


# -- calm -----------------------------------------------------------------------------------------


def test_calm_takes_the_first_option_for_ever() -> None:
    """Every choice is 0, whatever is offered; two actors go one after the other."""
    trace = traced(LOTS, Calm(), faults=2)
    assert set(trace.choices) == {0}
    order = [step.option.actor for step in traced(LOST_UPDATE, Calm()).steps]
    assert order == ["alpha"] * 5 + ["beta"] * 5


# -- uniform --------------------------------------------------------------------------------------


def choices_of(world: World) -> list[Choice]:
    """What was chosen in a Run that is over."""
    return world.trace.choices


def test_run_i_is_a_function_of_seed_and_i() -> None:
    """Played alone, played in a row, played again: run 7 of seed 3 is always the same one."""
    chooser = Uniform(3)
    row: list[list[Choice]] = []

    def look(world: World) -> bool:
        row.append(choices_of(world))
        return True

    for _ in range(2):
        play_runs(LOTS, chooser, look, runs_max=12, switches={"faults": 2}, driver="direct")
    assert row[:12] == row[12:]
    assert len(set(map(tuple, row))) == 12
    assert traced(LOTS, Uniform(3), number=7, faults=2).choices == row[7]
    assert traced(LOTS, Uniform(4), number=7, faults=2).choices != row[7]


def test_uniform_is_fair_among_the_ready() -> None:
    """Of five ready Options each is taken a fifth of the time, within a tenth of that."""
    options = Alternatives(range(5), lambda n: Option(SERVE, f"a{n}/main", lambda: None))
    chooser = Uniform(11)
    chooser.begin(INFO)
    counts = Counter(chooser.choose(options) for _ in range(20_000))
    assert sorted(counts) == [0, 1, 2, 3, 4]
    assert all(abs(count - 4000) < 400 for count in counts.values()), counts


def test_uniform_finds_every_order() -> None:
    """All 252 Runs of two naive writers turn up within 10,000."""
    seen: set[tuple[Choice, ...]] = set()

    def look(world: World) -> bool:
        seen.add(tuple(choices_of(world)))
        return len(seen) < 252

    assert play_runs(LOST_UPDATE, Uniform(0), look, runs_max=10_000, driver="direct") < 10_000


@each_row(("chooser", "runs"), [(Uniform(5), 400), (URW(5), 200)])
def test_faults_are_spread(chooser: Chooser, runs: int) -> None:
    """How many strike in a Run is anything from none to the most, alike; and they strike all along
    it, none before the first turn could be. So it is with a sampler, which draws them apart."""

    def stalling(world: World) -> None:
        LATE.build(world)
        world.allow(Stall(times_max=3, by_ms=1))

    struck: Counter[int] = Counter()
    places: Counter[int] = Counter()

    def look(world: World) -> bool:
        steps = world.trace.steps
        at = [step.number for step in steps if step.kind == "fault"]
        struck[len(at)] += 1
        places.update(min(number * 4 // len(steps), 3) for number in at)
        return True

    play_runs(of(stalling), chooser, look, runs_max=runs, driver="direct", keep=True)
    assert sorted(struck) == [0, 1, 2, 3]
    assert min(struck.values()) > runs // 8, struck
    assert min(places[quarter] for quarter in range(4)) > runs // 8, places


def picked(trace: Trace) -> dict[tuple[str, str, int], str]:
    """What was picked: by task, label and how-many-eth."""
    counts: Counter[tuple[str, str]] = Counter()
    found = {}
    for step in trace.steps:
        if step.kind == "pick":
            key = (step.option.path, step.option.verb)
            counts[key] += 1
            found[*key, counts[key]] = step.option.label
    return found


@pytest.mark.spec("GEN-5")
def test_a_new_consumer_does_not_move_the_other_picks() -> None:
    """Each pick is drawn from a stream keyed by seed, task, label and ordinal: another label in the
    same actor, or another actor, leaves what all others pick as it was."""

    def another(world: World) -> None:
        world.start(Drawer("aaron", 3))
        LOTS.build(world)

    moved = 0
    for seed in range(20):
        plain = traced(LOTS, Uniform(seed))
        hesitant = traced(LOTS, Uniform(seed), hesitates="on")
        crowded = traced(of(another), Uniform(seed))
        for key in picked(plain).keys() & picked(hesitant).keys() & picked(crowded).keys():
            assert picked(plain)[key] == picked(hesitant)[key] == picked(crowded)[key]
            moved += 1
        assert len(picked(hesitant)) > len(picked(plain)) > 0
    assert moved > 100


@pytest.mark.spec("GEN-5")
def test_a_pick_is_named_labelled_and_recorded_dullest_first() -> None:
    """The Chooser is shown the alternatives in their order, each an Option with its label, and the
    calm run takes the first of each."""
    shown: list[list[str]] = []

    class Sees(Calm):
        def choose(self, options: Options | Alternatives) -> int:
            if options[0].kind == "pick":
                shown.append([str(option) for option in options])
                assert len(options.faults) == 0
            return 0

    assert set(picked(traced(LOTS, Sees())).values()) == {"white", "10"}
    assert shown[:2] == [["white", "black", "red"], ["10", "20"]]


# -- struck ---------------------------------------------------------------------------------------


def test_a_fault_strikes_at_its_turn_or_not_at_all() -> None:
    """Instead of the calm turn of that number, picks apart; where it could strike later it does
    not, and where the Run is over it was not reached."""

    def struck(turn: int, fault: str) -> tuple[bool, bool, list[int]]:
        world = LOTS.world()
        world.allow(Crash("*", times_max=9))
        chooser, trace = Struck(turn, fault), Trace({}, keep=True)
        world.run(chooser, driver="direct", trace=trace)
        turns = [step for step in trace.steps if step.kind != "pick"]
        at = [n for n, step in enumerate(turns, 1) if step.kind == "fault"]
        return chooser.was_reached, chooser.has_struck, at

    names = sorted(LOTS.world().table.roles)
    assert struck(1, f"crash {names[0]}") == (True, False, [])
    for turn in (3, 4):
        assert struck(turn, f"crash {names[0]}") == (True, True, [turn])
    assert struck(10_000, f"crash {names[0]}") == (False, False, [])


# -- drawn ----------------------------------------------------------------------------------------

FAST = settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate, Phase.shrink],
)


def shrunk(scenario: Scenario, **switches: Any) -> Trace:
    """Let a plain `@given(st.data())` test find a violation, and shrink it; the smallest Run."""
    traces: list[Trace] = []

    @FAST
    @given(st.data())
    def it_holds(data: st.DataObject) -> None:
        traces.append(Trace({}, keep=True))
        verdict = scenario.world(switches).run(Drawn(data), driver="direct", trace=traces[-1])
        assert not verdict.is_violated, verdict

    with pytest.raises(AssertionError, match="outcome='violated'"):
        it_holds()
    return traces[-1]


def test_hypothesis_finds_a_race_and_shrinks_it_toward_the_calm_run() -> None:
    """One deviation is enough to lose a name (beta begins while alpha is about to write), and one
    is left; all before it and all after it is calm."""
    assert [choice for choice in shrunk(LOST_UPDATE).choices if choice] == [1]


def test_hypothesis_shrinks_picks_and_faults_as_well() -> None:
    """For a red lot twice it takes two picks, and none of the eight faults that might strike."""
    trace = shrunk(LOTS, faults=2)
    assert [step.option.label for step in trace.steps if step.choice] == ["red", "red"]


def test_the_guarded_scenario_survives_what_hypothesis_draws() -> None:
    """The other half of the pair, under the same budget."""

    def guarded(world: World) -> None:
        LOST_UPDATE.build(world, guard=True)
        world.allow(Crash("*a", restart_after_ms=100))

    @FAST
    @given(st.data())
    def it_holds(data: st.DataObject) -> None:
        verdict = of(guarded).world().run(Drawn(data), driver="direct")
        assert verdict.is_held, verdict

    it_holds()


def test_drawing_stops_at_its_limit_and_the_verdict_says_so() -> None:
    """With two draws two choices are drawn, the rest is calm, and the Verdict tells; with enough
    of them it has nothing to add."""
    notes: set[tuple[int, str]] = set()

    @settings(FAST, max_examples=30)
    @given(st.data(), st.sampled_from([2, 4_000]))
    def draw(data: st.DataObject, draws_max: int) -> None:
        trace = Trace({})
        verdict = LOTS.world().run(Drawn(data, draws_max=draws_max), driver="direct", trace=trace)
        if draws_max == 2:
            assert sum(choice != 0 for choice in trace.choices) <= 2
            assert str(verdict).endswith(verdict.note)
        notes.add((draws_max, verdict.note))

    draw()
    assert notes == {
        (2, "Hypothesis drew the first 2 choices; the rest was calm."),
        (4_000, ""),
    }


def test_a_run_longer_than_hypothesis_can_draw_goes_on_to_its_end() -> None:
    """Hypothesis gives up after 4,096 draws; this stops at 4,000 of them, so the Run ends held."""

    async def act(client: Client) -> None:
        for _ in range(2100):
            await client.get(Note, "n")

    verdicts: list[Verdict] = []

    @settings(FAST, max_examples=1)
    @given(st.data())
    def draw(data: st.DataObject) -> None:
        world = world_of(alpha=act)
        world.add(Note("n"))
        verdicts.append(world.run(Drawn(data), driver="direct"))

    draw()
    assert verdicts[-1].is_held
    assert verdicts[-1].turns == 4201
    assert verdicts[-1].note == "Hypothesis drew the first 4,000 choices; the rest was calm."


# -- replayed -------------------------------------------------------------------------------------


def recorded(path: Path, trace: Trace) -> Recorded:
    """Write a kept trace to a file, and read it back."""
    path.write_bytes(b"".join(trace.lines()))
    return load(str(path))


def replay(scenario: Scenario, record: Recorded, driver: str = "direct") -> bytes:
    """Play it again, from its choices alone."""
    sink = io.BytesIO()
    world = scenario.world(record.header["switches"])
    again = "testbed replay race.jsonl --twice"
    world.run(Replayed(record.steps, again=again), driver=driver, trace=Trace({}, sink=sink))
    return sink.getvalue()


@pytest.mark.parametrize("driver", ["trio", "direct"])
@pytest.mark.parametrize(
    ("scenario", "switches"),
    [(LOTS, {"faults": 2}), (crashing(LOST_UPDATE, 2), {}), (crashing(LATE, 2), {})],
    ids=["lots", "lost_update", "late_short_write"],
)
def test_a_random_run_is_replayed_to_the_byte(
    scenario: Scenario, switches: dict[str, Any], driver: str, tmp_path: Path
) -> None:
    """With its faults, its picks and its records, under the driver it was recorded with and under
    the other."""
    faults = 0
    for seed in range(15):
        trace = traced(scenario, Uniform(seed), driver=driver, **switches)
        faults += sum(step.kind == "fault" for step in trace.steps)
        record = recorded(tmp_path / "race.jsonl", trace)
        for again in ("trio", "direct"):
            assert replay(scenario, record, again) == b"".join(record.lines)
    assert faults > 5


@attrs.frozen
class Hasty(Actor):
    """Writes without having read."""

    async def run(self, client: Client) -> None:
        await client.update(Note("list", data=Map(signed=self.name)))


def changed(world: World, *, guard: bool = False, writers: int = 2) -> None:
    """lost_update, after somebody has edited beta."""
    world.add(Note("list", data=Map(signed="")))
    world.start(Writer("alpha", guard=guard), Hasty("beta"))


def test_a_changed_actor_diverges_and_is_told(tmp_path: Path) -> None:
    """Which choice of how many, what the trace took, what is offered now, who moved last and whose
    Option is missing, and the line to paste."""
    record = recorded(tmp_path / "race.jsonl", traced(LOST_UPDATE, Uniform(1)))
    with pytest.raises(ReplayDiverged) as diverged:
        replay(of(changed), record)
    assert str(diverged.value) == (
        "at choice 4 of 10 the trace took option 1 of 2 (serve beta/main get notes/default/list), "
        "but now there are 2 options:\n"
        "  0 answer alpha/main get notes/default/list · 1 serve beta/main update "
        "notes/default/list\n"
        "Something outside the World decided, or the code has changed since. Look in alpha, which "
        "moved last, and in beta, for a set, a clock, an id() or `random`.\n"
        "Next: testbed replay race.jsonl --twice"
    )


def crowded(world: World, *, guard: bool = False, writers: int = 2) -> None:
    """lost_update, with one writer more at the end of the line."""
    LOST_UPDATE.build(world, writers=writers + 1)


def test_another_number_of_options_diverges_at_once(tmp_path: Path) -> None:
    """Also where the Option that was taken is still in its place."""
    record = recorded(tmp_path / "race.jsonl", traced(LOST_UPDATE, Calm()))
    with pytest.raises(ReplayDiverged) as diverged:
        replay(of(crowded), record)
    assert str(diverged.value).startswith(
        "at choice 1 of 10 the trace took option 0 of 2 (start alpha/main), but now there are 3 "
        "options:\n  0 start alpha/main · 1 start beta/main · 2 start gamma/main\n"
    )


def test_a_missing_fault_diverges_and_is_told(tmp_path: Path) -> None:
    """A fault that can strike no more is told apart from an Option, with the faults there are."""
    trace = next(
        trace
        for seed in range(99)
        if (trace := traced(storeless(LOST_UPDATE), Uniform(seed))).steps[0].kind == "fault"
    )
    record = recorded(tmp_path / "race.jsonl", trace)
    with pytest.raises(ReplayDiverged) as diverged:
        replay(LOST_UPDATE, record)
    assert str(diverged.value).startswith(
        f"at choice 1 of {len(trace.choices)} the trace took fault 0 beside 2 options (fault "
        "fault/crash crash store), but now there are 2 options:\n"
        "  0 start alpha/main · 1 start beta/main\n"
        "and 0 faults:\n"
        "  none\n"
        "Something outside the World decided, or the code has changed since. Look in the scenario, "
        "which moved last, for a set"
    )


def test_a_pick_from_other_alternatives_diverges(tmp_path: Path, monkeypatch: Any) -> None:
    """Their number is not enough: what was picked must still be called the same."""
    record = recorded(tmp_path / "race.jsonl", traced(LOTS, Calm()))
    monkeypatch.setattr("tests.shared.lots.COLOURS", ("blue", "black", "red"))
    with pytest.raises(ReplayDiverged, match=r"took option 0 of 3 \(pick alpha/main lot white\)"):
        replay(LOTS, record)


def test_a_run_that_ends_early_is_replayed_up_to_there(tmp_path: Path) -> None:
    """When the recorded choices are used up the Run is cut: nothing is made up."""
    record = recorded(tmp_path / "race.jsonl", traced(LOST_UPDATE, Calm()))
    world = LOST_UPDATE.world()
    verdict = world.run(Replayed(record.steps[:4], again="…"))
    assert (verdict.outcome, verdict.turns) == ("undecided", 4)
    assert verdict.end == "cut: the chooser ended this run"


def test_a_run_may_be_cut_at_a_pick() -> None:
    """The turn that asks goes on with the dullest, then the Run ends: Undecided, cut."""

    class Cuts(Calm):
        def choose(self, options: Options | Alternatives) -> int | Cut:  # type: ignore[override]
            return CUT if options[0].kind == "pick" else 0

    trace = Trace({}, keep=True)
    verdict = LOTS.world().run(Cuts(), trace=trace)
    assert (verdict.outcome, verdict.end) == ("undecided", "cut: the chooser ended this run")
    assert trace.steps[-1].sentence.path == "alpha/main"
    assert picked(trace) == {}
