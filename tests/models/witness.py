"""What a process makes of the same choices: digests over many traces, to be compared."""

from __future__ import annotations

import hashlib
import json
import sys

from testbed.choosers.uniform import Uniform
from testbed.cli.benches.determinism import measure
from testbed.turns.session import DRIVERS
from testbed.world.scenario import find, play_runs
from testbed.world.world import World

RUNS = 2
LOTS = 30
CRASHES = (0, 2)


def digests() -> dict[str, str]:
    """Of every scenario, without crashes and with them, and of one with faults, picks and watches;
    under each driver."""
    found = {}
    for driver in DRIVERS:
        for crashes in CRASHES:
            figures = measure(runs=RUNS, crashes=crashes, driver=driver)
            found[f"{driver}, {crashes}"] = figures["digest"]
        found[f"{driver}, lots"] = lots(driver)
    return found


def lots(driver: str) -> str:
    """Of Runs in which everything happens that a trace can hold."""
    digest = hashlib.sha256()

    def look(world: World) -> bool:
        for line in world.trace.lines():
            digest.update(line)
        return True

    scenario, switches = find("lots:drawing_lots"), {"faults": 2}
    play_runs(
        scenario, Uniform(0), look, runs_max=LOTS, switches=switches, driver=driver, keep=True
    )
    return digest.hexdigest()


if __name__ == "__main__":
    loaded = [name for name in ("hypothesis", "pytest") if name in sys.modules]
    sys.stdout.write(json.dumps({"digests": digests(), "loaded": loaded}))
