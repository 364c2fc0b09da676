"""Make room: what is written to make room, in which order, and what is left if that fails."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.faults.lose_request import LoseRequest
from testbed.faults.server_error import ServerError
from testbed.invariants.lives import LivesGoOneWay
from testbed.objects import (
    Condition,
    LabelSelector,
    Map,
    Node,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
    PodStatus,
    condition,
)
from testbed.turns.pending import Alternatives, Options
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
    pending,
    pod_of,
    records,
    there,
    with_kubelets,
    writes,
)
from tests.shared.stage import Played, play

MARK = f"{NAME}: preempting to accommodate a higher priority pod"
MEANWHILE = (
    "start user/main", "resume alpha/main queue alpha/ready", "serve user/main delete *",
    "serve user/main delete.2 *",
)  # fmt: skip
"""The scheduler has decided, and a user deletes a pod before anything is written."""


def patched(played: Played, name: str) -> list[Any]:
    """The bodies of the patches of a pod."""
    steps = played.every(f"serve {NAME}/* patch* pods/default/{name}")
    return [step.operation.body for step in steps if step.operation]


def nominated(world: World, name: str) -> str:
    """The node that a pod is nominated to, by its status."""
    return str(pod_of(world, name).status.nominated_node_name)


@pytest.mark.spec("SCH-96", "SCH-98", "SCH-100", "SCH-101", "GEN-8")
def test_all_is_written_in_order_within_the_cycle() -> None:
    """Each victim is marked and deleted, less important pods lose their nomination, then the
    preemptor's status is patched. Only then is the next pod tried."""
    lower = pending("lower", 9, 100)
    world = cluster(there("a", 5), there("b", 5), lower, user=later(pending("c", 9, 1000), 1000))
    played = play(world)
    assert writes(played.steps)[5:] == [
        "patch/status b", "delete b", "patch/status a", "delete a", "patch/status lower",
        "patch/status c",
    ]  # fmt: skip
    assert (nominated(world, "lower"), nominated(world, "c")) == ("", "n1")
    said = "Preempted by a pod on node n1"
    assert events(world).count(f"a Preempted: {said}") == 2
    operation = played.only(f"serve {NAME}/* delete *a#2").operation
    assert operation is not None
    assert (operation.uid, dict(operation.options)) == ("", {})


@pytest.mark.spec("SCH-96")
def test_victims_may_go_in_any_order() -> None:
    """The next victim is picked before each eviction, so a Chooser may take another one."""
    world = cluster(there("a", 5), there("b", 5), pending("c", 10, 1000))
    trace = Trace({}, keep=True)
    assert world.run(Last(), driver="direct", trace=trace).is_held
    assert writes(trace.steps)[:4] == ["patch/status b", "delete b", "patch/status a", "delete a"]


class Last(Calm):
    """Calm, but it picks the last alternative."""

    def choose(self, options: Options | Alternatives) -> int:
        return len(options) - 1 if isinstance(options, Alternatives) else 0


@pytest.mark.spec("SCH-97")
def test_a_victim_is_marked_by_the_status_of_the_pod_that_it_makes_room_for() -> None:
    """As in 1.26: the victim is Pending, has not started, and has none of its conditions, until its
    kubelet writes its status again."""
    world = cluster(there("a", 5), pending("c", 10, 1000))
    played = play(world)
    (body,) = patched(played, "a")
    assert body["status"]["phase"] == "Pending"
    assert body["status"]["startTime"] is None
    status = pod_of(world, "a").status
    assert (status.phase, status.start_ms) == ("Pending", None)
    assert [each.type for each in status.conditions] == ["DisruptionTarget"]
    target = status.conditions[0]
    assert (target.reason, target.message) == ("PreemptionByKubeScheduler", MARK)


@pytest.mark.spec("SCH-97", "SCH-112")
def test_a_victim_may_get_the_nomination_of_the_pod_that_it_makes_room_for() -> None:
    """Everything in which the two statuses differ is copied."""
    waiting = pending("c", 10, 1000)
    status = attrs.evolve(waiting.status, nominated_node_name="gone", message="?")
    world = cluster(there("a", 5), attrs.evolve(waiting, status=status))
    play(world)
    assert (nominated(world, "a"), pod_of(world, "a").status.message) == ("gone", "?")
    assert nominated(world, "c") == "n1"


@pytest.mark.spec("SCH-97", "SCH-73")
def test_without_that_bug_a_victim_keeps_its_status() -> None:
    """It gets the condition, and nothing else changes."""
    world = cluster(there("a", 5), pending("c", 10, 1000), profile="k8s-modern")
    played = play(world)
    (body,) = patched(played, "a")
    assert set(body["status"]) == {"conditions", "$setElementOrder/conditions"}
    assert pod_of(world, "a").status.phase == "Running"
    assert condition.find(pod_of(world, "a").status.conditions, "DisruptionTarget") is not None


@pytest.mark.spec("SCH-97", "INV-3")
@each_row("profile", ["k8s-1.26", "k8s-modern"])
def test_with_that_bug_a_victim_that_is_over_may_be_pending_again(profile: str) -> None:
    """It fails while the patch is on its way that copies the phase. Without the bug it stays so."""

    async def user(client: Client) -> None:
        await client.sleep(500)
        await client.patch(Pod("a"), {"status": {"phase": "Failed"}}, subresource="status")

    world = cluster(there("a", 5), pending("c", 10, 1000), user=user, profile=profile)
    world.latency("patch pods/*/status", actor=NAME, serve_ms=1000)
    world.claim(LivesGoOneWay())
    verdict = world.run(Calm(), driver="direct")
    said = "; ".join(violation.said for violation in verdict.violations)
    assert ("was Failed, and is Pending again" in said) == (profile == "k8s-1.26")


@pytest.mark.spec("SCH-96")
def test_victims_need_not_be_marked() -> None:
    """As before that condition existed."""
    world = cluster(there("a", 5), pending("c", 10, 1000), switches={"disruption_condition": "off"})
    assert writes(play(world).steps)[0] == "delete a"


@pytest.mark.spec("SCH-96", "API-36")
@each_row("allowed", [1, 0])
def test_as_an_experiment_a_budget_can_refuse(allowed: int) -> None:
    """A victim goes by the eviction API; if its budget allows none, preemption is broken off."""
    victim = there("a", 5).with_meta(labels={"app": "a"})
    ready = PodStatus("Running", conditions=(Condition("Ready", "True"),), start_ms=0)
    spec = PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector(Map(app="a")))
    status = PodDisruptionBudgetStatus(allowed, 1, 1, 1)
    budget = PodDisruptionBudget("b", spec=spec, status=status)
    world = cluster(attrs.evolve(victim, status=ready), budget, pending("c", 10, 1000),
                    switches={"victims_go_by": "eviction"})  # fmt: skip
    world.limit(until_ms=300)
    play(world)
    assert pod_of(world, "a").meta.is_terminating is (allowed == 1)
    broken_off = [each for each in world.table.records if each.name == "preemption broken off"]
    assert bool(broken_off) is (allowed == 0)


@pytest.mark.spec("SCH-98", "SCH-121")
@each_row(("precondition", "is_killed"), [("none", True), ("uid", False)])
def test_a_pod_of_the_same_name_dies_instead_of_a_victim(
    precondition: str, is_killed: bool
) -> None:
    """The victim is gone and created again before it is deleted by its name alone. A switch makes
    the delete name the uid."""

    async def user(client: Client) -> None:
        await delete(client, "a", grace_s=0)
        await client.create(there("a", 1))

    switches = {"disruption_condition": "off", "preempt_delete_precondition": precondition}
    world = cluster(there("a", 5), pending("c", 10, 1000), user=user, switches=switches)
    world.limit(until_ms=300)
    play(world, *MEANWHILE, "answer user/main delete *", "serve user/main create pods/*",
         "serve user/main create.2 pods/*", late=("* user/main *",))  # fmt: skip
    again = pod_of(world, "a")
    assert again.meta.is_terminating is is_killed


@pytest.mark.spec("SCH-99", "SCH-121", "INV-25")
@each_row("profile", ["k8s-1.26", "k8s-modern"])
def test_a_victim_that_is_gone_breaks_it_off(profile: str) -> None:
    """In 1.26 the victims before it stay deleted, and the pod is not nominated. Later versions go
    on."""

    async def user(client: Client) -> None:
        await delete(client, "b", grace_s=0)

    world = cluster(there("a", 5), there("b", 5), pending("c", 10, 1000), user=user,
                    profile=profile)  # fmt: skip
    world.limit(until_ms=300)
    played = play(world, *MEANWHILE, late=("* user/main *",))
    is_modern = profile == "k8s-modern"
    assert pod_of(world, "a").meta.is_terminating
    assert len(records(world, "preemption broken off")) == (0 if is_modern else 1)
    assert books(world).beliefs.nominator.node_of(pod_of(world, "c").meta.uid) == (
        "n1" if is_modern else ""
    )
    assert patched(played, "c")[0]["status"].get("nominatedNodeName") == (
        "n1" if is_modern else None
    )


@pytest.mark.spec("SCH-100")
def test_that_a_nomination_is_not_taken_back_is_no_matter() -> None:
    """The victims are evicted all the same, and the pod is nominated."""
    lower = pending("lower", 9, 100)
    world = cluster(there("a", 9), lower, user=later(pending("c", 9, 1000), 1000))
    world.allow(LoseRequest(NAME))
    lost = "fault * lose_request *patch/status pods/default/lower#2*"
    play(world, lost, late=(f"serve {NAME}/main patch/status pods/default/lower#2",))
    assert len(records(world, "nomination kept")) == 1
    assert (nominated(world, "lower"), nominated(world, "c")) == ("n1", "n1")


@pytest.mark.spec("SCH-100")
def test_an_equal_pod_keeps_its_nomination() -> None:
    """Only less important pods lose it, and only if their object shows it."""
    first = pending("first", 5, 1000)
    world = cluster(there("a", 5, 50), there("b", 5, 50), first,
                    user=later(pending("second", 5, 1000), 1000))  # fmt: skip
    play(world)
    assert (nominated(world, "first"), nominated(world, "second")) == ("n1", "n1")


@pytest.mark.spec("SCH-100")
@each_row(("profile", "keeps"), [("k8s-1.26", False), ("seed", True)])
def test_a_less_important_pod_may_keep_what_still_fits(profile: str, keeps: bool) -> None:
    """With the switch, only pods that no longer fit lose their nomination."""
    small = pending("small", 3, 100)
    world = cluster(there("a", 4), there("b", 3), there("k", 3, 100), small, profile=profile,
                    user=later(pending("c", 4, 1000), 1000))  # fmt: skip
    play(world)
    kept = books(world).beliefs.nominator.node_of(pod_of(world, "small").meta.uid)
    assert bool(kept) is keeps


@pytest.mark.spec("SCH-50", "SCH-46")
def test_a_nomination_may_be_written_as_an_annotation() -> None:
    """The next life reads it there, and it is cleared there."""
    key = "scheduler.kubernetes.io/nominated-node-name"
    world = cluster(there("a", 9, 50), pending("low", 9, 100), profile="seed",
                    user=later(pending("high", 9, 1000), 1000))  # fmt: skip
    play(world)
    assert nominated(world, "high") == ""
    assert pod_of(world, "high").meta.annotations == {key: "n1"}
    assert pod_of(world, "low").meta.annotations == {}


@pytest.mark.spec("SCH-101", "SCH-76")
def test_a_pod_that_nobody_can_make_room_for_loses_its_nomination() -> None:
    """In memory and on the server."""

    async def user(client: Client) -> None:
        await client.sleep(1000)
        await client.patch(Pod("a"), {"spec": {}, "metadata": {"finalizers": []}})
        await delete(client, "a", grace_s=0)
        await client.create(there("new", 10, 2000))

    world = cluster(there("a", 5, 50), pending("c", 10, 1000), user=user)
    play(world)
    assert attempts(world)[-1].endswith("No preemption victims found for incoming pod..")
    assert nominated(world, "c") == ""
    assert not books(world).beliefs.nominator.nominated


@pytest.mark.spec("SCH-102", "SCH-103", "SCH-125")
def test_a_pod_whose_node_is_deleted_waits_for_other_news() -> None:
    """The deletion of its nominated node does not move it. When it is tried again, it may preempt
    elsewhere."""

    async def user(client: Client) -> None:
        await client.sleep(1000)
        await client.delete(Node("n1"), whatever_it_was=True)
        await client.sleep(9000)
        await client.create(Node.of("n3", cpu_m=100))
        await client.patch(Pod("c"), {"metadata": {"labels": {"a": "b"}}})

    world = cluster(there("a", 9, 0), there("b", 9, 50, node="n2"), pending("c", 9, 1000),
                    nodes=2, user=user)  # fmt: skip
    play(world)
    assert [each.split()[:2] for each in attempts(world)] == [["0", "c#1"], ["10000", "c#2"]]
    assert nominated(world, "c") == "n2"


@pytest.mark.spec("SCH-104")
def test_victims_die_even_if_the_pod_they_made_room_for_is_gone() -> None:
    """Nothing calls a preemption back."""

    async def user(client: Client) -> None:
        await client.sleep(1000)
        await delete(client, "c")

    world = with_kubelets(cluster(there("a", 9), pending("c", 9, 1000), user=user), "n1")
    play(world)
    assert pod_of(world, "a") is None
    assert not books(world).beliefs.nominator.nominated


@pytest.mark.spec("SCH-99")
@each_row("fault", [LoseRequest, ServerError])
def test_an_error_of_any_write_breaks_it_off(fault: Any) -> None:
    """A patch is retried if the server has failed, a deletion is not."""
    world = cluster(there("a", 5), pending("c", 10, 1000))
    world.allow(fault("alpha"))
    world.limit(until_ms=300)
    play(world, f"fault * {fault.word} *delete pods/default/a*", late=("serve alpha/main delete*",))
    assert len(records(world, "preemption broken off")) == 1
    assert not pod_of(world, "a").meta.is_terminating


@pytest.mark.spec("SCH-84", "SCH-95")
def test_a_budget_that_has_come_meanwhile_counts() -> None:
    """It protects the less important pod, so the other one is the victim."""
    spec = PodDisruptionBudgetSpec(selector=LabelSelector(Map(app="web")))

    async def user(client: Client) -> None:
        await client.sleep(1000)
        await client.create(PodDisruptionBudget("web", spec=spec))
        await client.create(pending("c", 5, 1000))

    world = cluster(
        there("x", 9, labels={"app": "web"}), there("y", 9, 50, node="n2"), pending("small"),
        nodes=2, user=user,
    )  # fmt: skip
    play(world)
    assert nominated(world, "c") == "n2"
