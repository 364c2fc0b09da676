"""The race files that stand beside the scenarios."""

from __future__ import annotations

from pathlib import Path

from testbed.races.race import Race
from testbed.races.racefile import load
from testbed.world.scenario import find
from testbed.world.shelf import race_file_of


def file_of(name: str) -> Path:
    """The race file of the scenario of that name."""
    file = race_file_of(find(name))
    assert file is not None, name
    return file


def race_named(name: str) -> Race:
    """The race in it."""
    return load(str(file_of(name)))
