"""Bind: what follows once a node is chosen, and what becomes of a pod that cannot be bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from actors.scheduler.decisions.decision import Decision
from actors.scheduler.plugins import Rejected, Wait, WaitingPod
from actors.scheduler.preemption.dry_run import DryRun
from actors.shared.verbs import bind
from testbed import policy
from testbed.client.client import Client
from testbed.errors import Conflict
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.faults.lose_reply import LoseReply
from testbed.faults.server_error import ServerError
from testbed.objects import Node, Pod, condition
from tests.each_row import each_row
from tests.shared.scheduling import (
    attempts,
    books,
    cluster,
    delete,
    events,
    node_of,
    pending,
    pod_of,
    records,
    there,
)
from tests.shared.stage import Puppet, play


def scheduled(world: Any, name: str) -> tuple[str, str, str]:
    """The pod's condition PodScheduled."""
    found = condition.find(pod_of(world, name).status.conditions, "PodScheduled")
    assert found is not None
    return (found.status, found.reason, found.message)


@pytest.mark.spec("SCH-5")
def test_later_pods_are_tried_while_a_bind_is_on_its_way() -> None:
    """The assumed pod counts on its node, though it is not bound yet."""
    world = cluster(pending("a", 6), pending("b", 6), pending("c", 4))
    played = play(world, late=("* alpha/bind-a *",))
    assert [each.split()[1] for each in attempts(world)] == ["a#1", "b#1", "c#1"]
    bound = [step.operation.name for step in played.every("serve alpha/bind-* create/binding *")]  # type: ignore[union-attr]
    assert bound == ["c", "a"]


@pytest.mark.spec("SCH-49", "SCH-63")
def test_a_pod_that_is_assumed_is_nominated_no_more() -> None:
    """Else it would count twice on its node until it is bound."""
    first = pending("c", 5, 1000)
    status = attrs.evolve(first.status, nominated_node_name="n1")
    world = cluster(attrs.evolve(first, status=status), pending("d", 5))
    play(world, late=("* alpha/bind-c *",))
    assert attempts(world) == ["0 c#1 n1", "0 d#1 n1"]


@pytest.mark.spec("SCH-64")
def test_a_pod_is_bound_by_its_uid_and_that_is_said() -> None:
    """It is bound once, and an Event says so."""
    world = cluster(pending("a"))
    played = play(world)
    body: Any = played.only("serve * create/binding *").operation.body  # type: ignore[union-attr]
    assert (body.meta.uid, body.target.name) == (pod_of(world, "a").meta.uid, "n1")
    assert events(world) == ["a Scheduled: Successfully assigned default/a to n1"]
    assert scheduled(world, "a") == ("True", "", "")


@pytest.mark.spec("SCH-64", "SCH-66", "SCH-67")
def test_a_pod_whose_bind_fails_is_forgotten_and_tried_again() -> None:
    """Its room is free again at once; for other pods that is the same event as a deletion. One that
    found no room before is tried first."""
    world = cluster(pending("a", 6), pending("b", 6))
    world.allow(ServerError("alpha", code=500))
    play(world, "resume alpha/main queue alpha/ready#2", "fault * server_error *bind-a*")
    error = 'running Bind plugin "DefaultBinder": create/binding pods/default/a: refused with 500'
    said = f"gave up n1 for pods/default/a: {error}"
    (forgot,) = records(world, "forgot")
    assert forgot["said"].startswith(said)
    assert (forgot["pod"], forgot["node"]) == ("pods/default/a", "n1")
    assert [each.partition(" 0/")[0] for each in attempts(world)] == [
        "0 a#1 n1", "0 b#1", "1000 b#2 n1", "1000 a#2",
    ]  # fmt: skip
    assert (scheduled(world, "a")[0], scheduled(world, "b")[0]) == ("False", "True")
    assert [each for each in events(world) if "SchedulerError" in each or error in each] == [
        f"a FailedScheduling: {error}"
    ]


@pytest.mark.spec("SCH-65")
@each_row("is_seen", [True, False])
def test_a_bind_whose_reply_is_lost_may_have_happened(is_seen: bool) -> None:
    """If its informer shows the pod bound by then, it is not requeued; if not, it waits until it
    does. Either way its condition says that it failed."""
    world = cluster(pending("a", 6))
    world.allow(LoseReply("alpha"))
    seen = ("deliver alpha/watch-pods pods/default/a MODIFIED",) if is_seen else ()
    play(world, "serve alpha/bind-a*", *seen, "fault * lose_reply *bind-a*")
    error = "create/binding pods/default/a: the connection was reset"
    said = f'running Bind plugin "DefaultBinder": {error}'
    assert scheduled(world, "a") == ("False", "SchedulerError", said)
    assert node_of(world, "a") == "n1"
    assert [facts["where"] for facts in records(world, "waits")] == [
        "nowhere" if is_seen else "backoff"
    ]
    assert len(attempts(world)) == 1
    assert not any(books(world).beliefs.queue.places.values())


@pytest.mark.spec("SCH-44", "SCH-120")
def test_a_bind_on_its_way_at_a_crash_may_come_late() -> None:
    """The next life knows nothing of it and binds the pod, too: one of the two is refused."""
    world = cluster(pending("a", 6), nodes=2)
    world.allow(Crash("alpha", restart_after_ms=0))
    cues = ("start alpha/bind-a", "fault * crash alpha")
    played = play(world, *cues, late=("serve alpha/bind-a create/binding *",))
    binds = played.every("serve alpha/bind-a* create/binding *")
    assert len(binds) == 2
    assert sorted(step.outcome for step in binds) == ["", "Conflict"]


# -- extension points -----------------------------------------------------------------------------


class Ledger:
    """A Reserve plugin that notes the names of its calls."""

    name = "Ledger"

    def __init__(self) -> None:
        self.taken: dict[str, str] = {}

    def reserve(self, pod: Pod, node: str) -> Rejected | None:
        if len(self.taken) == 1:
            return Rejected("all taken")
        self.taken[pod.meta.name] = node
        return None

    def unreserve(self, pod: Pod, node: str) -> None:
        self.taken.pop(pod.meta.name, None)


class Pair:
    """A Permit plugin that lets two pods go together, or neither."""

    name = "Pair"

    def permit(self, pod: Pod, node: str, waiting: Mapping[str, WaitingPod]) -> Wait | None:
        if not waiting:
            return Wait(5000)
        for other in list(waiting.values()):
            other.allow(self.name)
        return None


class Never:
    """A Permit plugin that allows no pod."""

    name = "Never"

    def permit(self, pod: Pod, node: str, waiting: Mapping[str, WaitingPod]) -> Rejected:
        return Rejected("not today")


class Slow:
    """A PreBind plugin that takes a second, and fails the first time."""

    name = "Slow"

    def __init__(self) -> None:
        self.has_failed = False

    async def pre_bind(self, client: Client, pod: Pod, node: str) -> Rejected | None:
        await client.sleep(1000)
        if pod.meta.name != "a" or self.has_failed:
            return None
        self.has_failed = True
        return Rejected("disk is not there")


class Own:
    """A Bind plugin that binds in its own way."""

    name = "Own"

    async def bind(self, client: Client, pod: Pod, node: str) -> None:
        if pod.meta.name == "b":
            raise Conflict("not that one")
        await bind(client, pod, node)


@pytest.mark.spec("SCH-63")
def test_what_is_not_to_be_reserved_is_not_assumed() -> None:
    """The pod is requeued with an error that names the plugin."""
    world = cluster(pending("a"), pending("b"), plugins=(Ledger,))
    play(world)
    assert (node_of(world, "a"), node_of(world, "b")) == ("n1", "")
    assert scheduled(world, "b")[1:] == (
        "SchedulerError", 'running Reserve plugin "Ledger": all taken',
    )  # fmt: skip
    assert not books(world).beliefs.cache.is_assumed(pod_of(world, "b"))


@pytest.mark.spec("SCH-63", "SCH-64")
def test_a_pod_waits_for_leave_and_is_bound_when_it_has_it() -> None:
    """It counts on its node all the while; the second of the pair lets both go."""

    async def user(client: Client) -> None:
        await client.sleep(3000)
        await client.create(pending("b"))

    world = cluster(pending("a", 9), user=user, plugins=(Pair,))
    play(world)
    assert records(world, "waits on permit") == [{"pod": "pods/default/a", "of": ["Pair"]}]
    bound = [(facts["pod"], r.now_ms) for r in world.table.records
             if r.name == "bound" and (facts := r.facts)]  # fmt: skip
    assert bound == [("pods/default/a", 3000), ("pods/default/b", 3000)]
    assert not books(world).beliefs.waiting


@pytest.mark.spec("SCH-64", "SCH-66")
def test_a_pod_that_waits_for_too_long_is_rejected() -> None:
    """Its room is free again, also for pods that were refused meanwhile; the pod itself is not
    moved for that."""

    async def user(client: Client) -> None:
        await client.sleep(3000)
        await client.create(pending("big", 9, scheduler_name="alpha"))

    class Lone(Pair):
        name = "Lone"

        def permit(self, pod: Pod, node: str, waiting: Mapping[str, WaitingPod]) -> Wait | None:
            return Wait(5000) if pod.meta.name == "a" else None

    world = cluster(pending("a", 9), user=user, plugins=(Lone,))
    play(world, is_held=True)
    assert "5000 big#2 n1" in attempts(world)
    assert len([each for each in attempts(world) if " a#" in each]) == 1
    said = "rejected due to timeout after waiting 5000 ms at plugin Lone"
    assert f"a FailedScheduling: {said}" in events(world)
    assert node_of(world, "a") == ""


@pytest.mark.spec("SCH-19", "SCH-16")
@each_row(("at_ms", "where"), [(1000, "unschedulable"), (3000, "backoff")])
def test_news_since_the_latest_pod_was_taken_is_what_counts(at_ms: int, where: str) -> None:
    """An event counts if it came after the latest pod was taken, not after this one was. Another
    pod was tried at 2 s, and only a later event moves the first one."""

    class Lone(Pair):
        name = "Lone"

        def permit(self, pod: Pod, node: str, waiting: Mapping[str, WaitingPod]) -> Wait:
            return Wait(5000)

    async def user(client: Client) -> None:
        await client.sleep(2000)
        await client.create(pending("big", 20))

    async def news(client: Client) -> None:
        await client.sleep(at_ms)
        await client.patch(Node("n1"), {"metadata": {"labels": {"some": "news"}}})

    world = cluster(pending("a"), user=user, plugins=(Lone,))
    world.start(Puppet("news", news))
    play(world)
    waits = [each["where"] for each in records(world, "waits") if each["pod"].endswith("/a")]
    assert waits[0] == where


@pytest.mark.spec("SCH-63")
def test_no_pod_waits_for_more_than_a_quarter_of_an_hour() -> None:
    """Whatever timeout a plugin asks for."""

    class Patient(Pair):
        name = "Patient"

        def permit(self, pod: Pod, node: str, waiting: Mapping[str, WaitingPod]) -> Wait | None:
            return Wait(3_600_000)

    world = cluster(pending("a"), plugins=(Patient,))
    world.limit(until_ms=901_000)
    play(world)
    said = "rejected due to timeout after waiting 900000 ms at plugin Patient"
    assert f"a FailedScheduling: {said}" in events(world)


@pytest.mark.spec("SCH-63")
def test_a_pod_that_gets_no_leave_waits_again() -> None:
    """It is unschedulable, in the plugin's own words."""
    world = cluster(pending("a"), plugins=(Never,))
    play(world)
    assert scheduled(world, "a") == ("False", "Unschedulable", "not today")


@pytest.mark.spec("SCH-64")
def test_a_pod_is_prepared_before_it_is_bound() -> None:
    """In its own task, so that others are tried meanwhile. If PreBind fails, it is requeued."""
    world = cluster(pending("a"), pending("b"), plugins=(Slow,))
    play(world)
    assert attempts(world) == ["0 a#1 n1", "0 b#1 n1", "2000 a#2 n1"]
    error = 'running PreBind plugin "Slow": disk is not there'
    assert f"a FailedScheduling: {error}" in events(world)
    assert node_of(world, "a") == node_of(world, "b") == "n1"


@pytest.mark.spec("SCH-64")
def test_a_plugin_may_bind() -> None:
    """What it raises is treated as any error of a bind."""
    world = cluster(pending("a"), pending("b"), plugins=(Own,))
    play(world)
    assert node_of(world, "a") == "n1"
    assert scheduled(world, "b")[1:] == (
        "SchedulerError", 'running Bind plugin "Own": not that one',
    )  # fmt: skip


@pytest.mark.spec("SCH-96")
def test_a_victim_that_waits_for_leave_is_refused_it() -> None:
    """It is not deleted: it is forgotten and requeued, and the preemptor takes its place."""

    class Lone(Pair):
        name = "Lone"

        def permit(self, pod: Pod, node: str, waiting: Mapping[str, WaitingPod]) -> Wait | None:
            return Wait(60_000) if pod.meta.name == "a" else None

    async def user(client: Client) -> None:
        await client.sleep(3000)
        await client.create(pending("c", 9, 100))

    world = cluster(pending("a", 9), user=user, plugins=(Lone,))
    played = play(world)
    assert not played.every("serve alpha* delete *")
    assert "a FailedScheduling: preempted" in events(world)
    assert "a Preempted: Preempted by a pod on node n1" in events(world)
    assert attempts(world)[1].startswith("3000 c#1 0/1")
    assert node_of(world, "c") == "n1"


def test_a_pod_that_is_deleted_while_it_waits_for_leave_gives_its_place_back() -> None:
    """It is rejected at once, and other pods are moved."""

    class Lone(Pair):
        name = "Lone"

        def permit(self, pod: Pod, node: str, waiting: Mapping[str, WaitingPod]) -> Wait | None:
            return Wait(60_000) if pod.meta.name == "a" else None

    async def user(client: Client) -> None:
        await client.sleep(3000)
        await client.create(pending("c", 9))
        await client.sleep(3000)
        await delete(client, "a")

    world = cluster(pending("a", 9), user=user, plugins=(Lone,))
    play(world)
    assert attempts(world)[-1] == "6000 c#2 n1"


class Helps:
    """A PostFilter plugin that nominates pods that fit nowhere, if it knows a node."""

    name = "Helps"
    node = "n2"

    async def post_filter(self, client: Client, decision: Decision) -> str | None:
        client.record(f"asked {self.name}", pod=decision.pod.key)
        return self.node


class HelpsNobody(Helps):
    name = "HelpsNobody"
    node = None  # type: ignore[assignment]


class HelpsToo(Helps):
    name = "HelpsToo"
    node = "n1"


@pytest.mark.spec("SCH-101", "PRI-19")
@each_row("disable", ["off", "on"])
def test_a_plugin_may_nominate_whom_no_room_is_made_for(disable: str) -> None:
    """Plugins are asked until one can help, even if preemption is switched off, but not if it has
    found victims."""
    high = there("high", 10, 2000)
    plugins = (HelpsNobody, Helps, HelpsToo)
    switches = {"disable_preemption": disable}
    world = cluster(high, pending("c", 5, 50), plugins=plugins, switches=switches)
    play(world)
    assert pod_of(world, "c").status.nominated_node_name == "n2"
    asked = [len(records(world, f"asked {each.name}")) for each in plugins]
    assert asked == [1, 1, 0]
    alone = cluster(high, pending("c", 5, 50), plugins=(HelpsNobody,))
    play(alone)
    assert pod_of(alone, "c").status.nominated_node_name == ""
    room = cluster(there("low", 10, 0), pending("c", 5, 50), plugins=plugins)
    play(room)
    assert pod_of(room, "c").status.nominated_node_name == "n1"
    none = cluster(pending("c", 5, 50), plugins=plugins, nodes=0)
    play(none)
    assert records(room, "asked Helps") == records(none, "asked Helps") == []


class SparesAll:
    """A victim selector that returns no victims, though the pod fits only without some."""

    def victims(self, dry: DryRun) -> tuple[()]:
        return ()


@pytest.mark.spec("SCH-88", "SCH-74")
def test_after_an_error_of_preemption_no_plugin_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nomination of the pod stays as it is."""
    monkeypatch.setattr(policy, "_OWN", {})
    policy.use(SparesAll)
    waiting = pending("c", 5, 50)
    status = attrs.evolve(waiting.status, nominated_node_name="n1")
    world = cluster(there("low", 10, 0), attrs.evolve(waiting, status=status), plugins=(Helps,),
                    switches={"victims": "SparesAll"})  # fmt: skip
    play(world)
    assert records(world, "asked Helps") == []
    assert pod_of(world, "c").status.nominated_node_name == "n1"


@pytest.mark.spec("SCH-35")
@each_row(("ttl", "node"), [("0", ""), ("3000", "n1")])
def test_an_assumed_pod_that_nobody_sees_expires_if_there_is_a_limit(ttl: str, node: str) -> None:
    """In 1.26 there is no limit: the room is taken until its event comes. With one, the room is
    given away a second time."""

    async def user(client: Client) -> None:
        await client.sleep(5000)
        await client.patch(Node("n1"), {"metadata": {"labels": {"some": "news"}}})

    world = cluster(pending("a", 9), pending("b", 9), user=user, switches={"assume_ttl_ms": ttl})
    world.allow(Lag("alpha", by_ms=60_000, for_ms=60_000))
    play(world, "start alpha/bind-a", "fault * lag *pods*")
    assert node_of(world, "b") == node
    expired = [record.now_ms for record in world.table.records if record.name == "expired"]
    assert expired == ([4000, 9000] if node else [])
