"""Footprints are exact: what they say commutes does, Step by Step, in every World there is here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from testbed import confluent
from testbed.world.scenario import find
from testbed.world.world import World
from tests.models.linear import holes
from tests.models.side_by_side import FAULTS, clerks, pods, world

WORLDS: dict[str, Callable[..., World]] = {
    "two creators": partial(world, "creates", "creates2", "hears"),
    "memory that is shared": partial(world, "creates", "hears", "writes", apart=False),
    "a watch on the past": partial(world, "creates", "writes", "hears_late"),
    "tasks of one actor": partial(world, "shares", "shares2"),
    "writers with deadlines": partial(world, "writes", "writes2", "hears"),
    "readers of the past": partial(world, "looks_back", "looks_back2", "writes"),
    "a store that forgets": partial(world, "looks_back", "writes", "hears_late", window=2),
    "declared fields": pods,
    "two endpoints": clerks,
}
SCENARIOS = ("lost_update", "late_short_write", "double_bind", "tests.shared.lots:drawing_lots")


def scenario(name: str, *, faults: bool = False) -> World:
    """One that is played elsewhere, too; with every fault allowed, or none."""
    found = find(name).world()
    if faults:
        found.allow(*FAULTS)
    return found


for name in SCENARIOS:
    WORLDS[name] = partial(scenario, name)
BUILDS = pytest.mark.parametrize("build", WORLDS.values(), ids=WORLDS)
FAULTY = pytest.mark.parametrize("faults", [False, True], ids=["calm", "faults"])


@BUILDS
@FAULTY
def test_what_does_not_clash_can_be_played_in_any_order(
    build: Callable[..., World], *, faults: bool
) -> None:
    """Random Runs, and of each two other orders that keep to what is ordered. Each Step is there,
    does what it did, and all that can be told of the Run in the end is the same; and nothing that
    one Step has made possible is taken away by another that is not ordered with it."""
    for seed in range(6):
        assert not holes(partial(build, faults=faults), seed, 2), f"seed {seed}"


def compared(build: Callable[..., World]) -> World:
    """One with all faults in which `confluent` wants to know where each of them strikes."""
    world = build(faults=True)
    world.claim(confluent())
    return world


@BUILDS
def test_faults_strike_at_the_same_points_in_any_order(build: Callable[..., World]) -> None:
    """Else two Runs of one class would be compared with two calm runs, and a complete search, which
    plays one of them, could say the wrong thing of the other."""
    for seed in range(8):
        assert not holes(partial(compared, build), seed, 3), f"seed {seed}"


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("two creators", 98), ("memory that is shared", 297), ("declared fields", 130),
        ("double_bind", 87), ("two endpoints", 83), ("two endpoints", 118),
    ],
)  # fmt: skip
def test_what_has_ended_is_ordered_with_what_comes_upon_its_end(name: str, seed: int) -> None:
    """A commit after a watch has expired, and before its reader is told; a watch that is broken, or
    ends with its life, and its Endpoint goes down; a task that moves, and a death that would have
    ended it; a feed that a compaction leaves nothing to read. The long run found these, each with
    all faults."""
    assert not holes(partial(WORLDS[name], faults=True), seed, 4)


@pytest.mark.long
@BUILDS
@FAULTY
def test_what_does_not_clash_can_be_played_in_any_order_at_length(
    build: Callable[..., World], *, faults: bool
) -> None:
    """The same, of many more."""
    for seed in range(400):
        assert not holes(partial(build, faults=faults), seed, 4), f"seed {seed}"
