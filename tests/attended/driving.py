"""A process that plays an attended Run, to be interrupted or killed.

python driving.py FOLDER DRIVER
"""

import sys
from pathlib import Path

from testbed.attended.casting import attended_by
from testbed.attended.wall_times import WallTimes
from testbed.races.playing import play
from testbed.races.racefile import load
from testbed.world.scenario import find
from testbed.world.shelf import race_file_of
from tests.attended.attending import client

FOLDER, DRIVER = Path(sys.argv[1]), sys.argv[2]
FILE = race_file_of(find("double_bind"))

commands = {"alpha": client("asker", "WATCH /api/v1/pods"), "beta": client("stubborn")}
times = WallTimes(quiet_s=60, silence_s=60)
play(
    load(str(FILE)),
    attended_by(find("double_bind"), commands, lambda: FOLDER, times),
    driver=DRIVER,
)
