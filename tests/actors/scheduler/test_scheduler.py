"""The scheduler: one pod after another, from its queue to a bind or back to the queue."""

from __future__ import annotations

from typing import Any

import pytest

from actors.controllers.recreator import Recreator
from actors.scheduler import Scheduler
from testbed.choosers.struck import Struck
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.errors import UnknownName
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.invariant import Evidence, always
from testbed.turns.trace import Trace
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.scheduling import (
    NAME,
    attempts,
    books,
    cluster,
    delete,
    events,
    later,
    node_of,
    pending,
    pod_of,
    records,
    there,
    with_kubelets,
    writes,
)
from tests.shared.stage import Puppet, play
from tests.shared.strike import at_every_turn

FULL = "0/1 nodes are available: 1 Insufficient cpu."
NOBODY = "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.."
ON_THEIR_WAY = "preemption: not eligible due to a terminating pod on the nominated node.."
BOTH = pytest.mark.parametrize("driver", ["trio", "direct"])


async def two(client: Client) -> None:
    """An important pod, and one that is not."""
    await client.create(pending("c", 10, 1000))
    await client.create(pending("d", 2, 50))


def golden(**settings: Any) -> World:
    """One node, two victims with grace periods of half a minute and a minute, and those two
    pods."""
    victims = (there("a", 5, 100, grace_s=60), there("b", 5, 100, grace_s=30))
    return with_kubelets(cluster(*victims, user=two, **settings), "n1")


@pytest.mark.spec("SCH-10", "SCH-24", "SCH-25", "SCH-67", "SCH-72", "SCH-98", "SCH-101", "SCH-102")
@BOTH
def test_a_preemptor_waits_until_its_victims_have_ended(driver: str) -> None:
    """Each cycle at its time, with its message; no other pod takes the room that was made, and no
    pod is deleted twice."""
    world = golden()
    played = play(world, driver=driver)
    assert attempts(world) == [
        f"0 c#1 {FULL}", f"0 d#1 {FULL} {NOBODY}",
        f"30000 c#2 {FULL} {ON_THEIR_WAY}", f"30000 d#2 {FULL} {NOBODY}",
        "60000 c#3 n1", f"60000 d#3 {FULL} {NOBODY}",
    ]  # fmt: skip
    assert writes(played.steps) == [
        "patch/status a", "delete a", "patch/status b", "delete b", "patch/status c",
        "patch/status d", "patch/status c", "create/binding c",
    ]  # fmt: skip
    assert played.verdict.virtual_ms == 60_000


@pytest.mark.spec("GEN-7")
def test_only_the_api_server_writes_what_is_stored() -> None:
    """Only what it serves changes an object; no actor asks the Store itself."""
    world = golden()
    steps = play(world).steps
    assert {step.kind for step in steps if step.marks.changes} == {"serve"}
    assert {step.operation.endpoint for step in steps if step.operation} == {""}
    assert world.wire.front == "api"


@pytest.mark.spec("SCH-43", "SCH-118")
def test_a_nomination_outlives_the_scheduler() -> None:
    """The next life reads it from the status: no other pod is preempted, none takes the room, and
    attempts count from one."""
    world = golden()
    world.allow(Crash(NAME, restart_after_ms=25_000))
    played = play(world, "deliver alpha/watch-pods pods/default/d MODIFIED", "fault * crash alpha")
    assert [each.split()[:2] for each in attempts(world)][2:] == [
        ["25000", "c#1"], ["25000", "d#1"], ["30000", "c#2"], ["30000", "d#2"],
        ["60000", "c#3"], ["60000", "d#3"],
    ]  # fmt: skip
    assert len(played.every("serve alpha/* delete *")) == 2
    assert (node_of(world, "c"), node_of(world, "d")) == ("n1", "")


@pytest.mark.spec("SCH-117", "SCH-75")
def test_a_crash_between_two_victims_is_gone_over_again() -> None:
    """The pod is not nominated yet, so it may preempt though one victim is terminating. To delete
    that one again changes nothing."""
    world = golden()
    world.allow(Crash(NAME, restart_after_ms=5000))
    played = play(world, "serve alpha/main delete *a", "fault * crash alpha")
    deletes = played.every("serve alpha/main delete *")
    assert [f"{step.now_ms} {step.operation.name}" for step in deletes if step.operation] == [
        "0 a", "5000 a", "5000 b",
    ]  # fmt: skip
    told = [each.split() for each in attempts(world) if " c#" in each]
    assert [each[0] for each in told] == ["0", "5000", "35000", "60000"]
    assert (node_of(world, "c"), pod_of(world, "a")) == ("n1", None)


@pytest.mark.spec("SCH-119")
def test_what_was_assumed_at_a_crash_is_free_again() -> None:
    """The crash came before the bind was sent: the pod is scheduled again, after more important
    ones."""
    world = cluster(pending("a", 9))
    world.allow(Crash(NAME, restart_after_ms=5000))
    world.start(Puppet("user", later(pending("c", 9, 1000), 2000)))
    play(world, "resume alpha/main queue alpha/ready", "fault * crash alpha")
    assert [" ".join(each.split()[:3]) for each in attempts(world)] == [
        "0 a#1 n1", "5000 c#1 n1", "5000 a#1 0/1",
    ]  # fmt: skip
    assert (node_of(world, "c"), node_of(world, "a")) == ("n1", "")


@pytest.mark.long
@pytest.mark.spec("SCH-117", "SCH-119", "SCH-120")
def test_a_crash_at_any_turn_costs_no_pod_and_no_room() -> None:
    """In the end the important pod runs, on a node that never held more than it has."""

    def run(chooser: Struck) -> None:
        world = golden()
        world.allow(Crash(NAME, restart_after_ms=1000))
        world.claim(always(no_node_holds_too_much))
        verdict = world.run(chooser, driver="direct")
        assert verdict.is_held, str(verdict)
        assert (node_of(world, "c"), node_of(world, "d")) == ("n1", "")
        assert pod_of(world, "a") is None
        assert pod_of(world, "b") is None

    assert len(list(at_every_turn(f"crash {NAME}", run))) > 100


def no_node_holds_too_much(see: Evidence) -> str | None:
    """The pods on each node request ten cpus at most."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    taken = sum(
        int(pod.spec.containers[0].resources.requests["cpu"].nano) // 10**6
        for pod in pods
        if pod.spec.node_name == "n1" and not pod.is_over
    )
    return f"n1 holds {taken}m" if taken > 10_000 else None


@pytest.mark.spec("SCH-75", "SCH-54", "SCH-102")
def test_a_pod_goes_where_there_is_room_though_room_is_made_elsewhere() -> None:
    """It is bound to the other node as soon as that is free; its victims end all the same."""

    async def user(client: Client) -> None:
        await client.sleep(1000)
        await two(client)
        await client.sleep(9000)
        await delete(client, "e", grace_s=1)

    victims = (there("a", 5, 100, grace_s=60), there("b", 5, 100, grace_s=30))
    world = cluster(*victims, there("e", 10, 2000, node="n2"), nodes=2, user=user)
    play(with_kubelets(world, "n1", "n2"))
    tried = attempts(world)
    assert (tried[2], tried[4:]) == ("11000 c#2 n2", ["31000 d#3 n1"])
    assert pod_of(world, "c").status.nominated_node_name == "n1"


@pytest.mark.spec("SCH-109", "SCH-110", "SCH-122")
@each_row("is_late", [False, True])
def test_two_schedulers_bind_two_pods_to_one_place_if_one_hears_late(is_late: bool) -> None:
    """Neither knows what the other assumes or has nominated; only the kubelet can refuse one."""
    world = with_kubelets(cluster(pending("p", 6), pending("q", 6, scheduler_name="beta")), "n1")
    world.start(Scheduler("beta"))
    decide = [f"resume {name}/main queue {name}/ready" for name in (NAME, "beta")]
    cues = ["resume beta/main signal beta/namespaces-synced", *decide]
    play(world, *cues if is_late else (), late=(decide[0],))
    bound = [name for name in ("p", "q") if pod_of(world, name).is_bound]
    failed = [name for name in bound if pod_of(world, name).status.phase == "Failed"]
    assert (len(bound), len(failed)) == ((2, 1) if is_late else (1, 0))


@pytest.mark.spec("SCH-109", "SCH-45")
def test_room_made_by_one_scheduler_may_be_taken_by_another() -> None:
    """Another scheduler does not know of the nomination."""
    world = cluster(there("a", 9, grace_s=10), user=later(pending("c", 9, 1000), 1000))
    world.start(Scheduler("beta"))
    world.add(pending("q", 9, scheduler_name="beta"))
    play(with_kubelets(world, "n1"), late=("* alpha/*",))
    bound = [facts["pod"] for facts in records(world, "bound")]
    assert bound[0] == "pods/default/q"
    assert books(world, "beta").beliefs.nominator.nominated == {}


@pytest.mark.spec("SCH-111")
@each_row(("hostile", "is_evicted"), [("off", False), ("on", True)])
def test_a_hostile_scheduler_takes_others_pods_for_less_important(
    hostile: str, is_evicted: bool
) -> None:
    """Whatever their priority."""
    theirs = there("theirs", 9, 2000, scheduler_name="beta")
    world = cluster(theirs, pending("mine", 9), switches={"hostile": hostile})
    play(world)
    assert pod_of(world, "theirs").meta.is_terminating is is_evicted


@pytest.mark.spec("SCH-111")
@each_row(("hostile", "displaced"), [("off", range(1)), ("on", range(10, 100))])
def test_two_hostile_schedulers_displace_each_others_pods_for_ever(
    hostile: str, displaced: range
) -> None:
    """Each makes room for its own pod at the cost of the other's, which a controller creates again.
    If a priority decides, the first one stays."""
    switches = {"hostile": hostile}
    world = with_kubelets(cluster(switches=switches), "n1")
    world.start(Scheduler("beta", switches=switches))
    world.start(Recreator("mine", pending("mine", 9, 100, grace_s=1)))
    world.start(Recreator("theirs", pending("theirs", 9, 50, grace_s=1, scheduler_name="beta")))
    world.limit(until_ms=300_000)
    play(world)
    assert sum("Preempted" in each for each in events(world)) in displaced


@pytest.mark.spec("SCH-122", "SCH-110")
def test_what_a_kubelet_refuses_is_made_anew_and_goes_elsewhere() -> None:
    """Two schedulers bind to one place; the controller of the second pod creates it again."""
    kinds: dict[str, dict[str, Any]] = {"p": {}, "q": {"scheduler_name": "beta"}}
    world = with_kubelets(cluster(nodes=2), "n1", "n2")
    world.start(Scheduler("beta"))
    for name, more in kinds.items():
        world.add(pending(name, 6, labels={"owner": name}, **more))
        world.start(Recreator(name, pending(name, 6, **more)))
    decide = [f"resume {name}/main queue {name}/ready" for name in (NAME, "beta")]
    play(world, "resume beta/main signal beta/namespaces-synced", *decide, late=(decide[0],))
    pods: list[Any] = [entry.value for entry in world.store.snapshot("pods/")]
    assert sorted((pod.spec.node_name, pod.status.phase) for pod in pods) == [
        ("n1", "Failed"), ("n1", "Running"), ("n2", "Running"),
    ]  # fmt: skip


@pytest.mark.spec("SCH-123")
def test_with_a_frozen_watch_it_decides_by_what_it_knows() -> None:
    """A node is free, but the scheduler has not heard of that: by what it knows, it must evict a
    pod from the other node, for nothing. Once it has heard, the pod goes where there is room."""

    async def user(client: Client) -> None:
        await delete(client, "b", grace_s=0)

    world = cluster(there("a", 9), there("b", 9, node="n2"), pending("c", 9, 1000), nodes=2,
                    user=user)  # fmt: skip
    world.allow(Lag(NAME, by_ms=60_000, for_ms=60_000))
    play(
        world, "start alpha/main", "answer alpha/cache-pods watch pods", "fault * lag *pods*",
        "start user/main", "serve user/main delete *b", "serve user/main delete.2 *b",
    )  # fmt: skip
    found = records(world, "cycle")[0]["preemption"]
    assert (found["chosen"], [*found["candidates"]]) == ("n1", ["n1", "n2"])
    assert pod_of(world, "a").meta.is_terminating
    assert [each.split()[0] for each in attempts(world)] == ["0", "60000"]
    assert node_of(world, "c") == "n2"


@pytest.mark.spec("SCH-124")
def test_a_victim_that_does_not_end_holds_its_preemptor() -> None:
    """There is no kubelet: the preemptor waits on its nominated node, and evicts no other pod for
    five minutes and more."""
    world = cluster(there("a", 9), there("b", 9, 50, node="n2"), pending("c", 9, 1000), nodes=2)
    world.limit(until_ms=1_000_000)
    played = play(world)
    assert [each.split()[:2] for each in attempts(world)][:3] == [
        ["0", "c#1"], ["330000", "c#2"], ["660000", "c#3"],
    ]  # fmt: skip
    assert len(played.every("serve alpha/* delete *")) == 1


@pytest.mark.spec("SCH-112")
def test_a_preemptor_that_does_not_see_its_nomination_preempts_again() -> None:
    """Its informer is late: the nominator keeps others away, but the pod itself is read without
    it."""
    world = cluster(there("a", 9), pending("c", 9, 1000))
    world.allow(Lag(NAME, by_ms=600_000, for_ms=600_000))
    world.limit(until_ms=400_000)
    played = play(world, "start alpha/main", "answer alpha/cache-pods watch pods",
                  "fault * lag *pods*")  # fmt: skip
    assert [step.now_ms for step in played.every("serve alpha/* delete *")] == [0, 330_000]


@pytest.mark.spec("SCH-5", "SCH-61", "GEN-5")
def test_any_of_the_best_nodes_may_be_picked() -> None:
    """The dullest is the first by name; a Chooser may take any."""
    nodes = set()
    for seed in range(12):
        world = cluster(pending("c"), nodes=3)
        assert world.run(Uniform(seed), driver="direct").is_held
        nodes.add(node_of(world, "c"))
    assert nodes == {"n1", "n2", "n3"}


@pytest.mark.spec("GEN-2", "SCH-29")
def test_a_scheduler_is_what_its_switches_say() -> None:
    """A misspelt switch is refused when the World is assembled."""
    with pytest.raises(UnknownName, match="there is no switch of scheduler 'queu'"):
        cluster(switches={"queu": "fifo"})
    world = cluster(pending("a", 1, 0), pending("b", 1, 1000), switches={"queue": "fifo"})
    play(world)
    assert [each.split()[1] for each in attempts(world)] == ["a#1", "b#1"]


def test_what_it_recorded_says_why() -> None:
    """In a sentence, and in facts: what each node lacked, which pods were to go, and at which
    price."""
    world = cluster(there("a", 5, 50), pending("c", 10, 1000), pending("d", 2), nodes=2)
    world.add(there("e", 9, 2000, node="n2"))
    play(world)
    first, second = records(world, "cycle")
    assert first["refused"] == {"n1": "Insufficient cpu", "n2": "Insufficient cpu"}
    assert first["preemption"]["candidates"]["n1"]["victims"] == ["pods/default/a"]
    assert (first["nominated"], first["preemption"]["chosen"]) == ("n1", "n1")
    assert second["message"].startswith("0/2 nodes are available: 2 Insufficient cpu.")


def test_of_many_nodes_only_counts_are_kept() -> None:
    """The record of a thousand nodes is as short as that of two."""
    world = cluster(pending("c", 20), pending("d", 1), nodes=30)
    play(world)
    first, second = records(world, "cycle")
    assert first["refused"] == 30
    assert set(second["scores"]) >= {"NodeResourcesFit"}
    assert len(second["best"]) == 20


@pytest.mark.spec("API-15")
def test_a_run_is_the_same_byte_for_byte() -> None:
    """With all that was recorded, under both drivers."""
    digests = set()
    for driver in ("direct", "trio", "direct"):
        world, trace = golden(), Trace({}, keep=True)
        world.run(Uniform(5), driver=driver, trace=trace)
        digests.add(trace.digest())
    assert len(digests) == 1
