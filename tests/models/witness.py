"""What a process makes of the same choices: digests over many traces, to be compared."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.cli.benches.determinism import measure
from testbed.turns.trace import Trace
from testbed.world.scenario import find, play_runs
from testbed.world.world import World

RUNS = 1
LOTS = 30
CRASHES = (0, 2)
LAPS = ("add_remove_loop", "descheduler_pingpong", "hostile_schedulers")
"""Of these only the calm Run is heard, which plays a lap again."""
SLOW = (*LAPS, "pressure_pingpong")
"""Random Runs of these play laps again for seconds."""


def heard(driver: str) -> dict[str, Any]:
    """The digests of every scenario, without crashes and with them, and of one with faults, picks
    and watches; and how many faults have struck with so many crashes allowed."""
    digests, struck = {"lots": lots(driver), "laps": laps(driver)}, []
    for crashes in CRASHES:
        figures = measure(runs=RUNS, crashes=crashes, left_out=SLOW, driver=driver)
        digests[f"{crashes} crashes"] = figures["digest"]
        struck.append(figures["crashes"])
    return {"digests": digests, "struck": struck}


def laps(driver: str) -> str:
    """Of Runs in which a ping-pong is proved by playing a lap of it again."""
    digest = hashlib.sha256()
    for name in LAPS:
        trace = Trace({}, keep=True)
        find(name).world().run(Calm(), driver=driver, trace=trace)
        digest.update(trace.digest().encode())
    return digest.hexdigest()


def lots(driver: str) -> str:
    """Of Runs in which everything happens that a trace can hold."""
    digest = hashlib.sha256()

    def look(world: World) -> bool:
        for line in world.trace.lines():
            digest.update(line)
        return True

    scenario, switches = find("tests.shared.lots:drawing_lots"), {"faults": 2}
    play_runs(
        scenario, Uniform(0), look, runs_max=LOTS, switches=switches, driver=driver, keep=True
    )
    return digest.hexdigest()


if __name__ == "__main__":
    loaded = [name for name in ("hypothesis", "pytest") if name in sys.modules]
    sys.stdout.write(json.dumps({**heard(sys.argv[1]), "loaded": loaded}))
