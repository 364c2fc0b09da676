"""The kubelet: what it takes on, how it ends it, what it says, and what a restart changes."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs
import pytest

from actors.kubelet import Workload
from testbed.choosers.calm import Calm
from testbed.choosers.struck import Struck
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.errors import Conflict, NotFound
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.faults.server_error import ServerError
from testbed.objects import Condition, Map, Node, Pod, PodStatus, condition
from testbed.store.endpoint import Operation
from testbed.turns.trace import Trace
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.nodes import (
    KUBELET,
    RUNTIME,
    ask,
    at,
    bind,
    bound,
    calm,
    delete,
    node_world,
    pod_of,
    running,
    runtime,
    story,
)
from tests.shared.stage import Cued
from tests.shared.strike import at_every_turn

BOTH = pytest.mark.parametrize("driver", ["trio", "direct"])


def patch(name: str, tree: dict[str, Any], subresource: str = "status") -> Any:
    """What a user does who patches the status of a pod."""

    async def do(client: Client) -> None:
        await client.patch(Pod.of(name), tree, how="strategic", subresource=subresource)

    return do


# -- from admission on ----------------------------------------------------------------------------


@pytest.mark.spec("KUB-16")
@BOTH
def test_a_pod_is_pending_then_running_then_ready(driver: str) -> None:
    """Each after its delay, from the moment its kubelet learns of it."""

    async def user(client: Client) -> None:
        await client.create(Pod.of("a", cpu_m=400))
        await client.sleep(50)
        await bind(client, "a")

    world = node_world(user=user, start_delay_ms=2000, ready_delay_ms=3000)
    assert world.run(Calm(), driver=driver).is_held
    assert story(world, "a") == ["0 Pending", "2050 Running", "5050 Running Ready"]
    status = pod_of(world, "a").status
    assert status.start_ms == 0
    (container,) = status.container_statuses
    assert (container.ready, container.state.running.started_ms) == (True, 2000)
    assert condition.find(status.conditions, "Ready").since_ms == 5000  # type: ignore[union-attr]


@pytest.mark.spec("KUB-2")
def test_the_kubelet_that_was_down_admits_the_oldest_first() -> None:
    """Two pods were bound while it was down, the younger one before the older."""

    async def user(client: Client) -> None:
        await client.create(Pod.of("z", cpu_m=800))
        await client.sleep(2000)
        await client.create(bound("a", 800))
        await bind(client, "z")

    world = node_world(user=user)
    world.allow(Crash(KUBELET, restart_after_ms=9000))
    world.run(Cued(f"fault * crash {KUBELET}"), driver="direct")
    assert story(world, "z")[-1].endswith("Running Ready")
    assert story(world, "a")[-1].endswith("Failed OutOfcpu")


@pytest.mark.spec("KUB-3")
@each_row(("bound_ms", "end"), [(5000, "Failed OutOfcpu"), (10_500, "Running Ready")])
def test_a_terminating_pod_counts_until_it_has_stopped(bound_ms: int, end: str) -> None:
    """A pod that is bound before its victim has really stopped is refused."""

    async def come(client: Client) -> None:
        await client.create(bound("b", 800))

    dying = Workload(stops_after_ms=9000).given_to(bound("a", 800, grace_s=30))
    user = at((1000, partial(delete, name="a")), (bound_ms, come))
    world = node_world(dying, user=user)
    calm(world)
    assert story(world, "b")[-1] == f"{bound_ms} {end}"


def test_a_kubelet_without_a_node_refuses_what_it_is_given() -> None:
    """It does not know what there is."""

    async def user(client: Client) -> None:
        await client.delete(await client.get(Node, "n1"))
        await client.create(bound("a"))

    world = node_world(user=user, is_judged=False)
    calm(world)
    assert story(world, "a")[-1] == "0 Failed InvalidNodeInfo"


# -- how it ends ----------------------------------------------------------------------------------


@pytest.mark.spec("KUB-17", "KUB-18")
@each_row(("policy", "exit_code", "phase"), [
    ("Never", 0, "Succeeded"), ("Never", 1, "Failed"), ("OnFailure", 0, "Succeeded"),
])  # fmt: skip
def test_what_ends_by_itself_is_over_if_it_is_not_to_run_again(
    policy: str, exit_code: int, phase: str
) -> None:
    """By its exit code and its policy."""
    work = Workload(runs_ms=1500, exit_code=exit_code)
    world = node_world(work.given_to(bound("a", restart_policy=policy)))
    calm(world)
    status = pod_of(world, "a").status
    assert status.phase == phase
    assert not pod_of(world, "a").is_ready
    ended = status.container_statuses[0].state.terminated
    assert (ended.exit_code, ended.reason) == (exit_code, "Error" if exit_code else "Completed")
    assert (ended.started_ms, ended.finished_ms) == (0, 1000)


@pytest.mark.spec("KUB-19", "KUB-20", "GEN-9", "API-29")
def test_a_deleted_pod_ends_with_its_grace() -> None:
    """Signalled, stopped at the end, said, deleted: with the uid as a precondition."""
    world = node_world(bound("a", grace_s=30), user=at((1000, partial(delete, name="a"))))
    calm(world)
    assert story(world, "a") == [
        "0 Pending", "0 Running Ready", "1000 Running Ready, 30 s", "31000 Running, 30 s",
        "31000 Running, 0 s", "31000 gone",
    ]  # fmt: skip
    (step,) = [s for s in world.trace.steps if s.sentence.verb == "delete" and s.kind == "serve"
               and s.option.actor == KUBELET]  # fmt: skip
    operation = step.option.source.operation
    assert (operation.uid, operation.options) == ("scenario-2", {"grace_s": 0})


@pytest.mark.spec("KUB-19")
@each_row(("grace_s", "ended_ms"), [(0, 2000), (1, 2000), (5, 6000)])
def test_nobody_is_given_less_than_a_second(grace_s: int, ended_ms: int) -> None:
    """A grace of none is one of a second, for a pod that a finalizer keeps."""
    kept = bound("a").with_meta(finalizers=("x",))
    kept = Workload(is_deaf=True).given_to(kept)
    world = node_world(kept, user=at((1000, partial(delete, name="a", grace_s=grace_s))))
    calm(world)
    status = pod_of(world, "a").status.container_statuses[0].state.terminated
    assert (status.finished_ms, status.exit_code) == (ended_ms, 137)
    assert pod_of(world, "a").meta.grace_s == 0, "all is done but what the finalizer stands for"


@pytest.mark.spec("KUB-10")
def test_a_pod_that_is_to_go_when_first_seen_is_not_started() -> None:
    """It is finalised at once, whatever its grace."""

    async def user(client: Client) -> None:
        await client.create(bound("a"))
        await delete(client, "a")

    world = node_world(user=user)
    late = ("deliver kubelet-n1/watch-pods *", "serve kubelet-n1/cache-pods *")
    world.run(Cued(late=late), driver="direct", trace=Trace({}, keep=True))
    assert story(world, "a")[-1] == "0 gone"
    assert not any(record.name == "admitted" for record in world.evidence.records)


@pytest.mark.spec("KUB-20")
def test_a_pod_of_that_name_that_is_another_is_let_be() -> None:
    """Deleted by force and created again at once: the kubelet ends the first, and only that."""

    async def again(client: Client) -> None:
        await delete(client, "a", grace_s=5)
        await client.sleep(2000)
        await delete(client, "a", grace_s=0)
        await client.create(bound("a"))

    world = node_world(bound("a"), user=at((1000, again)))
    calm(world)
    assert running(world, 10**6) == ["a"]
    assert pod_of(world, "a").meta.uid == "user@api-1"
    assert story(world, "a")[-1] == "3000 Running Ready"
    assert len(ask(runtime(world), "list", now_ms=10**6)) == 1, "nothing is left of the first"


@pytest.mark.spec("KUB-20")
@each_row(
    ("fault", "least"),
    [
        (LoseReply(KUBELET), 6), (LoseRequest(KUBELET), 6), (ServerError(KUBELET), 6),
        (ServerError(KUBELET, code=409), 3),
    ],
    ids=["lose_reply", "lose_request", "internal_error", "conflict"],
)  # fmt: skip
def test_the_end_is_asked_for_again_until_it_is_certain(fault: Any, least: int) -> None:
    """If a request of the kubelet is refused, or it or its answer is lost, it asks again ten
    seconds later. A Conflict alone does not say that the name has another uid."""
    turn = 0
    struck = 0
    while True:
        turn += 1
        world = node_world(bound("a", grace_s=2), user=at((1000, partial(delete, name="a"))))
        world.allow(fault)
        chooser = _StruckBy(turn, fault.word)
        verdict = world.run(chooser, driver="direct")
        if not chooser.was_reached:
            break
        struck += chooser.has_struck
        assert verdict.is_held, str(verdict)
        assert story(world, "a")[-1].endswith(" gone")
    assert struck >= least


class _StruckBy(Struck):
    """By whatever fault of that word strikes there."""

    def __init__(self, turn: int, word: str) -> None:
        super().__init__(turn, word)

    def choose(self, options: Any) -> int:
        if options[0].kind == "pick":
            return 0
        self._turns += 1
        if self._turns == self.turn:
            self.was_reached = True
            if len(options.faults):
                self.has_struck = True
                return int(options.ready)
        return 0


# -- what it says ---------------------------------------------------------------------------------


@pytest.mark.spec("KUB-22")
def test_what_others_say_of_a_pod_stays() -> None:
    """Its PATCH is of its own fields and conditions, whatever revision the pod is at."""
    said = [{"type": "PodScheduled", "status": "False"}, {"type": "Hit", "status": "True"}]
    target = {"status": {"conditions": said}}
    named = {"status": {"nominatedNodeName": "n7"}}
    scheduled = Condition("PodScheduled", "True")
    pod = attrs.evolve(bound("a"), status=PodStatus("Pending", conditions=(scheduled,)))
    world = node_world(pod, user=at((500, patch("a", target)), (600, patch("a", named))),
                       start_delay_ms=400, ready_delay_ms=1000)  # fmt: skip
    calm(world)
    status = pod_of(world, "a").status
    types = [each.type for each in status.conditions if each.is_true]
    assert types == ["Initialized", "Ready", "ContainersReady", "Hit"]
    assert status.nominated_node_name == "n7"


# -- what a restart changes -----------------------------------------------------------------------


def crashed(world: World, after_ms: int | None, cue: str = "wake user/main *") -> World:
    """The kubelet crashes when the user wakes, and comes back `after_ms` later."""
    world.allow(Crash(KUBELET, restart_after_ms=after_ms))
    verdict = world.run(Cued(cue, f"fault * crash {KUBELET}"), driver="direct")
    assert verdict.is_held, str(verdict)
    return world


@pytest.mark.spec("KUB-21", "KUB-42")
def test_what_has_lost_its_object_meanwhile_is_ended() -> None:
    """Deleted by force while the kubelet was down: it runs until the kubelet is back."""
    user = at((1000, partial(delete, name="a", grace_s=0)))
    world = crashed(node_world(bound("a"), user=user), 5000)
    assert story(world, "a")[-1] == "1000 gone"
    assert world.verdict is not None
    assert world.verdict.virtual_ms == 7000, "a second after the restart"
    assert running(world, 7000) == []


@pytest.mark.spec("KUB-3", "KUB-43")
@each_row("by_force", [False, True], ids=["terminating", "gone"])
def test_what_still_runs_counts_after_a_restart(by_force: bool) -> None:
    """An older pod was bound while the kubelet was down: there is no room for it as long as what an
    earlier life has started is not ended, be it younger, or without an object."""

    async def user(client: Client) -> None:
        await client.create(Pod.of("old", cpu_m=800))
        await client.sleep(2000)
        await client.create(bound("young", 800))
        await client.sleep(1000)
        await delete(client, "young", **({"grace_s": 0} if by_force else {}))
        await bind(client, "old")

    world = crashed(node_world(user=user), 3000, "wake user/main sleep#2")
    assert story(world, "old")[-1] == "6000 Failed OutOfcpu"
    assert story(world, "young")[-1] == ("3000 gone" if by_force else "36000 gone")


def deleting() -> World:
    """Three pods: one that is deleted, one that ends by itself, one for which there is no room."""
    return node_world(
        Workload(stops_after_ms=1500).given_to(bound("a", grace_s=3)),
        Workload(runs_ms=2500).given_to(bound("b", restart_policy="Never")),
        bound("c", 600),
        user=at((1000, partial(delete, name="a"))), start_delay_ms=200, ready_delay_ms=300,
    )  # fmt: skip


@pytest.mark.spec("KUB-20", "KUB-43")
@each_row(("target", "restart_after_ms"), [
    (KUBELET, 0), (KUBELET, 20_000), (RUNTIME, 700), ("api", 700),
])  # fmt: skip
def test_a_crash_at_any_turn_changes_nothing_in_the_end(target: str, restart_after_ms: int) -> None:
    """Of the kubelet, of its runtime's daemon, of the API server: every claim holds, and all ends
    as in the calm run; but if no kubelet was there to reject a pod while there was no room for it,
    it runs."""

    def ends(world: World) -> list[Any]:
        pods = [pod_of(world, name) for name in "abc"]
        return [pod and (pod.status.phase, pod.is_ready, pod.status.reason) for pod in pods]

    quiet = deleting()
    calm(quiet)
    assert ends(quiet) == [None, ("Succeeded", False, ""), ("Failed", False, "OutOfcpu")]

    def play(chooser: Struck) -> None:
        world = deleting()
        world.allow(Crash(target, restart_after_ms=restart_after_ms))
        verdict = world.run(chooser, driver="direct")
        assert verdict.is_held, str(verdict)
        assert ends(world)[:2] == ends(quiet)[:2], chooser.turn
        if restart_after_ms < 1000:
            assert ends(world) == ends(quiet), chooser.turn
        else:
            assert ends(world)[2] in (ends(quiet)[2], ("Running", True, "")), chooser.turn

    assert sum(c.has_struck for c in at_every_turn(f"crash {target}", play)) > 40


@pytest.mark.spec("INV-7", "INV-30", "INV-3")
def test_the_node_is_never_over_full_under_random_choices() -> None:
    """Four pods for the room of two, deletions and crashes, whatever comes first."""

    async def user(client: Client) -> None:
        for name in ("c", "d"):
            await client.create(bound(name, 500))
            await delete(client, "a", grace_s=1)

    for seed in range(60):
        world = node_world(bound("a", 500), bound("b", 500), user=user, start_delay_ms=100)
        world.allow(Crash(KUBELET, restart_after_ms=500, times_max=2))
        verdict = world.run(Uniform(seed), driver="direct")
        assert verdict.is_held, f"{seed}: {verdict}"


# -- the deletion protocol, with a kubelet --------------------------------------------------------


@pytest.mark.spec("API-25", "API-27", "KUB-19", "KUB-20")
def test_the_golden_table_of_a_deletion() -> None:
    """GT-D1: the grace is shortened after twelve seconds, and used from then on; the kubelet's own
    delete of the right uid is the end. The times are those of its table."""
    refused: list[str] = []

    async def wrong_uid(client: Client) -> None:
        pod = await client.get(Pod, "x")
        other = pod.with_meta(uid="other", revision=type(pod.meta.revision)())
        try:
            await client.delete(other, options=Map(grace_s=0))
        except Conflict as error:
            refused.append(str(error))

    async def once_more(client: Client) -> None:
        try:
            await client.ask(Operation("delete", "pods", "x", "default"))
        except NotFound:
            refused.append("NotFound")

    user = at(
        (100_000, partial(delete, name="x")), (110_000, partial(delete, name="x")),
        (110_000, partial(delete, name="x", grace_s=60)),
        (112_000, partial(delete, name="x", grace_s=5)), (112_000, wrong_uid),
        (118_000, once_more),
    )  # fmt: skip
    world = node_world(bound("x", grace_s=30), user=user)
    calm(world)
    assert story(world, "x") == [
        "0 Pending", "0 Running Ready", "100000 Running Ready, 30 s", "112000 Running Ready, 5 s",
        "117000 Running, 5 s", "117000 Running, 0 s", "117000 gone",
    ]  # fmt: skip
    assert len(refused) == 2
    assert refused[1] == "NotFound"
    deleted = [
        change.new.value.meta.deleted_ms  # type: ignore[attr-defined]
        for change in world.store.log("pods").after(0)
        if change.new is not None
    ]
    assert list(dict.fromkeys(deleted)) == [None, 130_000, 105_000, 100_000]
