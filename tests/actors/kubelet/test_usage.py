"""What a pod uses of its node, by its annotations."""

from __future__ import annotations

import pytest

from actors.kubelet.usage import Usage, behave_alike, usage_texts
from testbed.choosers.calm import Calm
from testbed.errors import ScenarioError
from testbed.objects import Map, Pod
from tests.each_row import each_row
from tests.shared.nodes import bound, node_world


def pod(**texts: str) -> Pod:
    """A pod with these annotations."""
    named = {f"usage.testbed/{name}": text for name, text in texts.items()}
    return Pod.of("p").with_meta(annotations=Map(named))


@pytest.mark.spec("KUB-23")
def test_usage_is_a_function_of_the_time_since_the_start() -> None:
    """Of steps, or the same all the time; before the first step nothing is used."""
    usage = Usage.of(pod(memory="0s=600M 10s=900M 20500ms=1Gi", pids="5", disk="3s=1k"))
    at = [usage.at(ran_ms) for ran_ms in (0, 9999, 10_000, 20_500)]
    assert [used and used["memory"] for used in at] == [6 * 10**8, 6 * 10**8, 9 * 10**8, 2**30]
    assert [used and used["ephemeral-storage"] for used in at] == [0, 1000, 1000, 1000]
    assert [used and used["pids"] for used in at] == [5] * 4
    ahead = [usage.changes_in_ms(ran_ms) for ran_ms in (0, 3000, 10_000, 20_500)]
    assert ahead == [3000, 7000, 10_500, None]
    assert Usage.of(Pod.of("p")).at(5) == Map()


@pytest.mark.spec("KUB-23")
def test_pods_behave_alike_by_their_own_annotations_alone() -> None:
    """What others annotate makes no difference; how much they use, and how they run, does."""
    one = pod(memory="600M")
    notes = one.meta.annotations
    assert behave_alike(one, pod(memory="600M"))
    assert behave_alike(one, one.with_meta(annotations=notes.having(team="a")))
    assert not behave_alike(one, pod(memory="900M"))
    runs = notes.having(**{"workload.testbed/runs-ms": "5"})
    assert not behave_alike(one, one.with_meta(annotations=runs))


@pytest.mark.spec("KUB-23", "KUB-33")
def test_usage_may_be_drawn_or_unknown() -> None:
    """Without a draw it is the first; of an unknown one there are no statistics."""
    choice = pod(memory="1k | 0s=2k 5s=3k | unknown", cpu="100m")
    assert usage_texts(choice) == {"cpu": ("100m",), "memory": ("1k", "0s=2k 5s=3k", "unknown")}
    assert Usage.of(choice).at(9000) == {"cpu": 100, "memory": 1000}
    assert Usage.of(choice, {"memory": "0s=2k 5s=3k"}).at(9000) == {"cpu": 100, "memory": 3000}
    assert Usage.of(choice, {"memory": "unknown"}).at(9000) is None


@each_row(
    ("name", "text"),
    [("memory", "much"), ("memory", "0=1k"), ("memory", "5s=1k 0s=2k"), ("memory", "-1s=1k"),
     ("memory", "1s=1k 1s=1k"), ("gpu", "1"), ("memory", "0s=1k 5x=2k"), ("memory", ""),
     ("memory", "-600M"), ("memory", "0s=1k 5s=-1"), ("cpu", "-100m")],
)  # fmt: skip
def test_an_annotation_that_makes_no_sense_is_refused(name: str, text: str) -> None:
    """With what to write instead."""
    with pytest.raises(ScenarioError, match=r"Next: write `usage.testbed/memory"):
        Usage.of(pod(**{name: text}))


@each_row("text", ["0s=6Q", "1k | -1k", "unknown | much"])
def test_a_kubelet_that_measures_nothing_refuses_it_as_well(text: str) -> None:
    """When it admits the pod, whichever usage would be drawn: nobody else would ever read it."""
    annotated = bound("p").with_meta(annotations=pod(memory=text).meta.annotations)
    world = node_world(annotated, is_judged=False)
    with pytest.raises(ScenarioError, match=r"pods/default/p: the annotation usage\.testbed/"):
        world.run(Calm(), driver="direct")
