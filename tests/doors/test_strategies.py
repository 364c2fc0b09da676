"""Runs as `@given` tests draw them: found, shrunk with what the World is made of, and kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from scenarios.basics.lost_update import Writer, every_signature_is_kept
from testbed.errors import ScenarioError
from testbed.fault import Fault
from testbed.faults.crash import Crash
from testbed.faults.stall import Stall
from testbed.invariant import quiescent
from testbed.objects import Map, Node, Note, Pod, requests_of, room_of
from testbed.objects.form import from_tree, to_tree
from testbed.races.racefile import load
from testbed.strategies import DrawnCluster, clusters, fault_budgets, runs, workloads
from testbed.testing.run import NotHeld, Run
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.circle import a_reader

pytestmark = pytest.mark.usefixtures("own")
FAST = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate, Phase.shrink],
)


def smallest(drawn: st.SearchStrategy[Run]) -> tuple[Run, NotHeld]:
    """Let a `@given` test fail, and give back the last Run it was given, and what it raised."""
    seen: list[Run] = []

    @FAST
    @given(run=drawn)
    def it_holds(run: Run) -> None:
        seen.append(run)
        run.must_hold()

    with pytest.raises(NotHeld) as raised:
        it_holds()
    # Hundreds are not worth their story, and a file each.
    assert [run.is_last for run in seen] == [False] * (len(seen) - 1) + [True]
    return seen[-1], raised.value


def test_a_race_is_found_and_shrunk_and_left() -> None:
    """One deviation is left of it; only the last Run is told in full, and its race is a file."""
    run, raised = smallest(runs("lost_update"))
    assert sum(choice != 0 for choice in run.trace.choices) == 1
    assert len(run.race()) == 1
    left = Path(".testbed/lost_update-every_signature_is_kept.race.yaml")
    assert load(str(left)) == run.race()
    assert str(raised).splitlines()[-1] == f"Again: testbed replay {left}"
    assert [file.name for file in Path(".testbed").glob("*.yaml")] == [left.name]


def test_switches_and_choices_shrink_together() -> None:
    """Two writers are enough for it, and one deviation."""
    switches = st.fixed_dictionaries({"writers": st.integers(2, 4)})
    run, _ = smallest(runs("lost_update", switches=switches))
    assert run.switches == {"writers": 2}
    assert len(run.race()) == 1


@st.composite
def signing(draw: st.DrawFn) -> Callable[[World], None]:
    """A World of one's own: who signs, and what stands on the list already."""
    names = draw(st.lists(st.sampled_from(["alpha", "beta", "gamma"]), unique=True))
    signed = draw(st.lists(st.sampled_from(["x", "y"]), max_size=3))

    def build(world: World) -> None:
        world.add(Note("list", data=Map(signed=" ".join(signed))))
        for name in names:
            world.start(Writer(name))
        world.claim(quiescent(every_signature_is_kept))

    return build


def test_what_is_built_and_choices_shrink_together() -> None:
    """Two of three actors, on an empty list; such a World has no name, so its race is shown only,
    and the line runs the test."""
    run, raised = smallest(runs(build=signing()))
    assert sorted(run.world.table.roles) == ["alpha", "beta"]
    assert not Path(".testbed").exists()
    told = str(raised)
    assert "\nThe race:\n\n  scenario: " in told
    assert told.splitlines()[-1].startswith("Again: python -m pytest ")


def test_a_run_can_be_drawn_within_a_test() -> None:
    """Of a scenario that what was drawn before has made."""

    @FAST
    @given(st.data())
    def it_holds(data: st.DataObject) -> None:
        writers = data.draw(st.integers(2, 3))
        data.draw(runs("lost_update", switches={"writers": writers})).must_hold()

    with pytest.raises(NotHeld, match="writers: 2"):
        it_holds()


def test_guarded_it_survives_what_hypothesis_draws() -> None:
    """The other half of the pair, with crashes beside it."""
    seen: list[Run] = []

    @FAST
    @given(run=runs("lost_update", switches={"guard": "on"}, faults=fault_budgets("crash")))
    def it_holds(run: Run) -> None:
        seen.append(run)
        run.must_hold()

    it_holds()
    assert len(seen) >= 60
    assert {run.verdict.faults for run in seen} >= {0, 1, 2}


def test_what_is_found_depends_on_the_budget_that_is_drawn() -> None:
    """To kill a reader takes one lost message: one fault is allowed in the end, once."""
    faults = fault_budgets("crash", "lose_reply", "stall", times_max=3)
    run, _ = smallest(runs(a_reader, faults=faults))
    assert [(fault.word, fault.times_max) for fault in run.faults] == [("lose_reply", 1)]
    assert run.verdict.faults == 1


def test_budgets_are_mostly_small_and_shrink_to_none() -> None:
    """None, or one, or a few; each fault once or a few times, no fault twice; of those named, else
    of the common ones."""
    drawn: list[list[Fault]] = []

    @settings(FAST, max_examples=300)
    @given(fault_budgets(Crash("alpha", restart_after_ms=5), "2*stall", count_max=2, times_max=999))
    def look(faults: list[Fault]) -> None:
        drawn.append(faults)

    look()
    assert {len(faults) for faults in drawn} == {0, 1, 2}
    assert sum(len(faults) < 2 for faults in drawn) > len(drawn) // 2
    once = {attrs.evolve(fault, times_max=1) for faults in drawn for fault in faults}
    assert once == {Crash("alpha", restart_after_ms=5), Stall()}
    assert {fault.times_max for faults in drawn for fault in faults} <= set(range(1, 1000))
    assert all(len({fault.word for fault in faults}) == len(faults) for faults in drawn)
    assert find(fault_budgets(), lambda _: True, settings=FAST) == []
    (one,) = find(fault_budgets(), lambda faults: len(faults) > 0, settings=FAST)
    assert (one.word, one.times_max) == ("crash", 1)


@pytest.mark.parametrize("given_", [{}, {"scenario": "lost_update", "build": signing()}])
def test_a_scenario_or_a_build_is_given(given_: dict[str, Any]) -> None:
    """Not both, and not neither."""
    with pytest.raises(ScenarioError, match="expected one of them") as refused:
        runs(**given_)
    assert str(refused.value).splitlines()[-1].startswith("Next: ")


DRAWS = settings(FAST, max_examples=200)


def all_drawn(strategy: st.SearchStrategy[Any]) -> list[Any]:
    """A few hundred of them."""
    drawn: list[Any] = []

    @DRAWS
    @given(strategy)
    def look(one: Any) -> None:
        drawn.append(one)

    look()
    return drawn


@pytest.fixture(scope="module")
def drawn() -> list[DrawnCluster]:
    """A few hundred clusters."""
    return all_drawn(clusters())


def taken_m(cluster: DrawnCluster, node: Node) -> int:
    """The cpu that the pods of a node ask for which are not over."""
    here = [pod for pod in cluster.pods if pod.spec.node_name == node.meta.name]
    return sum(requests_of(pod).get("cpu", 0) for pod in here if not pod.is_over)


def test_no_drawn_cluster_is_wrong(drawn: list[DrawnCluster]) -> None:
    """No node is given more than it has, names and uids are unique, classes are there that pods
    name and say their priority, and what a budget counts is so."""
    for one in drawn:
        assert all(taken_m(one, node) <= room_of(node)["cpu"] for node in one.nodes)
        assert len({item.key for item in one.objects}) == len(one.objects)
        values = {each.meta.name: each.value for each in one.classes}
        for pod in one.pods:
            name = pod.spec.priority_class_name
            assert values[name] == pod.spec.priority if name else pod.spec.priority is None
            assert pod.is_bound or (pod.status.phase == "Pending" and not pod.meta.is_terminating)
        for budget in one.budgets:
            mine = [pod for pod in one.pods if budget.covers(pod.meta)]
            assert budget.status.expected_pods == len(mine)
            assert budget.status.current_healthy == sum(pod.is_ready for pod in mine)
            assert not any(pod.is_ready and pod.meta.is_terminating for pod in mine)


def bound(one: DrawnCluster) -> list[Pod]:
    """The pods that a node runs."""
    return [pod for pod in one.pods if pod.is_bound and not pod.is_over]


def has_twins(said: list[Any]) -> bool:
    """Whether two of these are equal."""
    return len(set(said)) < len(said)


TROUBLES: dict[str, Callable[[DrawnCluster], bool]] = {
    "two nodes alike": lambda one: has_twins([room_of(node)["cpu"] for node in one.nodes]),
    "a node that is full to the milli": lambda one: any(
        0 < taken_m(one, node) == room_of(node)["cpu"] for node in one.nodes
    ),
    "a pod that fits exactly": lambda one: any(
        0 < requests_of(pod).get("cpu", 0) == room_of(node)["cpu"] - taken_m(one, node)
        for pod in one.pods
        for node in one.nodes
        if not pod.is_bound
    ),
    "a pod that fits nowhere": lambda one: any(
        requests_of(pod).get("cpu", 0) > max(room_of(n)["cpu"] - taken_m(one, n) for n in one.nodes)
        for pod in one.pods
        if not pod.is_bound
    ),
    "a pod that says nothing": lambda one: any(not requests_of(pod) for pod in one.pods),
    "a pod that asks for zero": lambda one: any(requests_of(p) == {"cpu": 0} for p in one.pods),
    "a terminating pod": lambda one: any(pod.meta.is_terminating for pod in one.pods),
    "a pod that is over and bound": lambda one: any(p.is_over and p.is_bound for p in one.pods),
    "equal start times on a node": lambda one: has_twins(
        [(p.spec.node_name, p.status.start_ms) for p in bound(one) if p.status.start_ms is not None]
    ),
    "same priorities on a node": lambda one: has_twins(
        [(pod.spec.node_name, pod.priority) for pod in bound(one)]
    ),
    "unset and zero priorities": lambda one: {None, 0} <= {p.spec.priority for p in one.pods},
    "a budget that allows none": lambda one: any(
        budget.status.disruptions_allowed == 0 < budget.status.current_healthy
        for budget in one.budgets
    ),
    "a budget that allows one": lambda one: any(
        budget.status.disruptions_allowed == 1 for budget in one.budgets
    ),
    "pods in two budgets": lambda one: len(one.budgets) == 2,
    "an empty cluster": lambda one: not one.pods,
}


@each_row("trouble", TROUBLES)
def test_each_trouble_occurs(drawn: list[DrawnCluster], trouble: str) -> None:
    """In a few hundred draws, more than once."""
    assert sum(map(TROUBLES[trouble], drawn)) >= 5


@each_row("trouble", ["a terminating pod", "equal start times on a node"])
def test_a_trouble_shrinks_to_itself(trouble: str) -> None:
    """One node, as few pods as show it, no budget."""
    one = find(clusters(), TROUBLES[trouble], settings=DRAWS)
    assert (len(one.nodes), len(one.budgets), one.classes) == (1, 0, ())
    assert len(one.pods) == (1 if trouble == "a terminating pod" else 2)


def test_the_smallest_are_one_node_and_one_pod() -> None:
    """A node with nothing on it; a pod that says nothing; one pod there, that waits."""
    assert find(clusters(), lambda _: True, settings=FAST) == DrawnCluster(
        (Node.of("n1", cpu_m=1000),)
    )
    one = find(clusters(), lambda one: bool(one.pods), settings=FAST)
    (pod,) = one.pods
    assert (len(one.nodes), pod.is_bound, requests_of(pod)) == (1, False, {})
    work = find(workloads(), lambda _: True, settings=FAST)
    assert (len(work.creates), work.deletes) == (1, ())
    assert requests_of(work.creates[0]) == {}


def test_a_workload_is_made_for_its_cluster() -> None:
    """What is left of a node is asked for to the milli; pods of both are deleted, some at once,
    some twice; two that are created are alike."""
    both = clusters().flatmap(lambda one: st.tuples(st.just(one), workloads(one)))
    fits = old = new = at_once = twice = alike = 0
    for one, work in all_drawn(both):
        left = {room_of(node)["cpu"] - taken_m(one, node) for node in one.nodes}
        there = {pod.meta.name for pod in one.pods}
        asked = [requests_of(pod).get("cpu", 0) for pod in work.creates]
        named = [each.pod for each in work.deletes]
        assert set(named) <= there | {pod.meta.name for pod in work.creates}
        assert not any(pod.is_bound for pod in work.creates)
        fits += any(each in left for each in asked if each)
        old += bool(there & set(named))
        new += bool(set(named) - there)
        at_once += any(each.grace_s == 0 for each in work.deletes)
        twice += has_twins(named)
        alike += has_twins([(pod.priority, n) for pod, n in zip(work.creates, asked, strict=True)])
    assert min(fits, old, new, at_once, twice, alike) >= 10


def test_drawn_clusters_are_data(drawn: list[DrawnCluster]) -> None:
    """They can be stored: each object is the same from its bytes, and all hash."""
    for one in drawn[:50]:
        assert hash(one)
        assert all(from_tree(type(item), to_tree(item)) == item for item in one.objects)
    World().add(*drawn[-1].objects)
