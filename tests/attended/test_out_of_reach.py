"""Programs that start while something is still to come: time is kept."""

from __future__ import annotations

from pathlib import Path

from attending import Absent, client, written

from actors.apiserver import ApiServer
from actors.shared.user import User
from testbed import Calm, Trace, World
from testbed.attended.doorman import Doorman
from testbed.attended.troupe import Troupe
from testbed.attended.wall_times import WallTimes
from testbed.objects import Pod

TIMES = WallTimes(start_s=0.05, quiet_s=1, limit_s=60, speed=100)
GET = "GET /api/v1/namespaces/default/pods/p"
FOR_MS = 40_000


def test_time_stands_still_while_a_program_starts(tmp_path: Path) -> None:
    """A server that is behind is still behind when a program has started that asks it."""
    commands = {"visitor": client("asker", f"{GET}?resourceVersion=0")}
    world = World("visited", attendance=Doorman(Troupe(commands, tmp_path), TIMES))
    world.serve(lambda store: ApiServer(store, "api-1"))
    world.serve(lambda store: ApiServer(store, "api-2", lags=("pods",), lag_ms=FOR_MS))
    world.start(User("user", ((0, Pod.of("p")),)), at="api-1")
    world.start(Absent("visitor"), at="api-2")
    assert world.run(Calm(), driver="direct", trace=Trace({}, keep=True)).is_held
    assert written(tmp_path, "visitor")[1:] == [f"{GET}?resourceVersion=0 404 NotFound", "done"]
