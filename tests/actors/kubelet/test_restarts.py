"""Restarts: containers that end are started again, each time later; what is said meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from actors.kubelet import Workload
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.nodes import bound, calm, node_world, pod_of, story


def crashing(runs_ms: int = 1000, exit_code: int = 1, times: int = 3, **spec: Any) -> World:
    """A pod whose containers end so often, and then run on."""
    work = Workload(runs_ms=(*[runs_ms] * times, None), exit_code=exit_code)
    return node_world(work.given_to(bound("a", **spec)))


def restarts(world: World) -> list[int]:
    """When containers were started again."""
    return [record.now_ms for record in world.evidence.records if record.name == "restarted"]


@pytest.mark.spec("KUB-17")
@each_row(("policy", "exit_code"), [("Always", 0), ("Always", 1), ("OnFailure", 1)])
def test_containers_that_end_are_started_again_later_and_later(policy: str, exit_code: int) -> None:
    """At once, then after 10 s, then after twice that, counted from their end."""
    world = crashing(restart_policy=policy, exit_code=exit_code)
    calm(world)
    assert restarts(world) == [1000, 12_000, 33_000]
    (container,) = pod_of(world, "a").status.container_statuses
    assert (container.ready, container.restart_count) == (True, 3)
    ended = container.last_state.terminated
    assert (ended.exit_code, ended.started_ms, ended.finished_ms) == (exit_code, 12_000, 13_000)
    assert pod_of(world, "a").status.phase == "Running"


@pytest.mark.spec("KUB-17")
def test_what_waits_to_be_started_again_says_so() -> None:
    """First that it ended, and it is ready no more; then it waits, in CrashLoopBackOff."""
    world = crashing(times=2)
    states = []
    calm(world)
    for change in world.store.log("pods").after(0):
        pod: Any = change.after
        for container in pod.status.container_statuses:
            states.append((container.ready, container.restart_count, container.state))
    assert [(ready, count) for ready, count, _ in states] == [
        (True, 0), (False, 0), (True, 1), (False, 1), (True, 2),
    ]  # fmt: skip
    assert states[1][2].terminated.reason == "Error"
    waiting = states[3][2].waiting
    assert (waiting.reason, waiting.message) == (
        "CrashLoopBackOff",
        "back-off 10s restarting failed container=main pod=a_default(scenario-2)",
    )
    assert story(world, "a") == [
        "0 Pending", "0 Running Ready", "1000 Running", "1000 Running Ready", "2000 Running",
        "12000 Running Ready",
    ]  # fmt: skip
