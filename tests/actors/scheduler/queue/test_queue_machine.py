"""Both queues and the nominator behave like a simple model, whatever is done with them."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from hypothesis.strategies import booleans, integers, sampled_from, sets

from actors.framework.cluster_events import ANY_EVENT, GATES, POD_UPDATED
from actors.scheduler.cluster.nominator import Nominator
from actors.scheduler.queue.fifo import FifoQueue
from actors.scheduler.queue.priority_queue import SchedulingQueue
from actors.scheduler.queue.queued import Attempt, PodQueue, QueuedPod
from actors.scheduler.switches import switches_of
from testbed.objects import Pod, Revision
from testbed.objects.affinity import Affinity, PodAffinity, PodAffinityTerm
from testbed.objects.pod import SchedulingGate
from tests.models.queue_model import Model, Waiter

NAMES = sampled_from("abcdef")
NODES = sampled_from(["", "n1", "n2"])
NEAR = Affinity(pod_affinity=PodAffinity(required=(PodAffinityTerm("zone"),)))
WAITS_FOR = {
    "fit": ("pod deleted", "node added", "node allocatable"),
    "near": ("pod added", "pod updated"),
}
FILTERS = sets(sampled_from(["fit", "near", "any"]), max_size=2)


class Machine(RuleBasedStateMachine):
    """A queue, its nominator and the pods of its informer, beside the model."""

    done = 0
    """How many things were done with them, by all of them."""
    attempts_max = 0

    @initialize(
        kind=sampled_from(["priority", "priority", "fifo"]), everything=booleans(), clear=booleans()
    )
    def begin(self, kind: str, everything: bool, clear: bool) -> None:
        """Choose the switches."""
        self.now_ms, self.uids = 0, 0
        self.known: dict[str, Pod] = {}
        given = {"queue": kind, "requeue_on_nnn_clear": "on" if clear else "off"}
        given["requeue_scope"] = "everything" if everything else "plugin_events"
        switches = switches_of(given=given)
        self.nominator = Nominator(self.known.get)
        wakes = {name: frozenset(events) for name, events in WAITS_FOR.items()}
        self.queue: PodQueue = (
            FifoQueue(self.nominator, switches)
            if kind == "fifo"
            else SchedulingQueue(
                self.nominator, {GATES: frozenset({POD_UPDATED}), **wakes}, switches
            )
        )
        self.model = Model(
            kind, everything, clear, {"SchedulingGates": ("pod updated",), **WAITS_FOR}, self.known
        )
        self.being_tried: list[tuple[QueuedPod, Waiter]] = []

    def waiting(self, name: str) -> Pod | None:
        """The pod of that name, if it exists and has no node."""
        pod = self.known.get(f"pods/default/{name}")
        return None if pod is None or pod.is_bound else pod

    @rule(name=NAMES, priority=integers(0, 2), near=booleans(), gated=integers(0, 4), node=NODES)
    def come(self, name: str, priority: int, near: bool, gated: int, node: str) -> None:
        """A pod is created, unless one has its name."""
        if f"pods/default/{name}" in self.known:
            return
        gates = () if gated else (SchedulingGate("wait"),)
        affinity = NEAR if near else None
        pod = Pod.of(name, priority=priority, affinity=affinity, scheduling_gates=gates)
        self.uids += 1
        pod = attrs.evolve(pod, status=attrs.evolve(pod.status, nominated_node_name=node))
        self.known[pod.key] = pod = pod.with_meta(uid=str(self.uids))
        self.queue.add(pod, self.now_ms)
        self.model.add(pod, self.now_ms)

    @rule(
        name=NAMES,
        what=sampled_from(["books", "label", "priority", "ungate", "", "n1", "n2"]),
        is_assumed=booleans(),
    )
    def change(self, name: str, what: str, is_assumed: bool) -> None:
        """A pod changes: its status, its metadata, or something else. If it is assumed, the
        queue is not told."""
        old = self.waiting(name)
        if old is None:
            return
        is_news = True
        if what == "books":
            is_news, new = False, old.with_meta(revision=Revision("9"), generation=2)
        elif what == "label":
            new = old.with_meta(labels={"n": str(len(old.meta.labels.get("n", "")))})
            is_news = new.meta.labels != old.meta.labels
        elif what in ("priority", "ungate"):
            spec: dict[str, Any] = (
                {"scheduling_gates": ()} if what == "ungate" else {"priority": old.priority + 1}
            )
            new = attrs.evolve(old, spec=attrs.evolve(old.spec, **spec))
            is_news = new.spec != old.spec
        else:
            is_news = False
            new = attrs.evolve(old, status=attrs.evolve(old.status, nominated_node_name=what))
        self.known[new.key] = new
        if is_assumed and self.model.find(name) is None:
            return
        self.queue.update(old, new, self.now_ms)
        self.model.update(old, new, self.now_ms, is_news)

    @rule(name=NAMES, is_bound=booleans())
    def leave(self, name: str, is_bound: bool) -> None:
        """A pod is bound or deleted; in either case it leaves the queue."""
        old = self.waiting(name)
        if old is None:
            self.known.pop(f"pods/default/{name}", None)
            return
        if is_bound:
            self.known[old.key] = attrs.evolve(old, spec=attrs.evolve(old.spec, node_name="n1"))
        else:
            del self.known[old.key]
        self.queue.delete(old)
        self.model.delete(old)

    @rule(name=NAMES, node=NODES)
    def nominate(self, name: str, node: str) -> None:
        """A decision nominates a pod."""
        pod = self.waiting(name)
        if pod is not None:
            self.nominator.nominate(pod, node)
            self.model.nominate(pod, node)

    @rule()
    def pop(self) -> None:
        """Both give the same pod."""
        queued, waiter = self.queue.pop(self.now_ms), self.model.pop()
        assert (queued is None) == (waiter is None)
        if queued is not None and waiter is not None:
            assert (queued.pod, queued.attempts) == (waiter.pod, waiter.attempts)
            Machine.attempts_max = max(Machine.attempts_max, queued.attempts)
            self.being_tried.append((queued, waiter))

    @precondition(lambda self: self.being_tried)
    @rule(which=integers(0, 9), refused_by=FILTERS)
    def fail(self, which: int, refused_by: set[str]) -> None:
        """An attempt fails, and the pod is requeued if it still has no node."""
        queued, waiter = self.being_tried.pop(which % len(self.being_tried))
        pod = self.waiting(queued.pod.meta.name)
        if pod is None:
            return
        cycle, refusals = self.queue.cycle, frozenset(refused_by)
        place = self.queue.failed(Attempt(queued, pod, cycle, self.now_ms, refusals))
        assert place == self.model.failed(waiter, pod, tuple(sorted(refused_by)), self.now_ms)

    @rule(
        refused_by=FILTERS,
        event=sampled_from(["pod deleted", "node added"]),
        ms=integers(0, 99_000),
    )
    def try_and_fail(self, refused_by: set[str], event: str, ms: int) -> None:
        """The next pod is tried and fails, then an event comes, and time passes."""
        self.pop()
        if self.being_tried:
            self.fail(-1, refused_by)
        self.happen(event, set("abcdef"))
        self.wait(ms)

    @rule(event=sampled_from(sorted(ANY_EVENT)), concerned=sets(NAMES, min_size=3))
    def happen(self, event: str, concerned: set[str]) -> None:
        """An event comes that may help these pods."""

        def may(pod: Pod) -> bool:
            return pod.meta.name in concerned

        before = self.queue.places
        has_moved = self.queue.move(event, self.now_ms, may)
        assert has_moved or self.queue.places == before
        self.model.move(event, self.now_ms, may)

    @rule(ms=sampled_from([1, 999, 1000, 2000, 9000, 60_000, 300_001]))
    def wait(self, ms: int) -> None:
        """Time passes, and both flush what is due."""
        self.now_ms += ms
        for each in (self.queue, self.model):
            each.flush_backoff(self.now_ms)
            each.flush_unschedulable(self.now_ms)

    @invariant()
    def is_as_the_model(self) -> None:
        """The places, the due times and the nominations are those of the model."""
        if not hasattr(self, "queue"):
            return
        Machine.done += 1
        queue, model = self.queue, self.model
        for place, keys in queue.places.items():
            assert sorted(key.rpartition("/")[2] for key in keys) == model.names(place)
        assert queue.is_ready == bool(model.names("active"))
        assert queue.backoff_due_ms == model.due("backoff", model.pause_until)
        stay = model.due("unschedulable", lambda each: each.since_ms + 300_001)
        assert queue.stay_due_ms == stay
        on: dict[str, tuple[Pod, ...]] = {}
        for pod, node in model.nominated:
            on[node] = (*on.get(node, ()), pod)
        found = self.nominator.nominated
        assert {node: tuple(each.pod for each in found[node]) for node in found} == on
        for node, pods in on.items():
            assert self.nominator.on(node) == found[node]
            assert all(self.nominator.node_of(pod.meta.uid) == node for pod in pods)


def run(examples: int, steps: int) -> int:
    """Run the machine this often, and return the number of steps."""
    before = Machine.done
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None,
            database=None, suppress_health_check=list(HealthCheck), report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
        ),
    )  # fmt: skip
    return Machine.done - before


CITED = ("SCH-7", "SCH-15", "SCH-16", "SCH-20", "SCH-26", "SCH-29", "SCH-45", "SCH-48", "INV-16")


@pytest.mark.spec(*CITED)
def test_the_queues_do_as_the_model() -> None:
    """In some thousand steps; some pods are tried several times."""
    assert run(examples=60, steps=50) > 2000
    assert Machine.attempts_max > 3


@pytest.mark.long
@pytest.mark.spec(*CITED)
def test_the_queues_do_as_the_model_for_long() -> None:
    """In a hundred thousand steps."""
    assert run(examples=2000, steps=100) >= 100_000
