"""The hypothesis door: Runs, fault budgets, clusters and workloads as `@given` draws them.

    @given(run=runs("lost_update"))
    def test_no_update_is_lost(run):
        run.must_hold()

Hypothesis draws every choice of a Run, and which faults it may see; it shrinks what was drawn to
build the World and what was chosen in it together, toward the small and the calm.

Clusters and workloads are made for trouble: few different amounts, times and priorities, so that
there are ties; pods that take exactly what is left, that ask for nothing, that are going already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, product
from typing import Any

import attrs
from hypothesis import event
from hypothesis import strategies as st
from hypothesis.control import current_build_context
from hypothesis.strategies import SearchStrategy

from testbed.choosers.drawn import DRAWS_MAX, Drawn
from testbed.errors import ScenarioError
from testbed.fault import Fault
from testbed.objects import (
    Condition,
    LabelSelector,
    Map,
    Meta,
    Node,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
    PodStatus,
    PriorityClass,
    requests_of,
    room_of,
)
from testbed.testing.run import Recipe, Run, faults_of, play, recipe_of
from testbed.world.fault_kinds import parse_fault
from testbed.world.world import World

__all__ = [
    "Deletion",
    "DrawnCluster",
    "DrawnWorkload",
    "clusters",
    "fault_budgets",
    "runs",
    "workloads",
]

WORDS = ("crash", "lose_reply", "lose_request", "break_watch", "stall")
"""What `fault_budgets` draws from if nothing else is said."""
Drawable = Mapping[str, Any] | SearchStrategy[Mapping[str, Any]] | None
Budget = Sequence[Fault | str] | SearchStrategy[list[Fault]]


@attrs.frozen
class _Draws:
    """What `Drawn` draws from: a strategy's own `draw`, which says nothing of each number."""

    draw: Callable[[SearchStrategy[Any]], Any]


def runs(
    scenario: Recipe | None = None,
    *,
    build: SearchStrategy[Callable[[World], None]] | None = None,
    switches: Drawable = None,
    faults: Budget = (),
    driver: str = "direct",
    draws_max: int = DRAWS_MAX,
) -> SearchStrategy[Run]:
    """Runs of a scenario: a function, a short name or `module:function`; or of one that `build`
    draws. `switches` and `faults` are given, or drawn."""
    if (scenario is None) == (build is None):
        raise ScenarioError(
            "runs(…) was given both a scenario and a build, or neither: expected one of them.\n"
            'Next: write runs("lost_update"), or runs(build=…) with a strategy that draws a '
            "function of a World."
        )
    recipe = None if scenario is None else recipe_of(scenario)

    @st.composite
    def drawn(draw: st.DrawFn) -> Run:
        made = recipe if build is None else draw(build)
        assert made is not None
        given = draw(switches) if isinstance(switches, SearchStrategy) else switches
        allowed = draw(faults) if isinstance(faults, SearchStrategy) else faults_of(faults)
        chooser = Drawn(_Draws(draw), draws_max=draws_max)
        run = play(made, chooser, switches=given, faults=allowed, driver=driver)
        event(f"{run.recipe.name}: {run.verdict.outcome}")
        is_last = getattr(current_build_context(), "is_final", True)
        return attrs.evolve(run, is_last=is_last)

    return drawn()


def fault_budgets(
    *faults: str | Fault, count_max: int = 2, times_max: int = 2
) -> SearchStrategy[list[Fault]]:
    """Lists of Faults a World may allow: mostly none or one, each once or a few times; of those
    named, or else of the common ones against anybody."""
    named = [parse_fault(fault) if isinstance(fault, str) else fault for fault in faults or WORDS]

    def so_often(fault: Fault, times: int) -> Fault:
        return attrs.evolve(fault, times_max=times)

    one = st.builds(so_often, st.sampled_from(named), st.integers(1, times_max))
    return st.one_of(
        st.just([]),
        st.lists(one, min_size=1, max_size=1),
        st.lists(one, max_size=count_max, unique_by=lambda fault: (fault.word, fault.target)),
    )


CPUS_M = (1000, 2000, 4000)
"""What a node has."""
ASKS_M = (None, 0, 250, 500, 1000, 4000)
"""What a pod asks for; None: it does not say."""
RANKS = (None, 0, 10, -1, 1_000_000_000)
"""How important a pod is; None: nobody has said."""
TIMES_MS = (0, 1000, 2000)
"""When things were created, were started, are to be gone: equal more often than not."""
APPS = ("a", "b")
PHASES = ("Running", "Running", "Pending", "Succeeded", "Failed")
GONE_MS = (None, None, 30_000, 60_000)


@attrs.frozen
class DrawnCluster:
    """A small cluster in which no node is given more than it has."""

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...] = ()
    """Bound ones, of which some are terminating or over, and pending ones."""
    classes: tuple[PriorityClass, ...] = ()
    budgets: tuple[PodDisruptionBudget, ...] = ()
    """With a status that is true of the pods."""

    @property
    def objects(self) -> tuple[Node | Pod | PriorityClass | PodDisruptionBudget, ...]:
        """All of it, each after what it speaks of: for `world.add`."""
        return (*self.classes, *self.nodes, *self.pods, *self.budgets)


@attrs.frozen
class Deletion:
    """That a pod is to be deleted."""

    pod: str
    """Its name."""
    grace_s: int | None = None
    """None: as long as it says itself."""


@attrs.frozen
class DrawnWorkload:
    """What is asked of a cluster."""

    creates: tuple[Pod, ...]
    deletes: tuple[Deletion, ...] = ()
    """Of pods that were there before, and of those that are created."""


@attrs.frozen
class _Draft:
    """A pod before it is known what room there is for it."""

    asks_m: int | None = None
    rank: int | None = None
    app: str = APPS[0]
    created_ms: int = 0
    takes_rest: bool = False
    """It asks for all that its node has left."""
    place: int = 0
    """Which node it runs on; 0: none yet."""
    phase: str = PHASES[0]
    gone_ms: int | None = None
    """By when it is to be gone, if somebody has asked for that."""
    start_ms: int = 0


def _drafts(places: int) -> SearchStrategy[_Draft]:
    """Drafts of pods on so many nodes, or on none. What is drawn is few things each, since a part
    of a list that took more than five draws is not left out again when Hypothesis shrinks it."""
    parts: tuple[list[tuple[Any, ...]], ...] = (
        list(product(ASKS_M, RANKS)),
        list(product(APPS, TIMES_MS)),
        [(False, 0), *product((False, True), range(1, places + 1))],
        list(product(PHASES, GONE_MS, TIMES_MS)),
    )

    def draft(*drawn: tuple[Any, ...]) -> _Draft:
        return _Draft(*chain(*drawn))

    return st.builds(draft, *(st.sampled_from(part) for part in parts))


@st.composite
def clusters(draw: st.DrawFn, *, nodes_max: int = 3, pods_max: int = 6) -> DrawnCluster:
    """Small clusters; the smallest is one node and nothing on it."""
    sizes = draw(st.lists(st.sampled_from(CPUS_M), min_size=1, max_size=nodes_max))
    nodes = tuple(Node.of(f"n{n}", cpu_m=cpu_m) for n, cpu_m in enumerate(sizes, 1))
    left = {node.meta.name: room_of(node)["cpu"] for node in nodes}
    drafts = draw(st.lists(_drafts(len(nodes)), max_size=pods_max))
    pods = tuple(_placed(f"p{n}", draft, left) for n, draft in enumerate(drafts, 1))
    wanted = draw(st.dictionaries(st.sampled_from(APPS), st.integers(0, 2), max_size=len(APPS)))
    budgets = tuple(_budget(app, least, pods) for app, least in sorted(wanted.items()))
    return DrawnCluster(nodes, pods, _classes(pods), budgets)


@st.composite
def workloads(
    draw: st.DrawFn,
    cluster: DrawnCluster | None = None,
    *,
    creates_max: int = 4,
    deletes_max: int = 3,
) -> DrawnWorkload:
    """What is asked of a cluster, to the milli of a cpu what its nodes have, or have left, among
    it; the smallest is one pod that asks for nothing."""
    rooms = _rooms(cluster) if cluster is not None else CPUS_M
    asks = st.sampled_from(ASKS_M) | st.sampled_from(rooms)
    drafts = st.builds(_Draft, asks_m=asks, rank=st.sampled_from(RANKS), app=st.sampled_from(APPS))
    drawn = draw(st.lists(drafts, min_size=1, max_size=creates_max))
    creates = tuple(_named(f"c{n}", draft) for n, draft in enumerate(drawn, 1))
    there = creates if cluster is None else (*creates, *cluster.pods)
    names = st.sampled_from([pod.meta.name for pod in there])
    deletes = st.builds(Deletion, names, st.sampled_from([None, 0, 1, 30]))
    return DrawnWorkload(creates, tuple(draw(st.lists(deletes, max_size=deletes_max))))


def _rooms(cluster: DrawnCluster) -> list[int]:
    """What the nodes have, and what they have left."""
    left = {node.meta.name: room_of(node)["cpu"] for node in cluster.nodes}
    had = list(left.values())
    for pod in cluster.pods:
        if pod.is_bound and not pod.is_over:
            left[pod.spec.node_name] -= requests_of(pod).get("cpu", 0)
    return sorted({*had, *left.values()})


def _named(name: str, draft: _Draft, **spec: Any) -> Pod:
    rank = draft.rank
    said: dict[str, Any] = (
        {} if rank is None else {"priority": rank, "priority_class_name": _class_name(rank)}
    )
    pod = Pod.of(name, cpu_m=draft.asks_m, labels={"app": draft.app}, **said, **spec)
    return pod.with_meta(uid=f"uid-{name}", created_ms=draft.created_ms)


def _placed(name: str, draft: _Draft, left: dict[str, int]) -> Pod:
    """The pod of a draft, on its node if that has room: `left` has less then."""
    node = f"n{draft.place}"
    if node not in left or (not draft.takes_rest and (draft.asks_m or 0) > left[node]):
        return attrs.evolve(_named(name, draft), status=PodStatus(phase="Pending"))
    if draft.takes_rest:
        draft = attrs.evolve(draft, asks_m=left[node])
    is_ready = draft.phase == "Running" and draft.gone_ms is None
    start_ms = None if draft.phase == "Pending" else draft.start_ms
    ready = Condition("Ready", "True" if is_ready else "False", since_ms=draft.start_ms)
    status = PodStatus(phase=draft.phase, conditions=(ready,), start_ms=start_ms)
    pod = attrs.evolve(_named(name, draft, node_name=node, grace_s=30), status=status)
    if draft.gone_ms is not None and not pod.is_over:
        pod = pod.with_meta(deleted_ms=draft.gone_ms, grace_s=30)
    left[node] -= 0 if pod.is_over else draft.asks_m or 0
    return pod


def _class_name(rank: int) -> str:
    return f"class-{rank}".replace("--", "-minus-")


def _classes(pods: Sequence[Pod]) -> tuple[PriorityClass, ...]:
    """Those that the pods name."""
    ranks = sorted({pod.priority for pod in pods if pod.spec.priority_class_name})
    return tuple(PriorityClass(_class_name(rank), value=rank) for rank in ranks)


def _budget(app: str, least: int, pods: Sequence[Pod]) -> PodDisruptionBudget:
    """A budget for the pods of an app, with the counts its controller would make (CTL-21…23)."""
    spec = PodDisruptionBudgetSpec(least, selector=LabelSelector(Map(app=app)))
    budget = PodDisruptionBudget(Meta(f"budget-{app}", uid=f"uid-budget-{app}", generation=1), spec)
    mine = [pod for pod in pods if budget.covers(pod.meta)]
    healthy = sum(pod.is_ready for pod in mine)
    status = PodDisruptionBudgetStatus(
        disruptions_allowed=max(0, healthy - least) if mine else 0,
        current_healthy=healthy,
        desired_healthy=least,
        expected_pods=len(mine),
        observed_generation=1,
    )
    return attrs.evolve(budget, status=status)
