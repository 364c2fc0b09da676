"""The Job controller: each end of a pod counts once, and a Job comes to the end it deserves."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.controllers.garbage import GarbageCollector
from actors.controllers.job.controller import JobController, is_over
from actors.controllers.job.tally import TRACKING, JobTally, wrong_with
from testbed import Actor, ApiError, Cache, Client, Operation
from testbed.choosers.bounded import Bounded
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.objects import ContainerStatus, Job, JobSpec, Map, Pod, PodStatus
from testbed.world.scenario import of, play_runs
from testbed.world.world import World
from tests.each_row import each_row
from tests.models.worlds.workloads import all_of, template, workload_world
from tests.shared.stage import Doing, Puppet, play

QUIET = {"events": "off"}


def job(completions: int | None = 1, parallelism: int = 1, **spec: Any) -> Job:
    """A Job `work`."""
    never = template(restart_policy=spec.pop("restart_policy", "Never"))
    return Job("work", spec=JobSpec(parallelism, completions, template=never, **spec))


@attrs.frozen
class Ender(Actor):
    """Stands for nodes: ends each pod as its script says, in the order in which they come; and
    removes those that are deleted."""

    ends: str = ""
    """A letter for each pod: s to succeed, f to fail, r to run on; the last one for all others."""
    after_ms: int = 1000

    async def run(self, client: Client) -> None:
        todo, seen = client.queue("todo", idle=True), dict[str, int]()

        def changed(pod: Pod) -> None:
            if pod.meta.uid not in seen:
                seen[pod.meta.uid] = len(seen)
                todo.put((pod, self.ends[min(seen[pod.meta.uid], len(self.ends) - 1)]))

        pods = Cache(client, Pod)
        pods.on(add=changed, update=lambda _, new: changed(new))
        while True:
            pod, end = await todo.get()
            client.spawn(f"end-{pod.meta.name}", self._end, client, pod, end)

    async def _end(self, client: Client, pod: Pod, end: str) -> None:
        await client.sleep(self.after_ms, "work")
        phase = {"s": "Succeeded", "f": "Failed", "r": "Running"}[end]
        tree = {"status": {"phase": phase}}
        try:
            await client.patch(pod, tree, subresource="status")
        except ApiError as error:
            client.record("failed", error=error.reason)


def run(user: Doing, ends: str, *actors: Actor) -> World:
    """Play it with a stand-in for nodes; the Job as it ended."""
    world = workload_world(
        user, JobController("jobs", switches=QUIET), Ender("nodes", ends), *actors
    )
    play(world)
    return world


def played(item: Job, ends: str, **given: Any) -> World:
    """The same for a user who creates that Job."""

    async def user(client: Client) -> None:
        await client.create(item)

    return run(user, ends, **given)


def counts(world: World) -> tuple[int, int, int]:
    """How many pods are active, have succeeded and have failed, as the Job says."""
    (item,) = all_of(world, Job)
    assert item.status.uncounted is None
    return item.status.active, item.status.succeeded, item.status.failed


def end_of(world: World) -> str:
    """The condition that the Job ended with, and why; empty if it has not ended."""
    (item,) = all_of(world, Job)
    return " ".join(f"{each.type} {each.reason}".strip() for each in item.status.conditions)


@pytest.mark.spec("CTL-8")
def test_a_work_queue_starts_nothing_more_after_the_first_success() -> None:
    """It is complete when all are over."""
    world = played(job(None, 3), "ss")
    assert (counts(world), end_of(world), len(all_of(world, Pod))) == ((0, 3, 0), "Complete", 3)


@pytest.mark.spec("CTL-9")
def test_with_more_failures_than_its_limit_the_job_fails() -> None:
    """Its active pods are deleted, and count as failed, too."""
    world = played(job(3, 2, backoff_limit=0), "fr")
    assert (counts(world), end_of(world)) == ((0, 0, 2), "Failed BackoffLimitExceeded")
    assert [pod.status.phase for pod in all_of(world, Pod)] == ["Failed"]


@pytest.mark.spec("CTL-9")
@each_row(("counts", "end"), [((1, 1), ""), ((1, 1, 1), "BackoffLimitExceeded")])
def test_restarts_of_all_containers_count_against_the_limit(
    counts: tuple[int, ...], end: str
) -> None:
    """Where a kubelet starts the containers of a pod again, a failure is a restart."""
    statuses = tuple(ContainerStatus(f"c{n}", restart_count=many) for n, many in enumerate(counts))
    pod = attrs.evolve(Pod.of("p"), status=PodStatus("Running", container_statuses=statuses))
    item = job(restart_policy="OnFailure", backoff_limit=3)
    assert wrong_with(item, JobTally((pod,), (), ()), 0) == end


@pytest.mark.spec("CTL-9")
def test_a_job_that_is_active_for_too_long_fails() -> None:
    """Its deadline counts from when its controller first saw it."""
    world = played(job(active_deadline_s=5), "r")
    assert (counts(world), end_of(world)) == ((0, 0, 1), "Failed DeadlineExceeded")


@pytest.mark.spec("CTL-10", "API-30")
@each_row("bound", [True, False])
def test_a_pod_that_is_deleted_counts_as_failed_once(bound: bool) -> None:
    """The finalizer keeps it until it is counted, whoever deletes it; then it is gone."""

    async def user(client: Client) -> None:
        await client.create(job())
        await client.sleep(10)
        (pod,) = (await client.list(Pod)).items
        assert pod.meta.finalizers == (TRACKING,)
        grace = Map(grace_s=0)
        await client.ask(Operation("delete", "pods", pod.meta.name, "default", options=grace))

    world = run(user, "rs")
    assert (counts(world), end_of(world)) == ((0, 1, 1), "Complete")
    assert len(all_of(world, Pod)) == 1


def test_pods_of_a_job_that_is_gone_are_let_go() -> None:
    """No Job will count them. The garbage collector deletes them, and nothing holds them."""

    async def user(client: Client) -> None:
        await client.create(job(2, 2))
        await client.sleep(10)
        await client.delete(Job("work"), whatever_it_was=True)

    assert all_of(run(user, "r", GarbageCollector("gc")), Pod) == []


def test_a_job_may_be_suspended() -> None:
    """Its pods are deleted, and come again."""

    async def user(client: Client) -> None:
        await client.create(job(2, 2))
        await client.sleep(10)
        await client.patch(Job("work"), {"spec": {"suspend": True}})
        await client.sleep(10)
        assert (await client.get(Job, "work")).status.active == 0
        await client.patch(Job("work"), {"spec": {"suspend": False}})

    world = run(user, "rrs")
    assert (counts(world)[:2], end_of(world)) == ((0, 2), "Complete")


@pytest.mark.spec("CTL-10")
@each_row("fault", [Crash("jobs", restart_after_ms=10), LoseReply("jobs")])
def test_nothing_is_counted_twice_whatever_goes_wrong(fault: Any) -> None:
    """At whatever turn it strikes: each end of a pod counts once, and no pod is held."""

    async def user(client: Client) -> None:
        await client.create(job(2, 2, backoff_limit=9))

    def build(world: World) -> None:
        world.serve(ApiServer)
        world.start(JobController("jobs", switches=QUIET), Ender("nodes", "ffs"))
        world.start(Puppet("user", user))
        world.allow(fault)

    def look(world: World) -> bool:
        (item,) = all_of(world, Job)
        assert is_over(item)
        pods = all_of(world, Pod)
        phases = [pod.status.phase for pod in pods]
        ends = (phases.count("Succeeded"), phases.count("Failed"))
        _, succeeded, failed = counts(world)
        # A create under way at a crash is a pod too many; it may end when the Job is over.
        assert (succeeded, failed) == ends or (len(pods) > 4 and 2 <= succeeded <= ends[0])
        assert failed <= ends[1]
        assert not any(pod.meta.finalizers for pod in pods)
        return True

    strikes = Bounded(deviations_max=1)
    assert play_runs(of(build, "strikes"), strikes, look, runs_max=40, driver="direct") > 30
