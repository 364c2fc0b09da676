"""A Run does not depend on what its process has played before: nothing outlives a World."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.world.scenario import known
from tests.models.worlds import alone

PLAYS = Path(alone.__file__)


def digests(*numbers: int, hash_seed: int = 0) -> dict[int, str]:
    """The digest of each of these Runs, played in this order in a process of their own."""
    done = subprocess.run(
        [sys.executable, str(PLAYS), *map(str, numbers)],
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = (line.split() for line in done.stdout.splitlines())
    return {int(number): digest for number, digest in lines}


def test_a_run_of_each_scenario_is_the_same_in_any_company() -> None:
    """One after another, under each sampler; and in two fresh processes, backwards, so that each
    has others before it, and two have none."""
    count, samplers = len(known()), len(alone.SAMPLERS)
    numbers = [place + count * (place % samplers) for place in range(count)]
    together = digests(*numbers)
    assert len(together) == len(set(together.values())) == len(known())
    assert {alone.recipe_of(number).name for number in numbers} == {each.name for each in known()}
    for first in range(2):
        apart = digests(*reversed(numbers[first::2]), hash_seed=first + 1)
        assert apart == {number: together[number] for number in apart}


@pytest.mark.long
def test_two_thousand_runs_are_the_same_alone() -> None:
    """All in one process, and each in a fresh one."""
    together = digests(*range(2_000))
    for number in range(2_000):
        assert digests(number, hash_seed=number) == {number: together[number]}
