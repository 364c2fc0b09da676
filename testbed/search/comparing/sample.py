"""Sample: what a measure has found in one Run. Figure: one number made of the Samples of many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import attrs

PER_RUN, SHARE, TIME, TIME_PER_RUN = "per run", "share", "ms", "ms per run"
"""How a Figure is to be read."""


@attrs.frozen
class Sample:
    """What one Run has shown, in whole numbers."""

    count: int = 0
    """How often something has happened."""
    of: int = 0
    """Among how many; 0 unless the measure is a share."""
    times_ms: tuple[int | None, ...] = ()
    """How long each of some things took; None: it has not happened by the end of the Run."""


Samples = Sequence[Sample]


@attrs.frozen
class Figure:
    """A number made of the Samples of several Runs."""

    name: str
    unit: str
    value: Callable[[Samples], float | None]
    """None: it cannot be told, since there is nothing to tell it of."""
    is_exact: bool = False
    """Whether it is a whole number of each Run, so that equal Runs leave no doubt."""


def _mean(samples: Samples) -> float | None:
    return sum(each.count for each in samples) / len(samples) if samples else None


def _share(samples: Samples) -> float | None:
    of = sum(each.of for each in samples)
    return sum(each.count for each in samples) / of if of else None


def _quantile(percent: int, samples: Samples) -> float | None:
    """A percentile of all times; endless if too few of them ever happen."""
    times = [each for sample in samples for each in sample.times_ms]
    if not times:
        return None
    known = sorted(each for each in times if each is not None)
    place = -(-percent * len(times) // 100) - 1
    return float(known[place]) if place < len(known) else float("inf")


def per_run(name: str) -> Figure:
    """The mean count of a Run."""
    return Figure(name, PER_RUN, _mean, is_exact=True)


def time_per_run(name: str) -> Figure:
    """The mean of the counts of a Run, each of them a time in ms."""
    return Figure(name, TIME_PER_RUN, _mean, is_exact=True)


def share(name: str) -> Figure:
    """All counts, divided by all that they are counted among."""
    return Figure(name, SHARE, _share)


def quantile(name: str, percent: int) -> Figure:
    """The time within which that many percent happen, over all Runs together."""
    return Figure(name, TIME, partial(_quantile, percent))
