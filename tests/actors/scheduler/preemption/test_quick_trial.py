"""Room: the quick trial says the same as the slow one."""

from __future__ import annotations

from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from actors.framework.filters import FILTERS
from actors.framework.podinfo import PodInfo, info_of
from actors.scheduler.placing.judging import Judging
from actors.scheduler.preemption.quick_trial import QuickTrial
from actors.scheduler.preemption.trial import Trial, trial_of
from testbed.objects import Container, Map, NodeStatus, Pod, PodSpec, Quantity, Resources
from testbed.objects.quantity import milli, whole
from tests.each_row import each_row
from tests.shared.deciding import UNIT, Nominations, a_node, a_pod, far, snapshot_of

AMOUNTS = st.one_of(st.none(), st.integers(0, 4))


@st.composite
def pods(draw: st.DrawFn, /, name: str, **spec: Any) -> Pod:
    """A pod that requests a few units of some of the three resources, or nothing."""
    units: dict[str, Quantity] = {}
    for resource in ("cpu", "memory", "ephemeral-storage"):
        amount = draw(AMOUNTS)
        if amount is not None:
            units[resource] = milli(amount * UNIT) if resource == "cpu" else whole(amount)
    main = Container("main", resources=Resources(requests=Map(units)))
    return Pod(name, spec=PodSpec(containers=(main,), **spec))


@st.composite
def clusters(draw: st.DrawFn) -> tuple[Judging, list[PodInfo]]:
    """A pod to be tried on the node n, and the pods that are there; one may be nominated."""
    node = a_node("n", draw(st.integers(0, 8)), pods=draw(st.integers(0, 6)))
    there = [draw(pods(f"v{n}", node_name="n")) for n in range(draw(st.integers(0, 4)))]
    pod = info_of(draw(pods("p", priority=5)))
    nominated = {"n": [info_of(draw(pods("q", priority=draw(st.integers(4, 6)))))]}
    chosen = nominated if draw(st.booleans()) else {}
    return Judging(pod, snapshot_of(node, *there), FILTERS, chosen), [info_of(v) for v in there]


@given(clusters(), st.data())
def test_room_says_what_a_trial_says(
    cluster: tuple[Judging, list[PodInfo]], data: st.DataObject
) -> None:
    """After any moves: the same refusal in the same words, and the same pods are reprieved."""
    judging, there = cluster
    room, slow = trial_of(judging, "n"), Trial(judging, judging.node("n"))
    assert isinstance(room, QuickTrial)
    gone: list[PodInfo] = []
    for is_back in data.draw(st.lists(st.booleans(), max_size=8)):
        stays = [info for info in there if info not in gone]
        if gone and is_back:
            info = gone.pop()
            is_spared = slow.spare(info)
            assert room.spare(info) == is_spared
            gone += [] if is_spared else [info]
        elif stays:
            gone.append(stays[0])
            room.remove_all(gone[-1:])
            slow.remove_all(gone[-1:])
        assert room.refusal() == slow.refusal()
        assert room.fits() == slow.fits()


def asking(name: str, amount: int, **spec: Any) -> Pod:
    """A pod that requests that much of each resource."""
    requests = {"cpu": milli(amount), "memory": whole(amount), "ephemeral-storage": whole(amount)}
    main = Container("main", resources=Resources(requests=Map(requests)))
    return Pod(name, spec=PodSpec(containers=(main,), **spec))


@each_row("scarce", ["cpu", "memory", "ephemeral-storage", "pods"])
@each_row("more", [-1, 0, 1])
def test_a_pod_is_reprieved_if_just_enough_is_left_for_it(scarce: str, more: int) -> None:
    """Of each resource: for 4 beside a preemptor of 3, with 6, 7 or 8 on the node; for one pod
    beside it, with room for 1, 2 or 3."""
    there = asking("v", 4, node_name="n")
    amounts = {"cpu": 7, "memory": 7, "ephemeral-storage": 7, "pods": 2}
    amounts[scarce] += more
    allocatable = {name: whole(amount) for name, amount in amounts.items()}
    allocatable["cpu"] = milli(amounts["cpu"])
    node = attrs.evolve(a_node("n"), status=NodeStatus(allocatable=Map(allocatable)))
    judging = Judging(info_of(asking("p", 3, priority=5)), snapshot_of(node, there), FILTERS, {})
    for trial in (trial_of(judging, "n"), Trial(judging, judging.node("n"))):
        trial.remove_all([info_of(there)])
        assert trial.fits()
        assert trial.spare(info_of(there)) == (more >= 0)


def test_what_happens_elsewhere_is_no_matter_to_room() -> None:
    """A pod on another node takes nothing of this one."""
    other = a_pod("v", 9, on="m")
    snapshot = snapshot_of(a_node("n"), a_node("m"), other)
    room, far_pod = (
        trial_of(Judging(info_of(a_pod("p", 2)), snapshot, FILTERS, {}), "n"),
        info_of(other),
    )
    room.add(far_pod, "m")
    assert room.fits()
    room.add(far_pod, "n")
    assert not room.fits()
    room.remove(far_pod)
    room.remove(far_pod, "m")
    room.add(far_pod)
    assert not room.fits()


def test_room_is_for_pods_that_mind_nobody() -> None:
    """If the pod has an anti-affinity to another, another to it, or the node is refused anyway, a
    Trial is used."""
    lonely = a_pod("lonely", on="n", affinity=far("kubernetes.io/hostname", app="p"))
    waiting = a_pod("q", affinity=lonely.spec.affinity, nominated="n", priority=9)
    plain = [a_node("n"), a_pod("v", on="n")]
    pod = a_pod("p", labels={"app": "p"})
    cases = [
        (pod, plain, True),
        (pod, [*plain, lonely], False),
        (a_pod("p", affinity=lonely.spec.affinity), plain, False),
        (a_pod("p", node_selector={"disk": "ssd"}), plain, False),
    ]
    for each, things, is_quick in cases:
        judging = Judging(info_of(each), snapshot_of(*things), FILTERS, {})
        assert isinstance(trial_of(judging, "n"), QuickTrial) == is_quick
    nominated = Nominations.of([waiting]).nominated
    judging = Judging(info_of(pod), snapshot_of(*plain), FILTERS, nominated)
    assert not isinstance(trial_of(judging, "n"), QuickTrial)
