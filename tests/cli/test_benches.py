"""The benchmarks: each measures, and returns the figures it promises. How fast is not asked."""

from __future__ import annotations

import inspect
import json
import re
import signal
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import attr
import pytest
import trio

from testbed.child import Jobs
from testbed.choosers.calm import Calm
from testbed.cli import main
from testbed.cli.benches import (
    api,
    autoscale,
    cluster,
    compare,
    cycles,
    determinism,
    door,
    false_alarms,
    grade,
    life,
    load,
    maps,
    pairs,
    preempt,
    room_profile,
    runs,
    schedule,
    search,
    store,
    turns,  # fmt: skip
)
from testbed.errors import ScenarioError
from testbed.turns.trace import Trace
from testbed.world.chooser_kinds import chooser_of, seeded
from testbed.world.scenario import find, known
from testbed.world.world import World
from tests.models.samples import orders, reads, scenario
from tests.models.worlds.recipes import BUSY


def assert_measured(figures: dict[str, Any]) -> None:
    """Every figure is a number, and something was measured."""
    for name, value in figures.items():
        assert isinstance(value, int | float), name
        assert value > 0, name


def test_turns_are_compared_with_what_plain_trio_does() -> None:
    """Turns a second and their ratio to trio's checkpoints, hand-offs, writes, the other driver."""
    figures = turns.measure(rounds=1, turns=400)
    assert list(figures) == [
        "trio_checkpoints_per_s", "trio_tasks", "turns_per_s", "ratio", "handoffs_per_s",
        "turns_with_writes_per_s", "ratio_with_writes", "turns_direct_driver_per_s",
    ]  # fmt: skip
    assert_measured(figures)
    assert figures["trio_tasks"] == 10


def test_the_store_is_measured_at_two_sizes() -> None:
    """Writes, reads and deliveries a second at both, and how much dearer a write has become."""
    figures = store.measure(rounds=1, operations=100, sizes=(10, 50))
    rates = [f"{what}_per_s_at_{size}" for size in (10, 50) for what in RATES]
    assert list(figures) == [*rates, "write_cost_growth"]
    assert_measured(figures)
    assert store.SIZES == (1_000, 100_000)


def test_the_api_server_is_measured_by_verb_at_two_sizes_and_for_few_and_many_watchers() -> None:
    """Requests of each verb, and deliveries, a second; what each costs more among more objects, and
    a delivery among more watchers."""
    figures = api.measure(rounds=1, operations=20, sizes=(10, 30), watchers=(1, 3))
    assert list(figures) == [*api.VERBS, "deliveries_to_1", "deliveries_to_3"]
    for some in figures.values():
        assert list(some)[:3] == ["per_s_at_10", "per_s_at_30", "cost_growth"]
        assert_measured(some)
    assert list(figures["deliveries_to_3"])[3:] == ["cost_growth_by_watchers"]
    assert (api.SIZES, api.WATCHERS) == ((1_000, 50_000), (1, 100))


def test_what_the_api_server_is_asked_in_its_bench_is_done() -> None:
    """A round makes pods and takes them away, and each budget is as it was: nothing was refused."""
    bench = api.Bench(20)
    before = [entry.key for entry in bench.store.snapshot("")]
    rates = bench.requests(20, 0)
    assert sorted(rates) == sorted(api.VERBS)
    assert [entry.key for entry in bench.store.snapshot("")] == before
    changes = [change for change in bench.store.log("pods").changes if "/b0-" in change.key]
    # Made, changed twice, bound, running; why it is evicted, then its grace; deleted: two commits.
    assert len(changes) == 20 * 9
    assert not [e for e in bench.store.snapshot("pods") if e.value.meta.is_terminating]  # type: ignore[attr-defined]


def test_a_real_program_is_measured_beside_an_actor_that_asks_the_same() -> None:
    """Its requests, and the lines that watches are told, a second, and relative to the actor's;
    each World is told of."""
    told: Counter[int] = Counter()

    def done(number: int) -> None:
        told[number] += 1

    figures = door.measure(pods=20, requests=5, lists=2, lines=2, watches=3, done=done)
    assert list(figures) == [
        *(
            f"{what}_{figure}"
            for what in ("get", "patch", "list_of_20", "line")
            for figure in ("per_s", "in_process_per_s", "ratio")
        ),
        "pods", "watches",
    ]  # fmt: skip
    assert_measured(figures)
    assert told[1] == door.length() == 2
    assert (door.PODS, door.IN_NAMESPACE, door.WATCHES) == (5_000, 500, 200)


@pytest.mark.parametrize("bench", [schedule, preempt])
def test_a_scheduler_is_measured_at_every_size(bench: Any) -> None:
    """Decisions a second of its cycles alone and of whole Worlds, for every thousand checkpoints
    too, and how the cost of one grows with the nodes; each World is told of."""
    told: Counter[int] = Counter()

    def done(number: int) -> None:
        told[number] += 1

    figures = bench.measure(nodes=(2, 5), pods=6, rounds=2, done=done)
    assert list(figures) == [
        "trio_checkpoints_per_s", "nodes_2", "nodes_5", "cycle_exponent", "whole_exponent",
    ]  # fmt: skip
    for size in (2, 5):
        assert list(figures[f"nodes_{size}"]) == [
            "cycle_per_s", "whole_per_s", "cycle_per_1000_checkpoints",
            "whole_per_1000_checkpoints", "whole_to_cycle",
        ]  # fmt: skip
        assert_measured(figures[f"nodes_{size}"])
        assert figures[f"nodes_{size}"]["whole_to_cycle"] <= 1
    assert told[1] == bench.length(nodes=(2, 5), rounds=2) == 4
    assert "cycle_exponent" not in bench.measure(nodes=(3,), pods=2, rounds=1)
    assert bench.NODES == (100, 1_000, 5_000)


def test_every_pod_is_decided_of_once_and_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is timed is a cycle for each pod; when the time is over it is bound, and said so."""
    stopwatches, worlds = _kept(monkeypatch)
    cycles.played(schedule.fill, 3, 20)
    assert stopwatches[0].decided == 20
    store = worlds[-1].store
    assert all(entry.value.is_bound for entry in store.snapshot("pods/"))
    assert [entry.value.reason for entry in store.snapshot("events/")] == ["Scheduled"] * 20
    assert schedule.PODS == 2_000


def test_every_preemptor_gets_one_victim(monkeypatch: pytest.MonkeyPatch) -> None:
    """One cycle for each, which nominates it; as many pods are to go, and none has gone."""
    stopwatches, worlds = _kept(monkeypatch)
    cycles.played(preempt.fill, 3, 5)
    assert stopwatches[0].decided == 5
    pods = [entry.value for entry in worlds[-1].store.snapshot("pods/")]
    assert len(pods) == 3 * 8 + 5
    assert sum(pod.meta.is_terminating for pod in pods) == 5
    assert sum(bool(pod.status.nominated_node_name) for pod in pods) == 5
    assert preempt.PODS == 500


def test_an_autoscaler_is_measured_at_every_size() -> None:
    """Passes a second, alone and with the whole World, and how the cost of one grows."""
    figures = autoscale.measure(nodes=(20, 30), pods=6, rounds=1)
    assert list(figures) == [
        "trio_checkpoints_per_s", "nodes_20", "nodes_30", "pass_exponent", "whole_exponent",
    ]  # fmt: skip
    assert_measured(figures["nodes_20"])
    assert autoscale.NODES[-1] * autoscale.HERE == 10_000
    assert autoscale.PODS == 500
    with pytest.raises(ScenarioError, match="expected at least one for each of the 20 groups"):
        autoscale.measure(nodes=(3,))


def test_the_passes_that_are_timed_ask_for_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three passes: pods that find no room make some group grow, and idle nodes are looked at."""
    stopwatches, worlds = _kept(monkeypatch)
    autoscale.played(autoscale.fill, 60, 8)
    assert stopwatches[0].decided == 3
    targets = [entry.value.target for entry in worlds[-1].store.snapshot("nodegroups/")]
    assert sum(targets) == 60 + 1


def _kept(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], list[Any]]:
    """Every Stopwatch and every World that is made from now on."""
    stopwatches: list[Any] = []
    worlds: list[Any] = []

    def keeping(made: Any, kept: list[Any]) -> Any:
        def make(*given: Any) -> Any:
            kept.append(made(*given))
            return kept[-1]

        return make

    monkeypatch.setattr(cycles, "Stopwatch", keeping(cycles.Stopwatch, stopwatches))
    for module in (cycles, autoscale):
        monkeypatch.setattr(module, "World", keeping(World, worlds))
    return stopwatches, worlds


def test_a_cluster_is_measured_through_a_full_life(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pods run, are replaced twice, and leave the nodes that are drained; of each stage its
    turns and their cost, and what is kept at most. Each stage that is over is told of."""
    monkeypatch.setattr(life, "PERIOD_MS", 20_000)
    monkeypatch.setattr(life, "DRAINED", 2)
    worlds: list[World] = []
    assembled = life.assembled

    def keeping(*given: Any) -> Any:
        world, meter = assembled(*given)
        worlds.append(world)
        return world, meter

    monkeypatch.setattr(life, "assembled", keeping)
    stages: list[str] = []
    figures = life.played(2, 10, "on_change", stages.append)
    assert stages == list(life.STAGES)
    assert list(figures) == [
        "turns", "virtual_s", "wall_s", "virtual_s_per_wall_s", "turns_per_s",
        "second_roll_to_first", "peak_mb", "kept_most", "bytes_per_kept", *life.STAGES,
    ]  # fmt: skip
    assert figures["virtual_s"] == 80
    for stage in life.STAGES:
        assert_measured(figures[stage])
    pods: list[Any] = [entry.value for entry in worlds[-1].store.snapshot("pods/")]
    assert [pod.meta.annotations["version"] for pod in pods] == ["2"] * 10
    assert {pod.spec.node_name for pod in pods} == {"n1"}


def test_lives_are_compared_at_a_quarter_half_and_all_of_the_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a kept object costs at each of them; and a stage that is over is told of."""
    asked: list[tuple[Any, ...]] = []
    told: Counter[int] = Counter()

    def done(number: int) -> None:
        told[number] += 1

    def lived(*given: Any) -> dict[str, Any]:
        asked.append(given[:3])
        given[3](1)
        return {"bytes_per_kept": 1000 + given[0], "second_roll_to_first": 1.1}

    monkeypatch.setattr(cluster, "_life", lived)
    figures = cluster.measure((8,), 80, done)
    assert asked == [
        (2, 20, "on_change"), (4, 40, "on_change"), (8, 80, "on_change"), (8, 80, "every"),
    ]  # fmt: skip
    assert figures["memory_growth"] == round(1008 / 1002, 3)
    assert figures["bytes_per_kept_at_1/2"] == 1004
    assert told[1] == 4
    assert cluster.length() == 16
    with pytest.raises(ScenarioError, match="expected one number"):
        cluster.measure((1, 2), 3)


def test_the_exponent_of_a_cost_is_its_slope() -> None:
    """What costs ten times as much among ten times as many grows in proportion."""
    assert cycles.exponent({10: [100.0], 100: [10.0], 1000: [1.0]}) == pytest.approx(1)
    assert cycles.exponent({10: [7.0], 1000: [7.0]}) == pytest.approx(0)


RATES = ("writes", "reads", "deliveries")


def test_runs_of_every_scenario_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs and turns a second, in trio checkpoints, too, and under the other driver; of each
    scenario, or of one; and each is told of."""
    quick = [scenario for scenario in known() if scenario.name not in BUSY][:3]
    monkeypatch.setattr(runs, "known", lambda: quick)
    told: list[str] = []
    figures = runs.measure(runs=1, tell=told.append)
    names = [scenario.name for scenario in quick]
    assert list(figures) == names
    places = [f"{name}, {number} of 3" for number, name in enumerate(names, 1)]
    assert [text for text in told if "round" not in text] == places
    assert f"{places[0]}: round 3" in told
    assert list(runs.measure(runs=1, scenario="lost_update")) == ["lost_update"]
    for some in figures.values():
        assert list(some) == [
            "runs_per_s", "turns_per_s", "ratio", "checkpoints_per_run",
            "runs_direct_driver_per_s", "ratio_direct_to_trio",
        ]  # fmt: skip
        assert_measured(some)


def test_what_a_run_costs_is_its_turns_in_checkpoints() -> None:
    """Ten turns, each of them so many checkpoints."""
    found = runs.measure(runs=20, scenario="lost_update")["lost_update"]
    turns = found["turns_per_s"] / found["runs_per_s"]
    assert turns == pytest.approx(10, rel=0.1)
    assert found["checkpoints_per_run"] == pytest.approx(turns / found["ratio"], rel=0.3)


def test_marks_are_measured_beside_processes_that_do_nothing() -> None:
    """How many in a second, and for how many bare starts one stands."""
    told: list[str] = []
    figures = grade.measure(rounds=1, starts=1, levels_max=1, tell=told.append)
    assert_measured(figures)
    assert figures["answers"] == 1
    assert figures["ratio"] < 1
    assert told == ["round 1 of 1"]


def test_complete_maps_are_measured_beside_plain_runs() -> None:
    """States a second, and how many are found while one plain Run is played; each is told of."""
    told: list[str] = []
    figures = maps.measure(scenario="lost_update", rounds=1, tell=told.append)
    assert told == [*figures] == ["lost_update"]
    assert list(figures["lost_update"]) == [
        "states", "moves", "runs", "states_per_s", "plain_runs_per_s", "ratio",
    ]  # fmt: skip
    assert_measured(figures["lost_update"])


def test_a_scenario_has_a_time_and_not_a_number_of_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """In no time two rounds are played all the same, one Run in each; the other driver has one."""
    played: list[tuple[str, int, int | None]] = []
    real = runs._played

    def counted(scenario: Any, driver: str, seed: int, *limits: Any) -> Any:
        done = real(scenario, driver, seed, *limits)
        played.append((driver, seed, done.runs))
        return done

    for part in ("PLAIN_S", "TRIO_S", "DIRECT_S"):
        monkeypatch.setattr(runs, part, 0)
    monkeypatch.setattr(runs, "checkpoints_per_s", lambda *_: 1000.0)
    monkeypatch.setattr(runs, "_played", counted)
    assert_measured(runs.measure(scenario="lost_update", seconds=0)["lost_update"])
    assert played == [("direct", 0, 1), ("trio", 0, 1), ("trio", 1, 1)]
    played.clear()
    runs.measure(runs=2, scenario="lost_update")
    assert played == [(driver, n, 2) for n in range(runs.ROUNDS) for driver in ("direct", "trio")]


def test_a_profile_says_in_which_rooms_the_time_of_runs_goes() -> None:
    """In percent and by turn, the dearest first; together they are all of it."""
    (found,) = runs.measure(profile=True, scenario="lost_update", seconds=0.4).values()
    assert list(found) == ["runs", "turns", "samples", "us_per_turn", "rooms"]
    rooms = found["rooms"]
    assert {"kernel", "client", "objects and codec"} <= set(rooms)
    percents = [room["percent"] for room in rooms.values()]
    assert percents == sorted(percents, reverse=True)
    assert sum(percents) == pytest.approx(100, abs=1)
    by_turn = sum(room["us_per_turn"] for room in rooms.values())
    assert by_turn == pytest.approx(found["us_per_turn"], rel=0.02)
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("file", "room"),
    [
        ("testbed/turns/head.py", "kernel"),
        ("testbed/turns/drivers/trio.py", "kernel"),
        ("testbed/world/play.py", "kernel"),
        ("testbed/world/world.py", "assembly"),
        ("testbed/world/judge.py", "claims"),
        ("testbed/invariants/always.py", "claims"),
        ("testbed/invariant.py", "claims"),
        ("testbed/objects/meta.py", "objects and codec"),
        ("testbed/new_room/file.py", "new_room"),
        ("testbed/policy.py", "policy"),
        ("actors/scheduler/queue/backoff.py", "actors/scheduler"),
        ("actors/framework/snapshot.py", "actors/scheduler"),
        ("actors/kubelet/invariants/ends.py", "claims"),
        ("actors/new_room/file.py", "actors/new_room"),
        ("scenarios/slots/double_bind.py", "assembly"),
    ],
)
def test_the_room_of_a_file_is_its_folder(file: str, room: str) -> None:
    """A few have a plainer name; a new one shows under its own."""
    root = Path(runs.__file__).parents[3]
    assert room_profile.room_of_file(str(root / file)) == room


def test_a_library_works_for_its_caller_and_trio_for_itself() -> None:
    """So does what attrs has generated, and Python; the user's own code is told as that."""
    for made_by in (attr.__file__, json.__file__, "<attrs generated init testbed.objects.meta>"):
        assert room_profile.room_of_file(made_by) == ""
    assert room_profile.room_of_file(trio.__file__) == "trio"
    assert room_profile.room_of_file(__file__) == "your own"
    here = inspect.currentframe()
    assert room_profile.RoomProfile().room_of(here) == "your own"
    assert room_profile.RoomProfile().room_of(None) == "python"


def test_without_a_timer_of_cpu_time_no_profile_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so, and what to do."""
    monkeypatch.delattr(signal, "ITIMER_PROF")
    with pytest.raises(ScenarioError, match="no timer of CPU time"):
        runs.measure(profile=True, scenario="lost_update", runs=1)


def test_what_it_costs_to_measure_is_told_beside_playing_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Relative to it, in the same process; and how long the intervals take."""
    monkeypatch.setattr(compare, "SCENARIO", "web_server")
    figures = compare.measure(rounds=1, runs=2, resampled=2)
    assert figures.pop("scenario") == "web_server"
    assert list(figures) == [
        "runs_played_per_s", "runs_measured_per_s", "ratio_measured_to_played", "resampling_ms",
    ]  # fmt: skip
    assert_measured(figures)


@pytest.mark.parametrize("driver", ["trio", "direct"])
def test_determinism_is_a_digest_over_all_traces(driver: str) -> None:
    """Of so many Runs of each scenario; it says what it has played, and tells of each Run."""
    told: Counter[int] = Counter()

    def done(number: int) -> None:
        told[number] += 1

    figures = determinism.measure(
        runs=2, seed=7, driver=driver, crashes=1, left_out=BUSY, done=done
    )
    assert list(figures) == [
        "runs", "scenarios", "seed", "driver", "crashes", "violated", "digest",
    ]  # fmt: skip
    heard = [scenario.name for scenario in known() if scenario.name not in BUSY]
    assert figures["runs"] == 2 * len(heard) == told[1]
    assert (figures["seed"], figures["driver"]) == (7, driver)
    assert figures["scenarios"] == heard
    assert re.fullmatch("[0-9a-f]{64}", figures["digest"])


def test_false_alarms_are_counted_for_each_scenario_and_for_all() -> None:
    """Of as many Runs as were asked for, over the seeds; where nothing is wrong, there are none."""
    told: list[int] = []
    figures = false_alarms.measure(7, 2, scenario="lost_update", done=told.append)
    assert list(figures) == ["lost_update", "all"]
    assert figures["all"]["runs"] == figures["lost_update"]["runs"] == 7
    assert (figures["all"]["alarms"], figures["all"]["first_alarm"]) == (0, None)
    assert len(told) == false_alarms.length(2, "lost_update") == 2


def test_an_alarm_is_told_with_its_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a guard does nothing."""
    monkeypatch.syspath_prepend(tmp_path)
    text = "from scenarios.basics.lost_update import lost_update\n\n\n"
    text += "def race(world, *, guard: bool = False):\n    lost_update(world)\n"
    (tmp_path / "a_guard_that_does_nothing.py").write_text(text, encoding="utf-8")
    one = false_alarms.listen(find("a_guard_that_does_nothing:race"), 3, 50)
    assert re.fullmatch(r"every_signature_is_kept: .* \(seed 3\)", one.alarm)
    figures = false_alarms.summary([one, one])
    assert (figures["alarms"], figures["first_alarm"]) == (2, one.alarm)


# -- search ---------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_search_for_every_race_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """By every Chooser that draws: the median of Runs to the first Violation between its bounds,
    how many seeds never met it, and what there would be to gain; each trial is told of."""
    monkeypatch.setattr(search, "INTERLEAVINGS_MAX", 20)
    monkeypatch.setattr(search, "RATED", 2)
    monkeypatch.setattr(search, "SHRUNK", 1)
    told: Counter[int] = Counter()

    def done(number: int) -> None:
        told[number] += 1

    figures = search.measure(seeds=1, runs_max=3, done=done)
    pairs = [scenario for scenario in known() if "guard" in scenario.switches]
    races = [pair.name for pair in pairs if not pair.world().needs_no_race]
    assert list(figures) == races
    assert "tug_of_war" not in races
    for by_chooser in figures.values():
        assert list(by_chooser) == ["alike", *seeded(), "shrinking"]
        shrinking = by_chooser["shrinking"]
        assert shrinking["races"] == sum(by_chooser[name]["of_shrunk"] for name in seeded())
        assert (shrinking["runs_at_most"] or 0) <= 150
        for name in seeded():
            found = by_chooser[name]
            assert list(found) == [
                "median", "from", "to", "censored", "of", "shrunk", "of_shrunk", "lines",
                "runs_per_s",
            ]  # fmt: skip
            assert 0 <= found["censored"] <= found["of"] == 1
            assert found["of_shrunk"] == min(found["of"] - found["censored"], search.SHRUNK)
            assert found["shrunk"] == (len(found["lines"]) if found["of_shrunk"] else None)
    assert told[1] == search.length(1) == len(races) * len(seeded())


def test_knowing_how_much_is_to_come_finds_the_late_short_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a few dozen Runs, as if every interleaving came alike, which would take 29; a random walk
    does not find it."""
    monkeypatch.setattr(search, "RATED", 2)
    monkeypatch.setattr(search, "SHRUNK", 1)
    figures = search.measure(seeds=3, runs_max=100, scenario="late_short_write", chooser="urw")
    (of_race,) = figures.values()
    assert of_race["alike"] == 29
    assert of_race["urw"]["median"] <= 90
    assert search.trial(find("late_short_write"), chooser_of("uniform"), 100).runs is None


def test_a_lost_update_is_found_by_every_chooser_in_a_few_runs() -> None:
    """In the median of five seeds; if every interleaving came alike, in the first."""
    figures = search.measure(seeds=5, runs_max=50, scenario="lost_update")["lost_update"]
    assert figures.pop("alike") == 1
    shrinking = figures.pop("shrinking")
    assert shrinking["races"] == search.SHRUNK * len(figures)
    assert 0 < shrinking["runs"] <= shrinking["runs_at_most"] <= 30
    assert 0 < shrinking["cpu_s"] <= shrinking["cpu_s_at_most"]
    assert all(found["median"] <= 4 for found in figures.values()), figures


def test_what_is_shrunk_is_the_race_of_middle_size_of_the_first_trials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Shrunk for real, down to one line, and so many of them at most; of nothing, nothing."""
    race = find("double_bind")
    trials = [search.trial(race, chooser_of("pos", seed), 50) for seed in range(3)]
    trials.insert(1, search.ChooserTrial(None))
    made = [search.Shrinking.of(race, each) for each in search.shrinkable(trials)]
    told = search.shrunk(made)
    assert (told["shrunk"], told["of_shrunk"]) == (1, 3)
    assert told["lines"] == ["hold alpha bind pods/default/c until beta bind pods/default/d"]
    assert search.shrinkable([search.ChooserTrial(None)]) == []
    assert search.shrunk([]) == {"shrunk": None, "of_shrunk": 0, "lines": []}
    assert search.shrinking([])["runs"] is None
    monkeypatch.setattr(search, "SHRUNK", 1)
    assert len(search.shrinkable(trials)) == 1
    assert len(search.shrinkable(trials, 2)) == 2


def test_what_a_shrink_takes_counts_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that write the race down, those that shrink it, and those that measure its window."""
    played: list[World] = []
    prepare = World.prepare

    def counting(world: World, *given: Any, **named: Any) -> bool:
        played.append(world)
        return prepare(world, *given, **named)

    trial = search.trial(find("double_bind"), chooser_of("pos", 0), 50)
    monkeypatch.setattr(World, "prepare", counting)
    assert search.Shrinking.of(find("double_bind"), trial).runs == len(played)


def test_a_median_counts_what_was_censored_as_longest() -> None:
    """It is one of the trials, or None; so are its bounds, the same again each time."""
    assert search.median([5, None, 1]) == 5
    assert search.median([5, None, 1, 2]) == 2
    assert search.median([None, None, 1]) is None
    trials = [*range(1, 30), None]
    low, high = search.interval(trials)
    assert (low, high) == search.interval(trials)
    assert low is not None
    assert high is not None
    assert 8 <= low < 15 < high <= 22
    assert search.interval([None, 3, None]) == (3, None)


def test_every_interleaving_is_taken_once() -> None:
    """Of two operations among three there are ten; then there is none left."""
    every = search.Every()
    seen = orders(scenario(alpha=reads(2), beta=reads(3)), every, 100)
    assert seen == dict.fromkeys(seen, 1)
    assert len(seen) == 10
    assert every.is_exhausted


@pytest.mark.parametrize(("of", "runs"), [(1, 1), (2, 1), (3, 2), (41, 29)])
def test_the_median_of_a_chance(of: int, runs: int) -> None:
    """After so many Runs it is as likely as not."""
    assert search.median_of(Fraction(1, of)) == runs


@pytest.mark.parametrize("kind", [load.NoteReader, load.Writer])
def test_the_load_is_ten_actors_and_about_so_many_turns(
    kind: type[load.NoteReader] | type[load.Writer],
) -> None:
    """Each an operation after another: what is counted as a turn is what a user would count."""
    trace = Trace({}, keep=True)
    verdict = load.world(kind, 1000).run(Calm(), driver="direct", trace=trace)
    assert verdict.is_held
    assert abs(verdict.turns - 1000) <= 30
    kinds = Counter(step.kind for step in trace.steps)
    assert kinds["serve"] == kinds["answer"]
    assert kinds["start"] == load.ACTORS == 10


# -- pairs ----------------------------------------------------------------------------------------


def test_the_race_of_a_pair_is_searched_for() -> None:
    """Runs until it is found, in the median and at most, and what it is shrunk to."""
    told: list[int] = []
    figures = pairs.measure(seeds=3, scenario="lost_update", done=told.append)["lost_update"]
    assert told == [1, 1, 1]
    assert (figures["found"], figures["of"], figures["cut_off"]) == (3, 3, 0)
    assert 1 <= figures["runs"] <= figures["runs_at_most"] <= 10
    assert (figures["deviations_at_most"], figures["faults_at_most"]) == (1, 0)
    assert 0 < figures["cpu_s"] <= figures["cpu_s_at_most"]
    assert pairs.length(seeds=2) == 2 * sum(scenario.has_guard for scenario in known())


def test_a_pair_that_is_not_found_counts_as_longer_than_all() -> None:
    """Within the Runs that it is given."""
    figures = pairs.measure(seeds=2, runs_max=3, scenario="late_short_write")["late_short_write"]
    assert (figures["found"], figures["runs"], figures["deviations_at_most"]) == (0, None, None)
    half = pairs.summary([pairs.FoundRace(4, 1.0, 2, 1, 50), pairs.FoundRace(None, 3.0)])
    assert (half["found"], half["runs"], half["runs_at_most"]) == (1, 4, None)
    assert (half["window_ms"], half["faults_at_most"], half["cpu_s_at_most"]) == (50, 1, 3.0)


def test_pairs_are_the_same_in_any_number_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the time they take."""
    monkeypatch.setattr("testbed.search.sharing.can_fork", lambda: sys.platform == "linux")
    found = [pairs.measure(2, scenario="lost_update", jobs=Jobs(n))["lost_update"] for n in (1, 2)]
    for each in found:
        del each["cpu_s"], each["cpu_s_at_most"]
    assert found[0] == found[1]


def test_pairs_are_printed_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each."""
    assert main(["bench", "pairs", "--scenario", "tug_of_war", "--seeds", "2"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^  pair +found +runs +at most +CPU s", out, re.MULTILINE)
    assert re.search(r"^  tug_of_war +2 of 2 +1 +1 +[\d.]+ +[\d.]+ +0 +0 +-$", out, re.MULTILINE)
