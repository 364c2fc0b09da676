"""Ticks: timers fire at the times of the real ones, and only if there is work."""

from __future__ import annotations

import pytest

from testbed.client.client import Client
from testbed.faults.clock_step import ClockStep
from testbed.faults.stall import Stall
from testbed.objects import Pod
from testbed.turns.trace import Step
from tests.shared.scheduling import attempts, cluster, pending, there
from tests.shared.stage import play


def ticks(steps: list[Step]) -> list[str]:
    """When each timer fired."""
    return [f"{step.now_ms} {step.option.verb}" for step in steps if step.kind == "wake"
            and step.option.verb.startswith("flush")]  # fmt: skip


@pytest.mark.spec("SCH-13")
def test_a_pod_that_waits_for_too_long_is_tried_at_the_next_tick() -> None:
    """Every thirty seconds, pods that have been unschedulable for more than five minutes are
    moved."""

    async def user(client: Client) -> None:
        await client.sleep(60_000)
        await client.create(pending("d", 20))

    world = cluster(there("a", 9), pending("c", 20), user=user)
    world.limit(until_ms=800_000)
    played = play(world)
    assert played.verdict.until_ms == 800_000
    tried = [each.split()[:2] for each in attempts(world)]
    assert tried == [
        ["0", "c#1"], ["60000", "d#1"], ["330000", "c#2"], ["390000", "d#2"], ["660000", "c#3"],
        ["720000", "d#3"],
    ]  # fmt: skip


@pytest.mark.spec("SCH-11", "SCH-12")
def test_a_pod_is_left_alone_for_longer_each_time() -> None:
    """Its backoff ends at the first whole second after it, as the scheduler counts seconds."""

    async def user(client: Client) -> None:
        await client.sleep(300)
        await client.create(pending("c", 20))
        for n in range(60):
            await client.sleep(500)
            await client.patch(Pod("c"), {"metadata": {"labels": {"n": str(n)}}})

    world = cluster(there("a", 9), user=user)
    play(world)
    tried = [int(each.split()[0]) for each in attempts(world)]
    assert tried == [300, 2000, 4000, 8000, 16_000, 26_000, 36_000]


@pytest.mark.spec("SCH-12")
def test_a_tick_that_was_late_moves_those_after_it() -> None:
    """The period slides: the next one begins when the work of the last is done."""

    async def user(client: Client) -> None:
        await client.sleep(300)
        await client.create(pending("c", 20))
        for n in range(20):
            await client.sleep(500)
            await client.patch(Pod("c"), {"metadata": {"labels": {"n": str(n)}}})

    world = cluster(there("a", 9), user=user)
    world.allow(Stall("alpha", by_ms=2500))
    played = play(world, "serve user/main patch pods/default/c#3", "fault * stall alpha")
    assert played.only("fault * stall alpha").now_ms == 1800
    assert [each.split()[0] for each in ticks(played.steps)] == ["4300", "6300", "10300"]


@pytest.mark.spec("SCH-126")
def test_no_tick_goes_by_a_clock_that_somebody_sets() -> None:
    """A step of the clock moves no timer."""
    world = cluster(there("a", 9), pending("c", 20))
    world.allow(ClockStep("alpha"))
    world.limit(until_ms=400_000)
    played = play(world, "start alpha/flush*", "fault * clock_step *")
    assert ticks(played.steps) == ["330000 flush unschedulable"]


def test_a_world_with_nothing_to_flush_comes_to_rest() -> None:
    """No timer of it is left."""
    world = cluster(pending("c"))
    assert ticks(play(world).steps) == []
