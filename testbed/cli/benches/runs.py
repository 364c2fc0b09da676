"""bench runs: whole Runs of every scenario, assembled, played and judged, compared with trio.

Plain trio, the Runs on trio and the same on the other driver are measured alternately, round by
round, and the figures are medians. Rates are by CPU time, so what else the machine does counts for
little. A *checkpoint* is what a turn cannot be cheaper than as long as trio hands it on: `ratio` is
how many turns are done while ten plain trio tasks do one checkpoint, and `checkpoints_per_run` what
a whole Run costs.

Each scenario has some time, and as many Runs as fit in it; so all of them are measured within a
minute. `--runs` says how many there are instead, for figures of the very same Runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import Any

import attrs

from testbed.choosers.uniform import Uniform
from testbed.cli.benches import load
from testbed.cli.benches.room_profile import RoomProfile
from testbed.turns.drivers.trio import checkpoints_per_s
from testbed.world.scenario import Scenario, find, known, play_runs
from testbed.world.world import World

SECONDS = 20.0
"""The time for all scenarios together; a few Runs that take seconds come on top."""
SECONDS_EACH = 5.0
"""The most for one of them, if it is measured alone."""
ROUNDS = 3
"""How many rounds there are of a stated number of Runs."""
ROUNDS_MIN = 2
"""How many there are at least, however long a Run takes."""
PLAIN_S, TRIO_S, DIRECT_S = 0.03, 0.12, 0.06
"""How long each part of a round takes; a Run that has begun is played to its end."""
MANY = 1_000_000_000


@attrs.frozen
class PlayedRuns:
    """Some Runs, and the CPU time that they took together."""

    runs: int
    turns: int
    cpu_s: float

    @property
    def runs_per_s(self) -> float:
        """How many Runs in a second."""
        return self.runs / self.cpu_s

    @property
    def turns_per_s(self) -> float:
        """How many turns in a second."""
        return self.turns / self.cpu_s


def measure(
    *,
    runs: int | None = None,
    scenario: str = "",
    profile: bool = False,
    seconds: float = SECONDS,
    tell: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """The figures of each scenario, or of the one named; with `profile`, where the time of its Runs
    goes. `tell` is called with how far it is."""
    played = [find(scenario)] if scenario else known()
    each_s = min(SECONDS_EACH, seconds / len(played))
    figures: dict[str, Any] = {}
    for number, one in enumerate(played, 1):
        where = f"{one.name}, {number} of {len(played)}"
        tell(where)
        if profile:
            figures[one.name] = _profile(one, runs, each_s)
        else:
            figures[one.name] = _figures(one, runs, each_s, partial(_tell_round, tell, where))
    return figures


def _tell_round(tell: Callable[[str], object], where: str, number: int) -> None:
    tell(f"{where}: round {number}")


def _figures(
    scenario: Scenario,
    runs: int | None,
    seconds: float,
    begins: Callable[[int], object] = lambda _: None,
) -> dict[str, Any]:
    plain: list[float] = []
    on_trio: list[PlayedRuns] = []
    direct: list[PlayedRuns] = []
    until = perf_counter() + seconds

    def is_enough() -> bool:
        if runs is not None:
            return len(plain) == ROUNDS
        return len(plain) >= ROUNDS_MIN and perf_counter() >= until

    while not is_enough():
        seed = len(plain)
        begins(seed + 1)
        # It comes first, so that what is only done once is no part of the figures with trio; and
        # if Runs take seconds, once is enough.
        if runs is not None or not direct or perf_counter() < until:
            direct.append(_played(scenario, "direct", seed, runs, DIRECT_S))
        plain.append(checkpoints_per_s(load.ACTORS, PLAIN_S, process_time))
        on_trio.append(_played(scenario, "trio", seed, runs, TRIO_S))
    pairs = [*zip(plain, on_trio, strict=True)]
    per_s, per_s_direct = (median(one.runs_per_s for one in some) for some in (on_trio, direct))
    return {
        "runs_per_s": _rounded(per_s),
        "turns_per_s": round(median(one.turns_per_s for one in on_trio)),
        "ratio": round(median(one.turns_per_s / rate for rate, one in pairs), 4),
        "checkpoints_per_run": round(median(rate / one.runs_per_s for rate, one in pairs)),
        "runs_direct_driver_per_s": _rounded(per_s_direct),
        "ratio_direct_to_trio": round(per_s_direct / per_s, 2),
    }


def _profile(scenario: Scenario, runs: int | None, seconds: float) -> dict[str, Any]:
    """Where the CPU time of its Runs goes, by room: in percent, and in microseconds a turn."""
    _played(scenario, "trio", 0, 1, 0)
    rooms = RoomProfile()
    with rooms.taken():
        played = _played(scenario, "trio", 0, runs, seconds)
    samples = max(rooms.samples.total(), 1)
    us = played.cpu_s * 1e6 / played.turns
    return {
        "runs": played.runs,
        "turns": played.turns,
        "samples": rooms.samples.total(),
        "us_per_turn": round(us, 1),
        "rooms": {
            room: {
                "percent": round(100 * count / samples, 1),
                "us_per_turn": round(us * count / samples, 2),
            }
            for room, count in sorted(rooms.samples.items(), key=lambda each: (-each[1], each[0]))
        },
    }


def _played(
    scenario: Scenario, driver: str, seed: int, runs: int | None, seconds: float
) -> PlayedRuns:
    """Play that number of Runs, or, without one, those that begin within the given seconds."""
    turns = 0

    def look(world: World) -> bool:
        nonlocal turns
        assert world.verdict is not None
        turns += world.verdict.turns
        return runs is not None or perf_counter() < until

    until, began_s = perf_counter() + seconds, process_time()
    played = play_runs(scenario, Uniform(seed), look, runs_max=runs or MANY, driver=driver)
    return PlayedRuns(played, turns, process_time() - began_s)


def _rounded(rate: float) -> float:
    """A whole number, unless that would say nothing."""
    return round(rate) if rate >= 10 else round(rate, 2)
