"""A program that sends all that no program should, in a World: nothing is written, all go on."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import attrs
import pytest

from actors.apiserver import ApiServer
from testbed import Calm, Trace, World
from testbed.attended import troupe
from testbed.attended.door import Door
from testbed.attended.doorman import Doorman
from testbed.attended.wall_times import WallTimes
from testbed.objects import Node, Pod
from tests.attended.attending import Absent, client, written
from tests.attended.malice import LIMITS
from tests.attended.programs import descriptors

TIMES = WallTimes(start_s=0.01, quiet_s=0.3, silence_s=0.3, limit_s=300)
MEMORY_MAX = 5_000_000
ASKED = "GET /api/v1/namespaces/default/pods/p"


def test_a_hostile_program_writes_nothing_and_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each row is answered as the table says; meanwhile another program is served, and at the end
    the Store is what it was, at the same revision. The memory that all this took is bounded."""
    # As long as the token of the table, since the lengths of some bodies depend on it.
    monkeypatch.setattr(troupe, "TOKEN_BYTES", 8)
    done = tmp_path / "done"
    commands = {
        "patient": client("asker", f"UNTIL {done} {ASKED}"),
        "rude": client("hostile", str(done)),
    }
    # Who is slow to send, since the machine is busy, is not to be taken for one who never does.
    limits = attrs.evolve(LIMITS, idle_s=300, linger_s=300)
    doorman = Doorman(troupe.Troupe(commands, tmp_path), TIMES, Door(limits=limits))
    world = World("hostile", attendance=doorman)
    world.serve(ApiServer)
    world.add(Node.of("n", cpu_m=1000), Pod.of("p"))
    world.start(*map(Absent, commands))
    before, opened = (world.store.revision, world.store.snapshot("")), descriptors()
    tracemalloc.start()
    try:
        verdict = world.run(Calm(), driver="direct", trace=Trace({}, keep=True))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert verdict.end == "quiet", str(verdict)
    assert verdict.why.startswith(
        "nothing was tried: no write of patient and rude was served; rude"
    )
    assert written(tmp_path, "rude") == ["that was all"]
    assert (world.store.revision, world.store.snapshot("")) == before
    assert {*written(tmp_path, "patient")[1:-1]} == {f"{ASKED} 200"}
    assert most < MEMORY_MAX
    assert descriptors() == opened
