"""Retold: what ours does in the place of the real scheduler, with all else as it was recorded.

Each recording is played as a race, which says how long requests take, how late watches are, what
fails and what is held back. A recording with faults has a race file of its own in `timelines/`. For
all others there are two, for a watch that is late and one that is not; the recording says the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from actors.scheduler import Scheduler
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.races.pattern import EVERY, Pattern
from testbed.races.playing import play
from testbed.races.race import Hold, Race, Strike
from testbed.races.racefile import load
from testbed.turns.option import DELIVER, SERVE, START
from testbed.world.scenario import of
from testbed.world.world import World
from tests.conformance.recorded import BEGINS_MS, Recording
from tests.models.observed import (
    DISRUPTED,
    Attempt,
    Details,
    Write,
    attempts_of,
    final_of,
    writes_of,
)
from tests.models.timelines import SCHEDULER, build
from tests.models.visible import visible

FOLDER = Path(__file__).parent / "timelines"


@attrs.frozen
class Did:
    """What ours did in the same setting, with times from the same second."""

    writes: list[Write]
    attempts: list[Attempt]
    final: list[Details]
    visible: list[str]
    again: str
    """How to play it again."""


def did(recording: Recording) -> Did:
    """Play it with our scheduler."""

    def recorded(world: World) -> None:
        build(world, recording.cluster(), *map(Scheduler, recording.schedulers))

    race, schedulers = race_of(recording), recording.schedulers
    played = play(race, of(recorded, race.scenario))
    world = played.world
    assert not world.verdict or not world.verdict.violations, str(world.verdict)
    lines = [fate for fate in played.fates if fate.deviation.line]
    idle = [str(fate.deviation) for fate in lines if not fate.took_place]
    assert not idle, f"{recording.id}: these lines of its race made no difference: {idle}"
    # Of several schedulers the recordings tell only of the first when it tried which pod.
    return Did(
        [_since(write) for write in writes_of(world, *schedulers)],
        [_since(attempt) for attempt in attempts_of(world, schedulers[0])],
        list(final_of(world)),
        visible(world, BEGINS_MS),
        f"Its race is:\n{race.text()}",
    )


def _since(seen: Any) -> Any:
    """The same with times from the first second."""
    if isinstance(seen, Write) and "deletionTimestamp" in seen.details:
        until_s = seen.details["deletionTimestamp"] - BEGINS_MS / 1000
        seen = attrs.evolve(seen, details={**seen.details, "deletionTimestamp": until_s})
    return attrs.evolve(seen, at_ms=seen.at_ms - BEGINS_MS)


# -- its race -------------------------------------------------------------------------------------


def race_of(recording: Recording) -> Race:
    """The deviations from the calm run. The start of the scheduler sets when its timers fire."""
    own = FOLDER / f"{recording.id}.yaml"
    race = _file(own) if own.exists() else _usual(recording)
    starts = [Hold(Pattern(START, name), recording.tick_ms) for name in recording.schedulers]
    return attrs.evolve(race, holds=(*_late_news(recording), *race.holds, *starts))


def _usual(recording: Recording) -> Race:
    """A late watch or not, with the crashes that were seen."""
    race = _file(FOLDER / ("late.yaml" if recording.lag_ms else "prompt.yaml"))
    faults = [
        attrs.evolve(strike, fault=attrs.evolve(strike.fault, by_ms=recording.lag_ms))
        if isinstance(strike.fault, Lag)
        else strike
        for strike in race.faults
    ]
    return attrs.evolve(race, faults=(*faults, *_crashes(recording)))


@cache
def _file(path: Path) -> Race:
    return load(str(path))


def _crashes(recording: Recording) -> Iterator[Strike]:
    """Each time it was killed, and how long it stayed away."""
    killed = recording.seen("user", "kill-9")
    started = recording.seen("user", "restart")
    for dead, alive in zip(killed, started, strict=True):
        down_ms = round((alive["t"] - dead["t"]) * 1000)
        crash = Crash(SCHEDULER, restart_after_ms=down_ms)
        yield Strike(crash, SCHEDULER, None, "at", BEGINS_MS + round(dead["t"] * 1000))


def _late_news(recording: Recording) -> Iterator[Hold]:
    """The events of the first cycle of a pod come back within that cycle in most trials, not in
    all: if a preemptor did not back off, they came later (SCH-18)."""
    if recording.lag_ms:
        return
    for tried in recording.tried():
        is_first = (tried.number, tried.life) == (1, 1)
        if not is_first or tried.then != "Unschedulable" or "preemption:" in tried.result:
            continue
        who = recording.owners[tried.pod]
        over = Pattern(SERVE, who, "patch", f"pods/default/{tried.pod}/status")
        for write in recording.writes():
            if write.at_ms == tried.at_ms and DISRUPTED in write.details:
                yield Hold(Pattern(DELIVER, who, "", f"pods/default/{write.pod}", EVERY), over)
