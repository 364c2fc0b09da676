"""bench turns: turns per second, compared with ten plain trio tasks that only checkpoint.

A turn is one Option performed; an operation takes two, its serve and its answer. Turns and
checkpoints are measured alternately; the figures are medians.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from statistics import median
from time import perf_counter
from typing import Any

from testbed.choosers.uniform import Uniform
from testbed.cli.benches import load
from testbed.turns.drivers.trio import checkpoints_per_s
from testbed.turns.garbage import collected_between
from testbed.turns.trace import Trace

ROUNDS = 5
TURNS = 40_000


def measure(
    rounds: int = ROUNDS, turns: int = TURNS, *, tell: Callable[[str], object] = lambda _: None
) -> dict[str, Any]:
    """Ten actors that read, and ten that write, with uniform choices and the full trace kept."""
    plain, reads, writes, direct, handoffs = [], [], [], [], []
    for number in range(rounds):
        tell(f"round {number + 1} of {rounds}")
        plain.append(checkpoints_per_s(load.ACTORS, 0.3))
        rate, switched = _turns_per_s(load.NoteReader, turns, number, "trio")
        reads.append(rate)
        handoffs.append(switched)
        writes.append(_turns_per_s(load.Writer, turns, number, "trio")[0])
        direct.append(_turns_per_s(load.NoteReader, turns, number, "direct")[0])
    return {
        "trio_checkpoints_per_s": round(median(plain)),
        "trio_tasks": load.ACTORS,
        "turns_per_s": round(median(reads)),
        "ratio": round(median(r / p for r, p in zip(reads, plain, strict=True)), 3),
        "handoffs_per_s": round(median(handoffs)),
        "turns_with_writes_per_s": round(median(writes)),
        "ratio_with_writes": round(median(w / p for w, p in zip(writes, plain, strict=True)), 3),
        "turns_direct_driver_per_s": round(median(direct)),
    }


def _turns_per_s(
    kind: type[load.NoteReader] | type[load.Writer], turns: int, seed: int, driver: str
) -> tuple[float, float]:
    """Turns per second, and how often per second the turn went from one task to another."""
    world = load.world(kind, turns)
    trace = Trace({}, keep=True)
    with collected_between():
        began = perf_counter()
        verdict = world.run(Uniform(seed), driver=driver, trace=trace)
        seconds = perf_counter() - began
    moved = [step.option.path for step in trace.steps if step.option.seat is not None]
    switched = sum(one != other for one, other in pairwise(moved))
    return verdict.turns / seconds, switched / seconds
