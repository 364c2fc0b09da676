"""The hypothesis door: strategies for Runs, fault budgets, clusters and workloads.

    @given(run=runs("lost_update"))
    def test_no_update_is_lost(run):
        run.must_hold()

Hypothesis draws everything: the objects of the World, which faults it allows, and each choice of
the Run. So it shrinks them together: to few objects, and to a Run close to the calm one.

Clusters and workloads are made to cause trouble. Amounts, times and priorities have few different
values, so there are ties. Some pods request exactly what is left of a node, some request nothing,
and some are already terminating.
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
from testbed.world.budget import LIMIT
from testbed.world.fault_kinds import parse_fault
from testbed.world.tried.judged import tried_in
from testbed.world.tried.saying import notable
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
"""The faults that `fault_budgets` draws from by default."""
Drawable = Mapping[str, Any] | SearchStrategy[Mapping[str, Any]] | None
Budget = Sequence[Fault | str] | SearchStrategy[list[Fault]]


@attrs.frozen
class _Draws:
    """What `Drawn` draws from: the `draw` of a strategy. `data.draw` would print each number that
    is drawn in a failing test, and there are hundreds in a Run."""

    draw: Callable[[SearchStrategy[Any]], Any]


def runs(
    scenario: Recipe | None = None,
    *,
    build: SearchStrategy[Callable[[World], None]] | None = None,
    switches: Drawable = None,
    faults: Budget = (),
    limits: Mapping[str, int] | None = None,
    driver: str = "direct",
    draws_max: int = DRAWS_MAX,
) -> SearchStrategy[Run]:
    """Runs of a scenario (a function, a short name or `module:function`), or of one that `build`
    draws. `switches` and `faults` are values, or strategies for them; `limits` are those of the
    Run, such as `{"until_ms": 45_000}`.

    Hypothesis shrinks each drawn number toward 0, and Option 0 is the dullest. So a failing Run is
    shrunk toward the calm one, in which every choice is 0.
    """
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
        given = {**(given or {}), **{f"{LIMIT}.{name}": n for name, n in (limits or {}).items()}}
        allowed = draw(faults) if isinstance(faults, SearchStrategy) else faults_of(faults)
        # The whole Run is played while Hypothesis draws: each choice that the World asks for is one
        # more draw. So the objects above and the choices here are one example, shrunk as one.
        chooser = Drawn(_Draws(draw), draws_max=draws_max)
        run = play(made, chooser, switches=given, faults=allowed, driver=driver)
        event(f"{run.recipe.name}: {run.verdict.outcome}")
        for line in notable(tried_in(run.world)):
            event(f"{run.recipe.name}: {line}")
        # The smallest example is played once more at the end; only that one is told in full.
        is_last = getattr(current_build_context(), "is_final", True)
        return attrs.evolve(run, is_last=is_last, is_one_of_many=True)

    return drawn()


def fault_budgets(
    *faults: str | Fault, count_max: int = 2, times_max: int = 2
) -> SearchStrategy[list[Fault]]:
    """Lists of Faults for a World to allow: mostly none or one, each to strike once or a few times.

    They are drawn from the faults that are given, or else from the common ones, at any target.
    """
    named = [parse_fault(fault) if isinstance(fault, str) else fault for fault in faults or WORDS]

    def striking(fault: Fault, times: int) -> Fault:
        return attrs.evolve(fault, times_max=times)

    one = st.builds(striking, st.sampled_from(named), st.integers(1, times_max))
    return st.one_of(
        st.just([]),
        st.lists(one, min_size=1, max_size=1),
        st.lists(one, max_size=count_max, unique_by=lambda fault: (fault.word, fault.target)),
    )


CPUS_M = (1000, 2000, 4000)
"""The cpu of a node."""
ASKS_M = (None, 0, 250, 500, 1000, 4000)
"""The cpu request of a pod; None: it has none."""
RANKS = (None, 0, 10, -1, 1_000_000_000)
"""The priority of a pod; None: not set."""
TIMES_MS = (0, 1000, 2000)
"""When objects were created or pods started; often equal."""
APPS = ("a", "b")
PHASES = ("Running", "Running", "Pending", "Succeeded", "Failed")
GONE_MS = (None, None, 30_000, 60_000)


@attrs.frozen
class DrawnCluster:
    """A small cluster in which no node is given more than it has."""

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...] = ()
    """Bound pods, some of them terminating or finished, and pending pods."""
    classes: tuple[PriorityClass, ...] = ()
    budgets: tuple[PodDisruptionBudget, ...] = ()
    """With the status that their controller would give them for these pods."""

    @property
    def objects(self) -> tuple[Node | Pod | PriorityClass | PodDisruptionBudget, ...]:
        """All objects, each after those that it refers to: for `world.add`."""
        return (*self.classes, *self.nodes, *self.pods, *self.budgets)


@attrs.frozen
class Deletion:
    """A request to delete a pod."""

    pod: str
    """The name of the pod."""
    grace_s: int | None = None
    """None: the grace period of the pod itself."""


@attrs.frozen
class DrawnWorkload:
    """What users ask of a cluster: pods to create, and pods to delete."""

    creates: tuple[Pod, ...]
    deletes: tuple[Deletion, ...] = ()
    """Of the pods of the cluster, and of those that are created."""


@attrs.frozen
class _Draft:
    """A pod that is drawn before it is known which nodes have room for it."""

    asks_m: int | None = None
    rank: int | None = None
    app: str = APPS[0]
    created_ms: int = 0
    takes_rest: bool = False
    """Whether it requests all that its node has left."""
    place: int = 0
    """The number of the node it runs on; 0: none yet."""
    phase: str = PHASES[0]
    gone_ms: int | None = None
    """When its grace period ends, if it is terminating."""
    start_ms: int = 0


def _drafts(places: int) -> SearchStrategy[_Draft]:
    """Drafts of pods on `places` nodes, or on none."""
    # Each part draws a whole tuple with one draw. If an element of a list takes more than five
    # draws, Hypothesis does not leave it out when it shrinks the list.
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
    """Small clusters; the smallest is one empty node."""
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
    """Workloads for a cluster; the smallest is one pod without a request.

    Some pods request exactly what one of its nodes has, or has left.
    """
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
    """The cpu that each node has, and that it has left."""
    left = {node.meta.name: room_of(node)["cpu"] for node in cluster.nodes}
    had = list(left.values())
    for pod in cluster.pods:
        if pod.is_bound and not pod.is_over:
            left[pod.spec.node_name] -= requests_of(pod).get("cpu", 0)
    return sorted({*had, *left.values()})


def _named(name: str, draft: _Draft, **spec: Any) -> Pod:
    rank = draft.rank
    priority: dict[str, Any] = (
        {} if rank is None else {"priority": rank, "priority_class_name": _class_name(rank)}
    )
    pod = Pod.of(name, cpu_m=draft.asks_m, labels={"app": draft.app}, **priority, **spec)
    return pod.with_meta(uid=f"uid-{name}", created_ms=draft.created_ms)


def _placed(name: str, draft: _Draft, left: dict[str, int]) -> Pod:
    """The pod of a draft, on its node if that has room for it; `left` then has less."""
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
    """The PriorityClasses that the pods name."""
    ranks = sorted({pod.priority for pod in pods if pod.spec.priority_class_name})
    return tuple(PriorityClass(_class_name(rank), value=rank) for rank in ranks)


def _budget(app: str, least: int, pods: Sequence[Pod]) -> PodDisruptionBudget:
    """A budget for the pods of an app, with the counts its controller would set (CTL-21…23)."""
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
