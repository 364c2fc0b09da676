"""Restarts: containers that end are started again, each time later; what is said meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from actors.kubelet import Workload
from actors.kubelet.back_off import BackOff
from testbed.world.world import World
from tests.shared.nodes import bound, calm, node_world, story


def crashing(runs_ms: int = 1000, exit_code: int = 1, times: int = 3, **spec: Any) -> World:
    """A pod whose containers end so often, and then run on."""
    work = Workload(runs_ms=(*[runs_ms] * times, None), exit_code=exit_code)
    return node_world(work.given_to(bound("a", **spec)))


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


@pytest.mark.spec("KUB-17")
def test_a_success_ends_what_runs_again_on_failure() -> None:
    """It fails, runs again, and succeeds: it is over, and only then."""
    work = Workload(runs_ms=1000, exit_code=(1, 0))
    world = node_world(work.given_to(bound("a", restart_policy="OnFailure")))
    calm(world)
    assert story(world, "a")[-3:] == ["1000 Running", "1000 Running Ready", "2000 Succeeded"]


@pytest.mark.spec("KUB-17")
def test_the_back_off_doubles_up_to_five_minutes() -> None:
    """10, 20, 40, 80, 160 and 300 seconds."""
    back_off, now_ms, waited = BackOff(), 0, []
    for _ in range(8):
        due_ms = back_off.due_ms(now_ms)
        waited.append(due_ms - now_ms)
        back_off.restarted(now_ms, due_ms)
        now_ms = due_ms
    assert waited == [s * 1000 for s in (0, 10, 20, 40, 80, 160, 300, 300)]


@pytest.mark.spec("KUB-17")
@pytest.mark.parametrize(("ran_ms", "waits"), [(600_000, 20_000), (600_001, 0)])
def test_the_back_off_begins_anew_after_ten_minutes(ran_ms: int, waits: int) -> None:
    """What has run for longer than that is started again at once, and then after 10 s."""
    back_off = BackOff()
    back_off.restarted(0, 0)
    back_off.restarted(0, 10_000)
    ended_ms = 10_000 + ran_ms
    assert back_off.due_ms(ended_ms) == ended_ms + waits
    back_off.restarted(ended_ms, ended_ms + waits)
    assert back_off.wait_ms == (40_000 if waits else 10_000)
