"""Scheduling queue: which pod is tried next, how long each backs off, and which events move it."""

from __future__ import annotations

import attrs
import pytest

from actors.framework.cluster_events import (
    ANY_POD,
    NODE_ADDED,
    NODE_DELETED,
    NODE_LABELS,
    NODE_UPDATED,
    NOMINATED,
    POD_ADDED,
    POD_DELETED,
    POD_UPDATED,
    wakes_of,
)
from actors.framework.podinfo import identity
from actors.scheduler.cluster.nominator import Nominator, in_annotation, in_status
from actors.scheduler.queue.priority_queue import SchedulingQueue
from actors.scheduler.queue.queued import ACTIVE, BACKOFF, UNSCHEDULABLE, Attempt, QueuedPod
from actors.scheduler.switches import switches_of
from testbed.objects import Map, Pod
from testbed.objects.affinity import Affinity, PodAffinity, PodAffinityTerm
from testbed.objects.pod import SchedulingGate
from tests.each_row import each_row

NEAR = Affinity(pod_affinity=PodAffinity(required=(PodAffinityTerm("zone"),)))


@attrs.frozen
class Plain:
    """A filter that does not say which events it waits for."""

    name: str


@attrs.frozen
class Waiting:
    """A filter that does."""

    name: str
    wakes: frozenset[str]


FIT = Waiting("fit", NODE_UPDATED | {NODE_ADDED, POD_DELETED})
NEARNESS = Waiting("near", ANY_POD | {NODE_ADDED, NODE_LABELS})
FILTERS = (FIT, NEARNESS, Plain("any"))


class Bench:
    """A queue, the pods that its informer has, and a clock."""

    def __init__(self, **given: str) -> None:
        self.known: dict[str, Pod] = {}
        switches = switches_of(given=given)
        said = in_annotation if switches.nnn_storage == "annotation" else in_status
        self.nominator = Nominator(self.known.get, said)
        self.queue = SchedulingQueue(self.nominator, wakes_of(FILTERS), switches)
        self.now_ms = 0

    def add(self, *pods: Pod) -> None:
        """These pods are added, one after another."""
        for pod in pods:
            self.known[pod.key] = pod
            self.queue.add(pod, self.now_ms)

    def update(self, new: Pod) -> None:
        """A pod changes."""
        old, self.known[new.key] = self.known[new.key], new
        self.queue.update(old, new, self.now_ms)

    def pop(self) -> QueuedPod:
        """Pop a pod; there is one."""
        queued = self.queue.pop(self.now_ms)
        assert queued is not None
        return queued

    def fail(self, queued: QueuedPod, *refused_by: str) -> str:
        """Its attempt fails."""
        queue, pod = self.queue, self.known[queued.pod.key]
        attempt = Attempt(queued, pod, queue.cycle, self.now_ms, frozenset(refused_by))
        return queue.failed(attempt)

    def fails(self, pod: Pod, *refused_by: str) -> str:
        """It is added, popped, and fails."""
        self.add(pod)
        return self.fail(self.pop(), *refused_by)

    def wait(self, ms: int) -> None:
        """Time passes, and backoffs end."""
        self.now_ms += ms
        self.queue.flush_backoff(self.now_ms)

    def names(self, place: str) -> list[str]:
        """The names of the pods in that place."""
        return [key.rpartition("/")[2] for key in self.queue.places[place]]


@pytest.mark.spec("SCH-8", "SCH-10")
def test_the_most_important_is_tried_first_then_who_came_first() -> None:
    """Also within one millisecond, whatever their names are. Attempts and cycles are counted."""
    bench = Bench()
    bench.add(Pod.of("d", priority=5), Pod.of("c"), Pod.of("b"))
    bench.now_ms = 1
    bench.add(Pod.of("a"), Pod.of("x", priority=5))
    assert [bench.pop().pod.meta.name for _ in range(5)] == ["d", "x", "c", "b", "a"]
    assert bench.queue.pop(1) is None
    assert not bench.queue.is_ready
    assert bench.queue.cycle == 5


@pytest.mark.spec("SCH-8", "SCH-17")
def test_who_failed_first_is_tried_first_within_one_millisecond() -> None:
    """Whatever their names are, and in whatever order they came. Each failure counts again."""
    bench = Bench()
    bench.add(Pod.of("a"), Pod.of("b"))
    for order in ("ba", "ba", "ab"):
        tried = {queued.pod.meta.name: queued for queued in (bench.pop(), bench.pop())}
        for name in order:
            bench.fail(tried[name], "fit")
        bench.queue.move(POD_DELETED, bench.now_ms)
        assert not bench.queue.is_ready, "both are in backoff"
        assert bench.names("backoff") == list(order)
        bench.wait(10_000)
        assert bench.names("active") == list(order)


@pytest.mark.spec("SCH-9", "SCH-10")
def test_what_is_known_of_a_pod_goes_with_it_through_its_attempts() -> None:
    """When it arrived, when it last failed, how often it was tried, which filters refused it.
    All of that is forgotten when it leaves the queue."""
    bench, pod = Bench(), Pod.of("a")
    bench.now_ms = 100
    bench.add(pod)
    queued = bench.pop()
    bench.now_ms = 200
    bench.fail(queued, "fit")
    told = (queued.pod, queued.first_ms, queued.since_ms, queued.attempts)
    assert told == (pod, 100, 200, 1)
    assert (queued.refused_by, queued.is_gated) == (frozenset({"fit"}), False)
    bench.wait(5000)
    bench.queue.move(POD_DELETED, bench.now_ms)
    assert bench.pop() is queued
    assert (queued.attempts, queued.refused_by) == (2, frozenset())
    bench.fail(queued)
    bench.queue.delete(pod)
    bench.add(pod)
    anew = bench.pop()
    assert (anew.attempts, anew.first_ms) == (1, 5200)


@pytest.mark.spec("SCH-11", "SCH-12", "SCH-17")
def test_backoff_doubles_up_to_ten_seconds() -> None:
    """From its failure, not from its arrival; and it is activated at that instant, not before."""
    bench = Bench()
    bench.add(Pod.of("a"))
    for seconds in (1, 2, 4, 8, 10, 10):
        queued = bench.pop()
        bench.queue.move(NODE_ADDED, bench.now_ms)
        assert bench.fail(queued) == "backoff"
        assert bench.queue.backoff_due_ms == bench.now_ms + seconds * 1000
        bench.wait(seconds * 1000 - 1)
        assert bench.names("backoff") == ["a"]
        bench.wait(1)
        assert bench.names("active") == ["a"]
    assert bench.pop().attempts == 7


@pytest.mark.spec("SCH-15", "SCH-16", "SCH-18")
def test_an_event_during_an_attempt_is_not_lost() -> None:
    """After any event between pop and failure the pod backs off instead of waiting for an event.
    An event before the pop, even the very first one, has no such effect."""
    bench = Bench()
    bench.queue.move(POD_UPDATED, 0)
    bench.add(Pod.of("a"), Pod.of("b"))
    assert bench.fail(bench.pop(), "fit") == "unschedulable"
    queued = bench.pop()
    bench.queue.move(POD_UPDATED, 0)
    assert bench.fail(queued, "fit") == "backoff"
    assert bench.names("unschedulable") == ["a"]


@pytest.mark.spec("SCH-20", "SCH-22", "SCH-25")
def test_an_event_moves_pods_refused_by_a_filter_that_waits_for_it() -> None:
    """After an error any event moves a pod; also if the filter does not say what it waits for,
    or is unknown."""
    bench = Bench()
    bench.fails(Pod.of("a"), "near")
    bench.fails(Pod.of("b"), "near", "fit")
    bench.fails(Pod.of("c"))
    bench.fails(Pod.of("d"), "any")
    bench.fails(Pod.of("e"), "who")
    bench.fails(Pod.of("f"), "near")
    bench.wait(1000)
    bench.queue.move("node allocatable", bench.now_ms)
    assert bench.names("active") == ["b", "c", "d", "e"]
    assert bench.names("unschedulable") == ["a", "f"]
    bench.queue.move(NODE_LABELS, bench.now_ms, lambda pod: pod.meta.name == "f")
    assert bench.names("unschedulable") == ["a"]


@pytest.mark.spec("SCH-20")
def test_a_pod_that_is_moved_still_backs_off() -> None:
    """One second after the first failure; the event is not lost for it."""
    bench = Bench()
    bench.fails(Pod.of("a"), "fit")
    bench.now_ms = 999
    bench.queue.move(POD_DELETED, bench.now_ms)
    assert bench.names("backoff") == ["a"]
    bench.wait(1)
    assert bench.names("active") == ["a"]


@pytest.mark.spec("SCH-24")
def test_an_added_or_updated_pod_moves_only_pods_with_affinity() -> None:
    """And only to those that match it; a pod that was refused for another reason stays."""
    for event in (POD_ADDED, POD_UPDATED):
        bench = Bench()
        bench.fails(Pod.of("a"))
        bench.fails(Pod.of("b", affinity=NEAR), "near")
        bench.fails(Pod.of("c", affinity=NEAR), "near")
        bench.fails(Pod.of("d", affinity=NEAR), "fit")
        bench.wait(1000)
        bench.queue.move(event, bench.now_ms, lambda pod: pod.meta.name != "c")
        assert bench.names("active") == ["b"]


@pytest.mark.spec("SCH-21", "SCH-28")
def test_a_deleted_node_moves_pods_only_where_everything_does() -> None:
    """In 1.26 it does not even count as a move."""
    bench = Bench()
    bench.fails(Pod.of("a"), "fit")
    bench.add(Pod.of("b"))
    queued = bench.pop()
    bench.wait(1000)
    bench.queue.move(NODE_DELETED, bench.now_ms)
    assert bench.fail(queued, "fit") == "unschedulable"
    assert bench.names("unschedulable") == ["a", "b"]
    bench = Bench(requeue_scope="everything")
    bench.fails(Pod.of("a"), "near")
    bench.wait(1000)
    bench.queue.move(NODE_DELETED, bench.now_ms, lambda pod: False)
    assert bench.names("active") == ["a"]


@pytest.mark.spec("SCH-28")
def test_where_everything_moves_an_added_pod_moves_only_pods_with_affinity() -> None:
    """An update of a pod moves all."""
    bench = Bench(requeue_scope="everything")
    bench.fails(Pod.of("a"), "fit")
    bench.fails(Pod.of("b", affinity=NEAR), "fit")
    bench.fails(Pod.of("c", affinity=NEAR), "fit")
    bench.wait(1000)
    bench.queue.move(POD_ADDED, bench.now_ms, lambda pod: pod.meta.name == "b")
    assert bench.names("active") == ["b"]
    bench.queue.move(POD_UPDATED, bench.now_ms, lambda pod: False)
    assert bench.names("active") == ["a", "b", "c"]


@pytest.mark.spec("SCH-13")
def test_a_pod_that_has_waited_for_five_minutes_is_tried_again() -> None:
    """After more than five minutes; it counts as a move only if a pod was moved."""
    bench = Bench()
    bench.fails(Pod.of("a"), "fit")
    bench.now_ms = 1
    bench.fails(Pod.of("b"), "fit")
    bench.add(Pod.of("c"))
    queued = bench.pop()
    bench.now_ms = 300_000
    bench.queue.flush_unschedulable(bench.now_ms)
    assert bench.names("unschedulable") == ["a", "b"]
    assert bench.queue.stay_due_ms == 300_001
    assert bench.fail(queued, "fit") == "unschedulable"
    bench.add(Pod.of("d", priority=1))
    queued = bench.pop()
    bench.now_ms += 1
    bench.queue.flush_unschedulable(bench.now_ms)
    assert bench.names("active") == ["a"]
    assert bench.fail(queued, "fit") == "backoff"
    assert bench.fail(bench.pop(), "fit") == "unschedulable"


@pytest.mark.spec("SCH-26")
def test_an_update_replaces_a_pod_where_it_is_and_lets_it_be_tried_if_it_may_fit() -> None:
    """A change of its status or of its server-side metadata moves nothing; any other does. A pod
    that is not there is added."""
    bench = Bench()
    bench.fails(Pod.of("a"), "fit")
    bench.wait(1000)
    a = bench.known["pods/default/a"]
    said = attrs.evolve(a.status, phase="Pending")
    a = attrs.evolve(a, status=said).with_meta(finalizers=("x",), generation=3)
    bench.update(a)
    assert bench.names("unschedulable") == ["a"]
    bench.update(a.with_meta(labels={"app": "web"}))
    assert bench.names("active") == ["a"]
    bench.add(Pod.of("b"))
    assert bench.names("active") == ["a", "b"]
    bench.update(attrs.evolve(Pod.of("b", priority=7)))
    assert bench.names("active") == ["b", "a"]
    queued = bench.pop()
    bench.update(Pod.of("b"))
    assert bench.names("active") == ["a", "b"]
    assert bench.fail(queued) == ""
    again, new = bench.pop(), bench.pop()
    assert (again.attempts, again.refused_by, new.attempts) == (2, frozenset(), 1)


def test_a_pod_that_failed_waits_as_its_informer_has_it_now() -> None:
    """Even if the queue was not told of the change, since the pod was assumed meanwhile."""
    bench = Bench()
    bench.add(Pod.of("a"))
    queued = bench.pop()
    status = attrs.evolve(queued.pod.status, nominated_node_name="n1")
    bench.known[queued.pod.key] = fresh = attrs.evolve(queued.pod, status=status)
    bench.fail(queued)
    bench.wait(1000)
    bench.queue.move(NODE_ADDED, bench.now_ms)
    assert bench.pop().pod is fresh
    assert [info.pod for info in bench.nominator.on("n1")] == [fresh]


@pytest.mark.spec("SCH-27", "SCH-50")
@each_row("storage", ["status", "annotation"])
def test_a_cleared_nomination_lets_a_pod_be_tried_only_where_the_switch_says_so(
    storage: str,
) -> None:
    """Wherever it is written. A new nomination does not move its own pod."""

    def nominated(node: str) -> Pod:
        if storage == "annotation":
            return plain.with_meta(annotations=Map({NOMINATED: node}))
        return attrs.evolve(plain, status=attrs.evolve(plain.status, nominated_node_name=node))

    plain = Pod.of("a")
    for switch, place in (("off", "unschedulable"), ("on", "active")):
        bench = Bench(nnn_storage=storage, requeue_on_nnn_clear=switch)
        bench.fails(plain, "fit")
        bench.wait(1000)
        bench.update(nominated("n1"))
        assert bench.names("unschedulable") == ["a"]
        assert bench.nominator.node_of(identity(plain)) == "n1"
        bench.update(nominated("n2"))
        assert bench.names("unschedulable") == ["a"]
        bench.update(plain)
        assert bench.names(place) == ["a"]
        assert bench.nominator.node_of(identity(plain)) == ""


@pytest.mark.spec("SCH-14")
def test_a_pod_with_gates_is_tried_when_they_are_gone_and_not_before() -> None:
    """Whatever happens, and however long it takes; then at once, as it has no backoff."""
    bench = Bench()
    gated = Pod.of("a", scheduling_gates=(SchedulingGate("wait"),))
    bench.add(gated)
    for event in (POD_DELETED, NODE_ADDED, POD_UPDATED):
        bench.queue.move(event, 0)
    bench.update(gated.with_meta(labels={"app": "web"}))
    bench.now_ms = 400_000
    bench.queue.flush_unschedulable(bench.now_ms)
    assert bench.names("unschedulable") == ["a"]
    assert bench.queue.stay_due_ms is None
    bench.update(attrs.evolve(gated, spec=attrs.evolve(gated.spec, scheduling_gates=())))
    assert bench.names("active") == ["a"]
    assert bench.pop().attempts == 1


@each_row("place", [UNSCHEDULABLE, BACKOFF])
def test_a_pod_that_is_added_again_waits_in_one_place(place: str) -> None:
    """Wherever it was, it is active, and nowhere else."""
    bench = Bench()
    bench.add(Pod.of("p"))
    queued = bench.pop()
    if place == BACKOFF:
        bench.queue.move(NODE_ADDED, bench.now_ms)
    assert bench.fail(queued, "fit") == place
    bench.add(Pod.of("p"))
    held = bench.queue.places
    assert {name for name, pods in held.items() if pods} == {ACTIVE}


def test_a_pod_that_is_gone_waits_nowhere() -> None:
    """Whatever its place was; its nomination is removed, too."""
    bench = Bench()
    bench.fails(Pod.of("a"), "fit")
    bench.fails(Pod.of("b"))
    bench.wait(1000)
    bench.queue.move(NODE_ADDED, bench.now_ms, lambda pod: pod.meta.name == "b")
    bench.fails(Pod.of("c"), "fit")
    bench.queue.move(NODE_ADDED, bench.now_ms, lambda pod: pod.meta.name == "c")
    bench.nominator.nominate(bench.known["pods/default/a"], "n1")
    for name in "abc":
        bench.queue.delete(bench.known[f"pods/default/{name}"])
    assert not any(bench.queue.places.values())
    assert not bench.nominator.nominated
