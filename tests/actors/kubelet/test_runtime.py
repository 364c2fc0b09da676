"""The runtime of a node: containers by what was asked of them and by the time."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.kubelet.containers import STOPPED, Ended, Report
from actors.kubelet.runtime import Runtime
from actors.kubelet.workload import Workload
from testbed.errors import Invalid, NotFound, ScenarioError
from testbed.objects import Map, Pod
from testbed.store.store import Store
from tests.each_row import each_row
from tests.shared.nodes import ask


@pytest.fixture
def runtime() -> Runtime:
    """One that runs nothing yet."""
    return Runtime(Store(), "n1")


def started(runtime: Runtime, workload: Workload | None = None, *, now_ms: int = 0) -> None:
    """The containers of a pod, started."""
    pod = (workload or Workload()).given_to(Pod.of("x").with_meta(uid="u"))
    ask(runtime, "start", "u", pod, now_ms=now_ms)


def report(runtime: Runtime, now_ms: int) -> Report:
    """How they fare then."""
    found: Report = ask(runtime, "status", "u", now_ms=now_ms)
    return found


def end(runtime: Runtime, now_ms: int = 10**9) -> tuple[int | None, int]:
    """When they ended, and with which exit code."""
    found = report(runtime, now_ms)
    return found.ended_ms, found.exit_code


@pytest.mark.parametrize(("first", "second", "expected_ms"), [
    (30_000, 5_000, 15_000), (30_000, 60_000, 30_000), (12_000, 5_000, 12_000),
])  # fmt: skip
def test_the_grace_only_ever_becomes_shorter(
    runtime: Runtime, first: int, second: int, expected_ms: int
) -> None:
    """A second signal, ten seconds later, ends them sooner or makes no difference."""
    started(runtime)
    ask(runtime, "signal", "u", now_ms=0, grace_ms=first)
    ask(runtime, "signal", "u", now_ms=10_000, grace_ms=second)
    assert end(runtime)[0] == expected_ms
    assert report(runtime, 10_000).grace_ms == min(first, second)


def test_a_workload_may_stop_sooner(runtime: Runtime) -> None:
    """So long after the first signal, however many follow."""
    started(runtime, Workload(stops_after_ms=200))
    ask(runtime, "signal", "u", now_ms=1000, grace_ms=30_000)
    ask(runtime, "signal", "u", now_ms=1100, grace_ms=20_000)
    assert end(runtime) == (1200, STOPPED)


@pytest.mark.spec("KUB-17")
def test_what_has_ended_can_be_started_again(runtime: Runtime) -> None:
    """It runs and exits as its workload says of that start; how it ended before is kept."""
    started(runtime, Workload(runs_ms=(100, 50, None), exit_code=(1, 2)))
    ask(runtime, "restart", "u", now_ms=99)
    assert (report(runtime, 99).restarts, report(runtime, 99).last) == (0, None), "it runs still"
    ask(runtime, "restart", "u", now_ms=1000)
    assert report(runtime, 1000).last == Ended(0, 100, 1)
    assert end(runtime) == (1050, 2)
    ask(runtime, "restart", "u", now_ms=2000)
    again = report(runtime, 10**6)
    assert (again.is_running, again.restarts, again.last) == (True, 2, Ended(1000, 1050, 2))


def test_they_outlive_whoever_has_started_them(runtime: Runtime) -> None:
    """Also the daemon that did; they go when they are removed."""
    started(runtime)
    runtime.restart()
    assert [each.pod.meta.uid for each in ask(runtime, "list", now_ms=1)] == ["u"]
    ask(runtime, "remove", "u", now_ms=2)
    ask(runtime, "remove", "u", now_ms=2)
    assert ask(runtime, "list", now_ms=3) == ()
    assert ask(runtime, "status", "u", now_ms=3) is None


def test_it_knows_what_it_is_asked_about(runtime: Runtime) -> None:
    """An unknown pod and an unknown verb are refused by name."""
    with pytest.raises(NotFound, match=r"^runtime-n1 has no containers of pods/default/u u$"):
        ask(runtime, "kill", "u", now_ms=0)
    with pytest.raises(
        Invalid, match=r"^runtime-n1 cannot pull .*: it knows start, restart, annotate, signal"
    ):
        ask(runtime, "pull", "u", now_ms=0)


@each_row("workload", [
    Workload(), Workload(runs_ms=0, exit_code=2), Workload(stops_after_ms=7),
    Workload(runs_ms=5, is_deaf=True), Workload(runs_ms=(5, None), exit_code=(1, 0)),
    Workload(torn_down_after_ms=7),
])  # fmt: skip
def test_a_workload_stands_in_the_annotations(workload: Workload) -> None:
    """It is read back as it was written, and other annotations stay."""
    pod = Pod.of("x").with_meta(annotations=Map(a="b"))
    assert Workload.of(workload.given_to(pod)) == workload
    assert workload.given_to(pod).meta.annotations["a"] == "b"


@each_row(("name", "value", "said"), [
    ("runs-ms", "5s", "a whole number or never, found '5s'"),
    ("runs-ms", "5,", "a whole number or never, found ''"),
    ("exit-code", "1, never", "a whole number, found 'never'"),
    ("stops-after-ms", "-1", "a whole number or never, found '-1'"),
    ("run-ms", "5", "runs-ms, exit-code, stops-after-ms or torn-down-after-ms"),
])  # fmt: skip
def test_an_annotation_that_makes_no_sense_is_refused(name: str, value: str, said: str) -> None:
    """By name, with what was expected and what to do."""
    annotations: Any = Map({f"workload.testbed/{name}": value})
    pod = attrs.evolve(Pod.of("x"), meta=attrs.evolve(Pod.of("x").meta, annotations=annotations))
    with pytest.raises(ScenarioError, match="pods/default/x: the annotation") as caught:
        Workload.of(pod)
    assert said in str(caught.value)
    assert "\nNext: " in str(caught.value)
