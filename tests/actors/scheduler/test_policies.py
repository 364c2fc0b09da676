"""A user's own filter, score, victim selector or decider is used where a switch names it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from actors.apiserver import ApiServer
from actors.framework.filter import Filter, NodeFilter
from actors.framework.filters import FILTERS, filter_classes
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot
from actors.scheduler import Scheduler
from actors.scheduler.cluster.cache import SchedulerCache
from actors.scheduler.cluster.nominator import NOMINATION, Nominator
from actors.scheduler.decisions.decision import Decision
from actors.scheduler.policies import decider_of, filters_of, scores_of
from actors.scheduler.preemption.dry_run import DryRun
from actors.scheduler.score import Score
from actors.scheduler.scores import PLACEMENTS
from actors.scheduler.switches import FILTERS as FILTER_NAMES
from actors.scheduler.switches import SCORES, switches_of
from testbed import policy
from testbed.choosers.calm import Calm
from testbed.errors import ScenarioError, UnknownName
from testbed.objects import Node, Pod
from testbed.world.world import World
from tests.each_row import each_row

ROOT = Path(__file__).parent.parent.parent.parent


class NoWeekends(Filter):
    """A filter as a user writes it."""

    def check(self, state: PodInfo, node: NodeInfo) -> Refusal | None:
        if node.node is not None and node.node.meta.labels.get("open") == "weekdays":
            return self.no("node(s) were closed")
        return None


class Last(Score):
    """Prefers the last node, by more than all other scores together."""

    weight = 10

    def score(self, state: Any, node: NodeInfo) -> int:
        return 100 if node.name == "n3" else 0


class Everybody:
    """Reprieves no pod."""

    def victims(self, dry: DryRun) -> Sequence[PodInfo]:
        return list(dry.potential)


class ByName:
    """Decides in one line."""

    def decide(self, pod: Pod, snapshot: Snapshot, *_: Any) -> Decision:
        return Decision(pod, len(snapshot), node=f"n{pod.meta.name[-1]}")


@pytest.fixture(autouse=True)
def _own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register them for one test."""
    monkeypatch.setattr(policy, "_OWN", {})
    policy.use(NoWeekends, Last, Everybody, ByName)


def decided(pod: Pod, *there: Pod, **given: str) -> Decision:
    """The Decision for a pod, on three nodes; the first is closed at weekends."""
    cache, switches = SchedulerCache(), switches_of(given=given)
    for name in ("n1", "n2", "n3"):
        labels = {"open": "weekdays"} if name == "n1" else {}
        cache.add_node(Node.of(name, cpu_m=1000, labels=labels))
    for each in there:
        cache.add_pod(each)
    decider = decider_of(switches, filters_of(switches, FILTERS), (), lambda _, names: names[0])
    nominator = Nominator(lambda key: None, NOMINATION["status"])
    found: Decision = decider.decide(pod, cache.snapshot(), nominator, (), lambda p: p, 0)
    return found


def on(node: str, name: str, cpu_m: int, **spec: Any) -> Pod:
    """A pod that runs there."""
    return Pod.of(name, cpu_m=cpu_m, node_name=node, **spec)


def test_a_filter_of_ones_own_has_a_say() -> None:
    """Under the name of its class, as it has no other; its reason stands in the message."""
    assert decided(Pod.of("p", cpu_m=100)).node == "n1"
    found = decided(Pod.of("p", cpu_m=100), filters="+NoWeekends")
    assert found.node == "n2"
    assert dict(found.refusals) == {"n1": Refusal("NoWeekends", ("node(s) were closed",))}
    found = decided(Pod.of("p", cpu_m=2000), filters="NoWeekends")
    assert found.node == "n2"


def test_a_filter_that_is_built_in_can_be_left_out() -> None:
    """Then room is not checked."""
    assert decided(Pod.of("p", cpu_m=2000)).node == ""
    assert decided(Pod.of("p", cpu_m=2000), filters="-NodeResourcesFit").node == "n1"


def test_a_score_of_ones_own_has_a_say_with_its_weight() -> None:
    """Beside the scores of the placement, or alone."""
    found = decided(Pod.of("p", cpu_m=100), scores="+Last")
    assert found.node == "n3"
    assert found.scores["n3"]["Last"] == 1000
    assert found.scores["n1"]["NodeResourcesFit"] > 0
    found = decided(Pod.of("p", cpu_m=100), scores="Last")
    assert {*found.scores["n3"]} == {"Last"}
    found = decided(Pod.of("p", cpu_m=100), scores="+FirstFitByName,-NodeResourcesFit")
    assert "FirstFitByName" in found.scores["n1"]


def own(base: type, **said: Any) -> str:
    """Register a class of that kind, and return its name."""
    methods = {k: v if k == "weight" else lambda *_, v=v: v for k, v in said.items()}
    policy.use(type("Mine", (base,), {"__module__": __name__, **methods}))
    return "Mine"


@each_row(
    ("base", "said", "switch", "told"),
    [
        (Filter, {}, "filters", "Mine has no check(pod, node)"),
        (Filter, {"check": "no way"}, "filters", "Mine.check gave a str: expected None or self.no"),
        (NodeFilter, {"check": False}, "filters", "Mine.check gave a bool: expected None or self"),
        (Score, {}, "scores", "Mine has no score(pod, node)"),
        (Score, {"score": 0.5}, "scores", "Mine.score gave a float: expected a whole number"),
        (Score, {"score": None}, "scores", "Mine.score gave a NoneType: expected a whole number"),
        (Score, {"score": 101}, "scores", "Mine gives a node 101: expected 0 to 100"),
        (Score, {"score": -1}, "scores", "Mine gives a node -1: expected 0 to 100"),
        (Score, {"score": 1, "weight": 0.5}, "scores", "Mine.weight is 0.5: expected a whole"),
        (Score, {"score": 1, "weight": 0}, "scores", "Mine.weight is 0: expected a whole number"),
        (object, {"victims": None}, "victims", "Mine.victims gave a NoneType: expected a list"),
        (object, {"victims": [Pod("x")]}, "victims", "Mine.victims gave a list: expected a list"),
    ],
)
def test_what_a_policy_cannot_say_is_told_where_it_says_it(
    base: type, said: dict[str, Any], switch: str, told: str
) -> None:
    """With the name of its class, and with what was expected; before its answer is used."""
    mine = own(base, **said)
    there = [on(n, f"{n}-x", 1000) for n in ("n1", "n2", "n3")] if switch == "victims" else []
    name = mine if switch == "victims" else f"+{mine}"
    with pytest.raises((TypeError, ValueError, NotImplementedError)) as caught:
        decided(Pod.of("p", cpu_m=400, priority=10), *there, **{switch: name})
    assert str(caught.value).startswith(told)


def test_a_decider_that_decides_nothing_is_told_by_its_name() -> None:
    """The scheduler dies of that, as of any error of its own."""
    world = World("test")
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000), Pod.of("p", scheduler_name="alpha"))
    world.start(Scheduler("alpha", switches={"decider": own(object, decide=None)}))
    said = str(world.run(Calm(), driver="direct"))
    assert "died of TypeError: Mine.decide gave a NoneType: expected a Decision" in said


def test_a_victim_selector_of_ones_own_says_who_goes() -> None:
    """In place of the built-in one, which reprieves as many as it can."""
    there = [on(n, f"{n}-{x}", 500) for n in ("n1", "n2", "n3") for x in "ab"]
    pod = Pod.of("p", cpu_m=400, priority=10)

    def gone(**given: str) -> list[str]:
        preemption = decided(pod, *there, **given).preemption
        assert preemption is not None
        assert preemption.chosen is not None
        return [victim.meta.name for victim in preemption.chosen.victims]

    assert gone() == ["n1-a"]
    assert sorted(gone(victims="Everybody")) == ["n1-a", "n1-b"]


def test_a_decider_of_ones_own_decides_all_of_it() -> None:
    """Whatever the filters would say."""
    assert decided(Pod.of("p2", cpu_m=5000), decider="ByName").node == "n2"


@each_row(
    ("given", "said"),
    [
        ({"filters": "+NoWeekend"}, "there is no filter 'NoWeekend'. Did you mean 'NoWeekends'?"),
        ({"filters": "-NodePort"}, "there is no filter 'NodePort'. Did you mean 'NodePorts'?"),
        ({"filters": "+Last"}, " is no filter: expected a subclass of Filter"),
        ({"scores": "+NoWeekends"}, "is no score: expected a subclass of Score"),
        ({"victims": "Last"}, "is no victim selector: expected a class with `victims(dry_run)`"),
        ({"decider": "Last"}, "is no decider: expected a class with `decide`"),
        ({"scheduler": "Last"}, "is no scheduler: expected an Actor"),
    ],
)
def test_a_class_that_cannot_serve_is_refused(given: dict[str, str], said: str) -> None:
    """When the switches are read."""
    with pytest.raises((UnknownName, ScenarioError)) as refused:
        switches_of(given=given)
    assert said in str(refused.value)


def test_the_names_that_are_built_in_are_those_of_the_parts() -> None:
    """In their order."""
    assert tuple(each.name for each in FILTERS) == FILTER_NAMES
    assert filters_of(switches_of(), FILTERS) == FILTERS
    names = dict.fromkeys(score.name for scores in PLACEMENTS.values() for score in scores)
    assert tuple(names) == SCORES
    for placement, usual in PLACEMENTS.items():
        assert scores_of(switches_of(given={"placement": placement}), ()) == usual


def test_the_filters_of_the_folder_are_known_by_name() -> None:
    """In the order of their files, default filters included."""
    assert {*filter_classes()} == {*FILTER_NAMES}
    files = [made.__module__ for made in filter_classes().values()]
    assert files == sorted(files)
    some = FILTERS[:2]
    names = [each.name for each in filters_of(switches_of(given={"filters": "+NodePorts"}), some)]
    assert names == ["NodeUnschedulable", "NodeName", "NodePorts"]
