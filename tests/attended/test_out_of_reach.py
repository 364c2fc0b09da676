"""Programs that start, stall or are cut off: time is kept, and what is sent waits to arrive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.shared.user import User
from testbed import Actor, Calm, Client, Scenario, Trace, World
from testbed.attended.casting import attended_by
from testbed.attended.doorman import Doorman
from testbed.attended.troupe import Troupe
from testbed.attended.wall_times import WallTimes
from testbed.objects import Pod
from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.turns.option import JOIN
from testbed.world.scenario import of
from tests.attended.attending import Absent, client, written

TIMES = WallTimes(start_s=0.05, quiet_s=1, limit_s=300, speed=100)
GET = "GET /api/v1/namespaces/default/pods/p"
LABELLED = '{"metadata":{"labels":{"by":"me"}}}'
SINCE_MS, FOR_MS = 1000, 40_000
PARTITION = "partition: visitor\n    for: 40s"


@attrs.frozen
class Beacon(Actor):
    """Makes a file for a program to see, once the fault has struck."""

    file: Path = Path()

    async def run(self, client: Client) -> None:
        """Wait until just after that."""
        await client.sleep(SINCE_MS + 1)
        self.file.touch()


def visit(folder: Path) -> Scenario:
    """A program asks twice, and a user creates a pod meanwhile."""

    def visited(world: World) -> None:
        world.serve(ApiServer)
        world.add(Pod.of("p"))
        user = User("user", ((SINCE_MS, Pod.of("q")),))
        world.start(Absent("visitor"), user, Beacon("beacon", folder / "go"))

    return of(visited)


def played(fault: str, folder: Path, *asked: str) -> Trace:
    """The trace of a Run that the fault strikes when the user has created its pod, and that holds
    all the same. The visitor asks this."""
    text = f"scenario: visited\nfaults:\n  - {fault}\n    after: user create pods/default/q\n"
    commands = {"visitor": client("asker", *asked)}
    recipe = attended_by(visit(folder), commands, lambda: folder, TIMES)
    trace = Trace({}, keep=True)
    verdict = play(parse(text, "race"), recipe, trace=trace, driver="direct").verdict
    assert (verdict.end, verdict.violations) == ("quiet", ())
    return trace


@pytest.mark.parametrize("fault", [PARTITION, "stall: visitor\n    by: 40s"])
def test_who_is_out_of_reach_goes_on_later(fault: str, tmp_path: Path) -> None:
    """It does so at the end of that time, though nothing else is due then; and what it sends while
    it is cut off joins when it can be reached again, and is answered."""
    trace = played(fault, tmp_path, GET, f"AWAIT {tmp_path / 'go'}", GET)
    told = [line for line in written(tmp_path, "visitor") if line != "goes on"]
    assert told == ["began", *[f"{GET} 200"] * 2, "done"]
    first, second = (step.now_ms for step in trace.steps if step.kind == JOIN)
    assert first == 0
    assert second >= SINCE_MS + FOR_MS


def test_a_line_for_a_watch_that_was_closed_is_dropped(tmp_path: Path) -> None:
    """The server learns that the program has gone at the moment at which the line arrives."""
    played(PARTITION, tmp_path, "LEAVE 0.2 /api/v1/pods", "SLEEP 0.4")
    assert written(tmp_path, "visitor")[1:] == ["LEFT /api/v1/pods", "done"]


def test_time_stands_still_while_a_program_starts(tmp_path: Path) -> None:
    """A server that is behind is still behind when a program has started that asks it."""
    commands = {"visitor": client("asker", f"{GET}?resourceVersion=0")}
    world = World("visited", attendance=Doorman(Troupe(commands, tmp_path), TIMES))
    world.serve(lambda store: ApiServer(store, "api-1"))
    world.serve(lambda store: ApiServer(store, "api-2", lags=("pods",), lag_ms=FOR_MS))
    world.start(User("user", ((0, Pod.of("p")),)), at="api-1")
    world.start(Absent("visitor"), at="api-2")
    assert world.run(Calm(), driver="direct", trace=Trace({}, keep=True)).end == "quiet"
    assert written(tmp_path, "visitor")[1:] == [f"{GET}?resourceVersion=0 404 NotFound", "done"]


def test_what_a_program_has_sent_before_it_ended_is_served(tmp_path: Path) -> None:
    """It does not wait for the answer, which nobody hears."""
    patch = f"PATCH /api/v1/namespaces/default/pods/p {LABELLED}"
    commands = {"visitor": client("asker", GET, f"SEND {patch}")}
    world = World("visited", attendance=Doorman(Troupe(commands, tmp_path), TIMES))
    world.serve(ApiServer)
    world.add(Pod.of("p"))
    world.start(Absent("visitor"))
    assert world.run(Calm(), driver="direct", trace=Trace({}, keep=True)).is_held
    pods: list[Any] = [entry.value for entry in world.store.snapshot("pods/")]
    assert [dict(pod.meta.labels) for pod in pods] == [{"by": "me"}]
