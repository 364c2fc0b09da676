"""Measure kinds: every measure in `measures/`, by its name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from testbed.errors import UnknownName
from testbed.policy import catalogue
from testbed.search.comparing import measures
from testbed.search.comparing.measure import Measure


@cache
def measure_kinds() -> dict[str, type[Measure]]:
    """Every measure by its name, in the order in which they are shown."""
    found = catalogue(measures.__name__, measures.__path__, Measure)
    return dict(sorted(found.items(), key=lambda item: (item[1].place, item[0])))


def measures_of(names: Sequence[str]) -> list[Measure]:
    """New measures of these names, all without any; UnknownName."""
    kinds = measure_kinds()
    for name in names:
        if name not in kinds:
            raise UnknownName("measure", name, kinds, see="testbed compare --help names them all")
    return [kind() for name, kind in kinds.items() if not names or name in names]
