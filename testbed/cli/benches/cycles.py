"""Cycles: how many pods a scheduler decides per second, in Worlds of different sizes.

Each size is played alternately with plain trio checkpoints; the figures are medians. `cycle` counts
only the time within the scheduling cycles: snapshot, filters, scores or preemption, the record of
why, the assume step, and the writes for victims and pod, but not the waits for answers. `whole`
counts the time of the whole World from its first turn to its last, with the API server, watches,
binds, Events, and a trace that is kept but not rendered.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Sequence
from importlib import import_module
from math import log
from statistics import median
from time import perf_counter
from typing import Any

from testbed.choosers.calm import Calm
from testbed.cli.benches import load
from testbed.turns.drivers.trio import checkpoints_per_s
from testbed.turns.garbage import collected_between
from testbed.turns.trace import Trace
from testbed.world.world import World

ROUNDS = 3
TURNS_MAX = 10_000_000
VIRTUAL_MS = 500
"""All pods are decided at once; a requeued pod is not waited for."""
Fill = Callable[[World, int, int], None]
"""Adds this many nodes, and pods to decide on, to a World."""
Play = Callable[[Fill, int, int], tuple[float, float]]
"""Decisions per second of one World: by the time that they took, and by the whole time."""


class Stopwatch:
    """The time that the cycles of one World took, and their number."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.decided = 0


class Timed:
    """A coroutine that is timed while it moves, and not while it waits. No request fails here, so
    no error is ever raised into it."""

    def __init__(self, stopwatch: Stopwatch, moves: Coroutine[Any, Any, None]) -> None:
        self._stopwatch = stopwatch
        self._moves = moves

    def __await__(self) -> Generator[Any, Any, None]:
        answer: Any = None
        while True:
            began = perf_counter()
            try:
                asked = self._moves.send(answer)
            except StopIteration:
                return
            finally:
                self._stopwatch.seconds += perf_counter() - began
            answer = yield asked


def measure(
    fill: Fill, nodes: Sequence[int], pods: int, rounds: int, done: Any, play: Play | None = None,
    name: str = "cycle",
) -> dict[str, Any]:  # fmt: skip
    """Decisions per second at each size, also per thousand checkpoints of plain trio; and the
    exponent by which the cost of one grows with the nodes: 1 in proportion, 0 not at all. Another
    `play` measures another program, and calls what it does by that name."""
    play = play or played
    plain: list[float] = []
    cycles: dict[int, list[float]] = {size: [] for size in nodes}
    wholes: dict[int, list[float]] = {size: [] for size in nodes}
    per: dict[tuple[str, int], list[float]] = {}
    for _ in range(rounds):
        for size in nodes:
            plain.append(rate := checkpoints_per_s(load.ACTORS, 0.3))
            with collected_between():
                cycle, whole = play(fill, size, pods)
            cycles[size].append(cycle)
            wholes[size].append(whole)
            per.setdefault(("cycle", size), []).append(1000 * cycle / rate)
            per.setdefault(("whole", size), []).append(1000 * whole / rate)
            done(1)
    figures: dict[str, Any] = {"trio_checkpoints_per_s": round(median(plain))}
    for size in nodes:
        figures[f"nodes_{size}"] = {
            f"{name}_per_s": rounded(median(cycles[size])),
            "whole_per_s": rounded(median(wholes[size])),
            f"{name}_per_1000_checkpoints": round(median(per["cycle", size]), 4),
            "whole_per_1000_checkpoints": round(median(per["whole", size]), 4),
            f"whole_to_{name}": round(median(_ratios(wholes[size], cycles[size])), 2),
        }
    if len(nodes) > 1:
        figures[f"{name}_exponent"] = round(exponent(cycles), 2)
        figures["whole_exponent"] = round(exponent(wholes), 2)
    return figures


def played(fill: Fill, nodes: int, pods: int) -> tuple[float, float]:
    """Decisions per second of one World: by the time within its cycles, and by the whole time."""
    world, stopwatch = World("bench"), Stopwatch()
    world.limit(
        turns_max=TURNS_MAX, instant_turns_max=TURNS_MAX, virtual_ms_max=VIRTUAL_MS,
        trace_bytes_max=1 << 40,
    )  # fmt: skip
    # The testbed may not import `actors`, so they are found by name.
    world.serve(import_module("actors.apiserver").ApiServer)
    fill(world, nodes, pods)
    module = import_module("actors.scheduler.scheduler")

    class TimedLoop(module.SchedulingLoop):  # type: ignore[misc, name-defined]
        """A scheduling loop whose cycles are timed."""

        async def cycle(self, queued: Any) -> None:
            """Time and count one cycle."""
            stopwatch.decided += 1
            await Timed(stopwatch, super().cycle(queued))

    class TimedScheduler(module.Scheduler):  # type: ignore[misc, name-defined]
        """A scheduler with that loop."""

        loop = TimedLoop

    world.start(TimedScheduler("default-scheduler"))
    began = perf_counter()
    world.run(Calm(), trace=Trace({}, keep=True))
    seconds = perf_counter() - began
    return stopwatch.decided / stopwatch.seconds, stopwatch.decided / seconds


def rounded(rate: float) -> float:
    """To whole numbers where these say enough."""
    return round(rate) if rate >= 100 else round(rate, 2)


def exponent(rates: dict[int, list[float]]) -> float:
    """The exponent of the cost of one decision against the nodes: the slope of the logarithms, by
    least squares."""
    points = [(log(size), -log(median(some))) for size, some in rates.items()]
    x = sum(each for each, _ in points) / len(points)
    y = sum(each for _, each in points) / len(points)
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def _ratios(some: Sequence[float], others: Sequence[float]) -> list[float]:
    return [one / other for one, other in zip(some, others, strict=True)]
