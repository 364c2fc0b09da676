"""Measure kinds: every measure in `measures/`, by its name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache

from testbed.errors import UnknownName
from testbed.search.comparing import measures
from testbed.search.comparing.measure import Measure


@cache
def measure_kinds() -> dict[str, type[Measure]]:
    """Every measure by its name, in the order in which they are shown."""
    found = []
    for info in pkgutil.iter_modules(measures.__path__):
        module = importlib.import_module(f"{measures.__name__}.{info.name}")
        found += [
            value
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, Measure) and value is not Measure
        ]
    return {kind.name: kind for kind in sorted(found, key=lambda kind: (kind.place, kind.name))}


def measures_of(names: Sequence[str]) -> list[Measure]:
    """New measures of these names, all without any; UnknownName."""
    kinds = measure_kinds()
    for name in names:
        if name not in kinds:
            raise UnknownName("measure", name, kinds, see="testbed compare --help names them all")
    return [kind() for name, kind in kinds.items() if not names or name in names]
