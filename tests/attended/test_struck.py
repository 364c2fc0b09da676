"""Faults and holds on real programs: what each does to a program, as the program tells it."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from actors.apiserver import ApiServer
from testbed import Trace, World
from testbed.attended.casting import attended_by
from testbed.attended.tape import Tape, joined_of
from testbed.attended.wall_times import WallTimes
from testbed.choosers.replayed import Replayed
from testbed.objects import Pod
from testbed.objects.codec import decode
from testbed.races.playing import Played, play
from testbed.races.race import Race
from testbed.races.racefile import parse
from testbed.turns.option import FAULT, JOIN, SERVE
from testbed.turns.trace import Step
from testbed.world import scenario
from tests.attended.attending import Absent, client, written

TIMES = WallTimes(start_s=0.05, quiet_s=0.5, silence_s=0.5, limit_s=300)
P, Q = "/api/v1/namespaces/default/pods/p", "/api/v1/namespaces/default/pods/q"
BODY = '{"metadata":{"labels":{"by":"me"}}}'
PATCH = f"PATCH {P} {BODY}"


def pair(world: World) -> None:
    """Two pods, and two programs that ask for them."""
    world.serve(ApiServer)
    world.add(Pod.of("p"), Pod.of("q"))
    world.start(Absent("alpha"), Absent("beta"))


def race_in(text: str) -> Race:
    """A race file of that scenario."""
    return parse(f"scenario: pair\n{text}", "pair.race.yaml")


def played(
    folder: Path, race: str, alpha: tuple[str, ...], *beta: str, times: WallTimes = TIMES
) -> Played:
    """The play of a race file in which these two ask that."""
    commands = {"alpha": client("asker", *alpha), "beta": client("asker", *beta)}
    recipe = attended_by(scenario.of(pair), commands, lambda: folder, times)
    found = play(race_in(race), recipe)
    assert (found.verdict.end, found.verdict.violations) == ("quiet", ()), str(found.verdict)
    for fate in found.fates:
        assert fate.took_place, found.seen
        assert not fate.expired
    return found


def order(folder: Path) -> list[str]:
    """What both have written, from when the second began."""
    lines = written(folder, "order")
    return [line.replace(P, "p").replace(Q, "q") for line in lines[lines.index("beta: began") :]]


def steps(found: Played, kind: str, verb: str) -> list[Step]:
    """The Steps of its trace that are of this kind, and about this verb."""
    steps = found.trace.steps
    return [step for step in steps if (step.kind, step.option.verb) == (kind, verb)]


PODS = "/api/v1/pods"


@pytest.mark.parametrize(
    ("fault", "told", "served"),
    [
        ("lose_request: alpha patch pods/default/p", "lost", 1),
        ("lose_reply: alpha patch pods/default/p", "lost", 2),
        ("server_error: alpha patch pods/default/p\n  code: 429", "429 TooManyRequests", 1),
        ("server_error: alpha patch pods/default/p", "500 InternalError", 1),
    ],
    ids=["lose_request", "lose_reply", "429", "500"],
)
def test_a_struck_request(fault: str, told: str, served: int, tmp_path: Path) -> None:
    """Its program loses the connection, or reads of the error, and asks again. Whether it has taken
    effect is for the fault to say."""
    found = played(tmp_path, f"faults:\n- {fault}", (PATCH, PATCH), f"GET {Q}")
    assert written(tmp_path, "alpha") == [
        "began", f"PATCH {P} {told}", f"PATCH {P} 200", "done",
    ]  # fmt: skip
    assert len(steps(found, FAULT, fault.partition(":")[0])) == 1
    assert len(steps(found, SERVE, "patch")) == served


def test_a_crash_kills_the_program_and_a_restart_starts_it(tmp_path: Path) -> None:
    """It is killed before it is answered, and a new process begins."""
    race = "faults:\n- crash: alpha\n  after: alpha get pods/default/p\n  restart: 200ms"
    found = played(tmp_path, race, (f"GET {P}", f"GET {Q}"), f"GET {Q}")
    assert written(tmp_path, "alpha") == [
        "began", "began", f"GET {P} 200", f"GET {Q} 200", "done",
    ]  # fmt: skip
    assert len(steps(found, FAULT, "crash")) == 1


def test_a_crash_without_a_restart(tmp_path: Path) -> None:
    """The program is gone for good; the other one goes on."""
    race = "faults:\n- crash: alpha\n  after: beta get pods/default/p"
    found = played(tmp_path, race, (f"WATCH {PODS}",), f"GET {P}", f"PATCH {Q} {BODY}")
    assert written(tmp_path, "alpha")[1:] == [f"WATCH {PODS} 200", "ADDED p", "ADDED q"]
    assert order(tmp_path) == [
        "beta: began", "beta: GET p 200", "beta: PATCH q 200", "beta: done",
    ]  # fmt: skip
    assert len(steps(found, FAULT, "crash")) == 1


def test_a_stall_stops_the_program(tmp_path: Path) -> None:
    """It hears nothing meanwhile, and then goes on: so the kernel has told it."""
    race = "faults:\n- stall: alpha\n  after: beta get pods/default/p\n  by: 400ms"
    found = played(
        tmp_path, race, (f"WATCH {PODS}",), f"GET {P}", f"PATCH {Q} {BODY}", f"GET {Q}",
    )  # fmt: skip
    assert order(tmp_path) == [
        "beta: began", "beta: GET p 200", "beta: PATCH q 200", "beta: GET q 200", "beta: done",
        "alpha: goes on", "alpha: MODIFIED q",
    ]  # fmt: skip
    assert len(steps(found, FAULT, "stall")) == 1


def test_a_partition_keeps_all_waiting(tmp_path: Path) -> None:
    """What is asked and what is told arrives when it is over; no connection is lost, as TCP sends
    it again."""
    race = "faults:\n- partition: alpha\n  after: beta get pods/default/p\n  for: 400ms"
    go = tmp_path / "go"
    found = played(
        tmp_path, race, (f"GET {Q}", f"AWAIT {go}", f"GET {P}", f"WATCH {PODS}"),
        f"GET {P}", f"TOUCH {go}", f"PATCH {Q} {BODY}",
    )  # fmt: skip
    assert order(tmp_path)[:6] == [
        "beta: began", "beta: GET p 200", "beta: PATCH q 200", "beta: done", "alpha: GET p 200",
        f"alpha: WATCH {PODS} 200",
    ]  # fmt: skip
    (fault,) = steps(found, FAULT, "partition")
    assert steps(found, SERVE, "get")[-1].now_ms >= fault.now_ms + 400


def test_a_broken_watch(tmp_path: Path) -> None:
    """Its connection is cut, and the program may watch again."""
    race = "faults:\n- break_watch: pods to alpha\n  after: beta get pods/default/p"
    found = played(tmp_path, race, (f"WATCH {PODS}", f"GET {Q}"), f"GET {P}")
    assert written(tmp_path, "alpha") == [
        "began", f"WATCH {PODS} 200", "ADDED p", "ADDED q", f"WATCH {PODS} broke", f"GET {Q} 200",
        "done",
    ]  # fmt: skip
    assert len(steps(found, FAULT, "break_watch")) == 1


LINE = "delivery of pods/default/q#2 to alpha"
HEARS, MADE, LOOKED = "alpha: MODIFIED q", "beta: PATCH q 200", "beta: GET q 200"


@pytest.mark.parametrize(
    ("race", "expected"),
    [
        ("", [MADE, HEARS, LOOKED]),
        ("faults:\n- lag: pods to alpha\n  at: 0s\n  by: 500ms\n  for: 10s", [MADE, LOOKED, HEARS]),
        (f"holds:\n- hold: {LINE}\n  until: answer to beta get pods/default/q",
         [MADE, LOOKED, HEARS]),
        (f"holds:\n- hold: answer to beta patch pods/default/q\n  until: {LINE}",
         [HEARS, MADE, LOOKED]),
    ],
    ids=["calm", "lag", "line", "answer"],
)  # fmt: skip
def test_who_hears_first(race: str, expected: list[str], tmp_path: Path) -> None:
    """Of a patch the program that has made it, or the one that watches, hears first, as the race
    file has it; the others wait."""
    # The World has told of the patch, or holds that back, long before it is asked again.
    patient = attrs.evolve(TIMES, quiet_s=2, silence_s=2)
    asked = (f"PATCH {Q} {BODY}", "SLEEP 0.8", f"GET {Q}")
    played(tmp_path, race, (f"WATCH {PODS}",), *asked, times=patient)
    assert [line for line in order(tmp_path) if line in (HEARS, MADE, LOOKED)] == expected


def test_a_held_request(tmp_path: Path) -> None:
    """It has arrived first, and takes effect last."""
    race = "holds:\n- hold: alpha patch pods/default/p\n  until: beta patch pods/default/p"
    found = played(tmp_path, race, (PATCH,), PATCH)
    assert [step.option.actor for step in steps(found, JOIN, "patch")] == ["alpha", "beta"]
    assert [step.option.actor for step in steps(found, SERVE, "patch")] == ["beta", "alpha"]
    assert {*order(tmp_path)} > {"alpha: PATCH p 200", "beta: PATCH p 200"}


def test_who_thinks_longer_than_a_start_is_not_cut_short(tmp_path: Path) -> None:
    """The last program to start asks once, and again when it counts as started: within the silence
    after which the Run is over."""
    played(tmp_path, "", (f"GET {P}",), f"GET {P}", "SLEEP 0.2", f"GET {Q}")
    assert order(tmp_path)[-1] == "beta: done"


@pytest.mark.parametrize("fault", ["stall: alpha\n  by: 900ms", "partition: alpha\n  for: 900ms"])
def test_a_run_does_not_end_while_a_program_cannot_ask(fault: str, tmp_path: Path) -> None:
    """Time passes until it can, though nothing else is to happen, and however short a silence ends
    the Run."""
    race = f"faults:\n- {fault}\n  after: beta get pods/default/p"
    go = tmp_path / "go"
    found = played(
        tmp_path, race, (f"GET {P}", f"AWAIT {go}", f"AGAIN GET {Q}"), f"GET {P}", f"TOUCH {go}"
    )
    assert written(tmp_path, "alpha")[-2:] == [f"GET {Q} 200", "done"]
    assert steps(found, SERVE, "get")[-1].now_ms >= 900


def test_a_fault_strikes_at_its_time_though_nothing_else_is_due(tmp_path: Path) -> None:
    """And the silence that ends the Run counts from there, so that the next life is waited for."""
    race = "faults:\n- crash: alpha\n  at: 700ms\n  restart: 100ms\n"
    found = played(tmp_path, race, (f"GET {P}", "SLEEP 60"), f"GET {P}")
    (crash,) = steps(found, FAULT, "crash")
    assert crash.now_ms == 700
    assert written(tmp_path, "alpha") == ["began", f"GET {P} 200"] * 2


def test_a_struck_run_replays_without_its_programs(tmp_path: Path) -> None:
    """A program that was killed and started, one that was cut off, and the time that passed until
    it was not: all stands in the trace."""
    race = """faults:
- crash: alpha
  after: beta get pods/default/p
  restart: 100ms
- partition: beta
  after: beta patch pods/default/q
  for: 300ms
- lose_reply: alpha get pods/default/p#2
"""
    asked = (f"GET {P}", f"PATCH {Q} {BODY}", f"AGAIN GET {Q}")
    first = played(tmp_path, race, (f"GET {P}", f"GET {P}", f"WATCH {PODS}"), *asked)
    lines = tuple(line for each in first.trace.lines() if "do" in (line := decode(each)))
    tape = Tape({"alpha", "beta"}, joined_of(lines))
    recipe = attrs.evolve(scenario.of(pair), attendance=lambda: tape)
    again = recipe.world(faults=[strike.fault for strike in race_in(race).faults])
    again.run(Replayed(lines, again="no"), driver="trio", trace=Trace({}, keep=True))
    assert [*again.trace.lines()] == [*first.trace.lines()]
