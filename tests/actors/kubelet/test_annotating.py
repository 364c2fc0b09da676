"""Annotating: a pod that runs behaves from then on as its new annotations say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pytest

from testbed import Client
from testbed.objects import Map, Pod
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.nodes import at, bound, calm, node_world, pod_of, runtime

RUNS, MEMORY = "workload.testbed/runs-ms", "usage.testbed/memory"


async def annotate(client: Client, annotations: Mapping[str, str]) -> None:
    """Write annotations on the pod."""
    await client.patch(Pod("a"), {"metadata": {"annotations": dict(annotations)}})


def annotated(at_ms: int, annotations: Mapping[str, str], **before: str) -> World:
    """A pod that gets these annotations while it runs."""
    pod = bound("a", restart_policy="Never").with_meta(annotations=Map(before))
    return node_world(pod, user=at((at_ms, partial(annotate, annotations=annotations))))


@each_row(("runs_ms", "ended_ms"), [("9000", 9000), ("1000", 5000)])
def test_a_pod_completes_when_it_is_told_to(runs_ms: str, ended_ms: int) -> None:
    """After that time since its start, but not before it was told."""
    world = annotated(5000, {RUNS: runs_ms})
    calm(world)
    (container,) = pod_of(world, "a").status.container_statuses
    assert pod_of(world, "a").status.phase == "Succeeded"
    assert container.state.terminated.finished_ms == ended_ms


@pytest.mark.spec("KUB-23")
def test_a_pod_uses_what_it_is_told_to() -> None:
    """From then on, counted from its start; one of several usages is drawn."""
    world = annotated(5000, {MEMORY: "0s=900M 60s=1G | 800M"}, **{MEMORY: "100M"})
    calm(world)
    (used,) = runtime(world).stats(world.evidence.now_ms).pods.values()
    assert used.amounts["memory"] == 900 * 10**6


def test_annotations_that_say_nothing_new_change_nothing() -> None:
    """Its end stays where it was."""
    world = annotated(5000, {"team": "a"}, **{RUNS: "4000"})
    calm(world)
    (container,) = pod_of(world, "a").status.container_statuses
    assert container.state.terminated.finished_ms == 4000


@pytest.mark.spec("KUB-17", "KUB-23")
def test_containers_that_wait_to_be_started_again_read_the_new_annotations() -> None:
    """When they are started, and not only when their pod is next looked at: what crashes at once
    could not be mended then."""
    pod = bound("a").with_meta(annotations=Map({RUNS: "0", MEMORY: "100M"}))
    mended = {RUNS: "never", MEMORY: "1G | 200M"}
    world = node_world(pod, user=at((5000, partial(annotate, annotations=mended))))
    calm(world)
    (container,) = pod_of(world, "a").status.container_statuses
    assert (container.restart_count, container.state.running.started_ms) == (2, 10_000)
    (used,) = runtime(world).stats(world.evidence.now_ms).pods.values()
    assert used.amounts["memory"] == 10**9
