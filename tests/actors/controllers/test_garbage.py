"""Garbage: what belongs to an object goes with it; in the background, before it, or not at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from actors.apiserver import ApiServer
from actors.controllers.garbage import FOREGROUND, GarbageCollector
from testbed import Client, NotFound, Operation, Unavailable, World
from testbed.choosers.struck import Struck
from testbed.errors import AlreadyExists
from testbed.faults.break_watch import BreakWatch
from testbed.faults.compact import Compact
from testbed.faults.crash import Crash
from testbed.faults.lose_request import LoseRequest
from testbed.objects import Binding, Map, Meta, Node, Object, Owner, Pod, ReplicaSet, Target
from testbed.turns.trace import Trace
from tests.each_row import each_row
from tests.shared.stage import Doing, Puppet, play
from tests.shared.strike import at_every_turn


def owner(item: Object, *, blocks: bool = True) -> Owner:
    """The reference to an owner."""
    return Owner(item.api_version, item.kind, item.meta.name, item.meta.uid, True, blocks)


async def owned(client: Client, name: str, *owners: Owner, node: str = "") -> Pod:
    """A pod of these owners, bound if a node is said."""
    pod = await client.create(Pod.of(name, cpu_m=100).with_meta(owners=owners))
    if node:
        meta = Meta(name, "default")
        await client.ask(
            Operation("create", "pods", name, "default", Binding(meta, Target(node)),
                      subresource="binding")
        )  # fmt: skip
    return pod


async def remove(client: Client, item: Object, **options: Any) -> None:
    """Delete it so."""
    await client.delete(item, whatever_it_was=True, options=Map(options))


async def waiting(client: Client) -> tuple[ReplicaSet, Pod]:
    """An owner that was deleted in the foreground a second ago, and the bound pod it waits for."""
    one = await client.create(ReplicaSet("one"))
    pod = await owned(client, "a", owner(one), node="n1")
    await remove(client, one, propagation="Foreground")
    await client.sleep(1000)
    return one, pod


async def made_again(client: Client, *owners: Owner) -> None:
    """Delete a pod after its owner, and make another one of its name, of these owners."""
    one = await client.create(ReplicaSet("one"))
    pod = await owned(client, "a", owner(one))
    await remove(client, one)
    await client.sleep(0)
    await remove(client, pod)
    await owned(client, "a", *owners)


def world_with(do: Doing, **settings: Any) -> World:
    """A World with an API server, the garbage collector, and a user."""
    world = World("test")
    world.serve(lambda store: ApiServer(store))
    world.start(GarbageCollector(**settings))
    world.start(Puppet("user", do))
    return world


def left(world: World) -> list[str]:
    """What there is at the end."""
    return [entry.key.replace("default/", "") for entry in world.store.snapshot("")]


def gone(world: World) -> list[str]:
    """The names of what was removed, in order."""
    log = world.store.log()
    return [change.key.rpartition("/")[2] for change in log.changes if change.new is None]


@pytest.mark.spec("API-32")
def test_one_of_two_owners_goes_alone() -> None:
    """Its reference is taken, and the object stays with the other one."""

    async def run(client: Client) -> None:
        one, other = [await client.create(ReplicaSet(name)) for name in ("one", "other")]
        await owned(client, "a", owner(one), owner(other))
        await remove(client, one)

    world = world_with(run)
    play(world)
    (entry,) = world.store.snapshot("pods/")
    assert [each.name for each in entry.value.meta.owners] == ["other"]  # type: ignore[attr-defined]


@pytest.mark.spec("API-32")
def test_another_object_of_its_owner_s_name_is_not_its_owner() -> None:
    """It was deleted and made again: what belonged to the first goes all the same."""

    async def run(client: Client) -> None:
        one = await client.create(ReplicaSet("one"))
        await remove(client, one)
        await client.create(ReplicaSet("one"))
        await owned(client, "a", owner(one))

    world = world_with(run)
    play(world)
    assert left(world) == ["replicasets/one"]


@pytest.mark.spec("API-32")
@each_row("blocks", [True, False])
def test_an_owner_in_the_foreground_waits_for_what_blocks_it(blocks: bool) -> None:
    """It is the last to go: a bound pod takes its time. What does not block it may outlive it."""

    async def run(client: Client) -> None:
        one = await client.create(ReplicaSet("one"))
        pod = await owned(client, "a", owner(one, blocks=blocks), node="n1")
        await remove(client, one, propagation="Foreground")
        await client.sleep(1000)
        found = [each.meta.finalizers for each in (await client.list(ReplicaSet)).items]
        assert found == ([(FOREGROUND,)] if blocks else [])
        assert (await client.get(Pod, "a")).meta.is_terminating
        await remove(client, pod, grace_s=0)

    world = world_with(run)
    play(world)
    assert gone(world) == (["a", "one"] if blocks else ["one", "a"])


@pytest.mark.spec("API-32")
def test_foreground_goes_down_the_generations() -> None:
    """A grandchild goes before the child, that before the owner, if each blocks."""

    async def run(client: Client) -> None:
        one = await client.create(ReplicaSet("one"))
        two = await client.create(ReplicaSet("two").with_meta(owners=(owner(one),)))
        await owned(client, "a", owner(two))
        await remove(client, one, propagation="Foreground")

    world = world_with(run)
    play(world)
    assert gone(world) == ["a", "two", "one"]
    assert left(world) == []


@pytest.mark.spec("API-32")
def test_a_ring_of_owners_lets_go() -> None:
    """Two that own and block each other do not wait for ever."""

    async def run(client: Client) -> None:
        one = await client.create(ReplicaSet("one"))
        two = await client.create(ReplicaSet("two").with_meta(owners=(owner(one),)))
        one = await client.update(one.with_meta(owners=(owner(two),)))
        await remove(client, one, propagation="Foreground")

    world = world_with(run)
    play(world)
    assert left(world) == []


@pytest.mark.spec("API-32")
def test_orphans_stay_without_an_owner() -> None:
    """Their references to it are taken first, and then it goes; other references stay."""

    async def run(client: Client) -> None:
        one, other = [await client.create(ReplicaSet(name)) for name in ("one", "other")]
        await owned(client, "a", owner(one))
        await owned(client, "b", owner(one), owner(other))
        await remove(client, one, propagation="Orphan")

    world = world_with(run)
    play(world)
    assert left(world) == ["pods/a", "pods/b", "replicasets/other"]
    owners = [[o.name for o in e.value.meta.owners] for e in world.store.snapshot("pods/")]  # type: ignore[attr-defined]
    assert owners == [[], ["other"]]


def test_an_owner_of_a_kind_nobody_knows_is_left_in_peace() -> None:
    """Whether it exists is unknown. An owner of a kind that is not watched is asked for."""

    async def run(client: Client) -> None:
        node = await client.create(Node.of("n1"))
        await owned(client, "a", Owner("example.com/v1", "Gadget", "g", "u"))
        await owned(client, "b", owner(node))
        await owned(client, "c", Owner("v1", "Node", "n2", "u"))

    world = world_with(run)
    play(world)
    assert left(world) == ["nodes/n1", "pods/a", "pods/b"]


RACE = "deliver garbage-collector/watch-replicasets * ADDED"


@pytest.mark.spec("API-32", "API-52")
@each_row("looks_again", [True, False])
def test_an_owner_that_was_not_heard_of_yet_is_asked_for(looks_again: bool) -> None:
    """Its pod is heard of before it. A collector that goes by its caches alone deletes a pod whose
    owner lives; one that asks does not."""

    async def run(client: Client) -> None:
        await client.sleep(1000)
        one = await client.create(ReplicaSet("one"))
        await owned(client, "a", owner(one))

    world = world_with(run, looks_again=looks_again)
    play(world, late=(RACE,))
    assert ("pods/a" in left(world)) is looks_again


async def surely(client: Client, ask: Callable[[], Awaitable[Any]]) -> None:
    """Ask until there is an answer; that it was done already is one."""
    while True:
        try:
            await ask()
        except Unavailable:
            await client.sleep(10)
        except (AlreadyExists, NotFound):
            return
        else:
            return


async def kept(client: Client, name: str, sets: list[Any]) -> None:
    """Put it with the others, as it is."""
    sets.append(await client.get(ReplicaSet, name))


async def trouble(client: Client) -> None:
    """All three ways at once."""
    ways = {"back": "Background", "fore": "Foreground", "free": "Orphan"}
    sets: list[Any] = []
    for name in ways:
        await surely(client, partial(client.create, ReplicaSet(name)))
        await surely(client, partial(kept, client, name, sets))
    for one in sets:
        name = one.meta.name
        await surely(client, partial(client.create, ReplicaSet(name)))
        await surely(client, partial(owned, client, f"{name}-a", owner(one)))
        await surely(client, partial(remove, client, one, propagation=ways[name]))


@pytest.mark.spec("API-26", "API-32")
@pytest.mark.parametrize("target", ["garbage-collector", "api"])
def test_a_crash_at_any_turn_changes_nothing_of_the_end(target: str) -> None:
    """It, or its server, crashes at each turn and comes back: the orphan is left, without an
    owner, and nothing else. But a server that fails between the two commits of a delete leaves a
    pod whose time is up, which no actor here removes, as in Kubernetes."""
    half_gone: list[str] = []

    def play_one(chooser: Struck) -> None:
        world = world_with(trouble, delay_ms=10)
        world.allow(Crash(target, restart_after_ms=50))
        verdict = world.run(chooser, driver="direct", trace=Trace({}, keep=True))
        assert verdict.is_held, str(verdict)
        items: list[Any] = [entry.value for entry in world.store.snapshot("")]
        half = [item.key for item in items if item.meta.is_terminating and not item.meta.grace_s]
        whole = [item for item in items if item.key not in half]
        assert [(i.meta.name, i.meta.owners) for i in whole] == [("free-a", ())]
        half_gone.extend(half)

    assert sum(chooser.has_struck for chooser in at_every_turn(f"crash {target}", play_one)) > 50
    assert bool(half_gone) is (target == "api")


def test_what_was_refused_is_tried_again() -> None:
    """Each of its requests is lost once: the end is the same."""

    async def run(client: Client) -> None:
        one = await client.create(ReplicaSet("one"))
        await owned(client, "a", owner(one))
        await remove(client, one, propagation="Foreground")

    world = world_with(run)
    world.allow(LoseRequest("garbage-collector", times_max=3))
    cues = [f"fault fault/lose_request lose_request garbage-collector {verb} *"
            for verb in ("get", "delete", "patch")]  # fmt: skip
    play(world, *cues)
    assert left(world) == []


def test_it_knows_all_before_it_acts() -> None:
    """It has not listed pods yet when it hears of an owner that waits for one: it waits, too."""

    async def run(client: Client) -> None:
        _, pod = await waiting(client)
        await remove(client, pod, grace_s=0)

    world = world_with(run)
    play(world, late=("serve garbage-collector/cache-pods list pods",))
    assert gone(world) == ["a", "one"]


@pytest.mark.spec("API-23")
def test_another_object_of_that_name_is_not_deleted() -> None:
    """It was deleted and made again, without an owner, before the deletion took effect."""

    world = world_with(made_again)
    play(world, late=("serve garbage-collector/main delete *",))
    assert left(world) == ["pods/a"]


@pytest.mark.spec("API-32")
def test_another_object_of_that_name_is_judged_when_it_is_heard_of() -> None:
    """Also if the server shows it first: that was asked about the one that is gone."""

    async def run(client: Client) -> None:
        await made_again(client, owner(ReplicaSet("two").with_meta(uid="nobody")))

    world = world_with(run)
    heard = "deliver garbage-collector/watch-pods pods/default/a"
    played = play(world, late=("serve garbage-collector/main get *", f"{heard} DELETED"))
    deleted = played.only("serve garbage-collector/main delete pods/default/a")
    assert played.only(f"{heard} ADDED#2").number < deleted.number
    assert left(world) == []


def test_a_finalizer_that_went_meanwhile_does_not_come_back() -> None:
    """It takes away its own from the object as it has heard of it; else it hears again first."""

    async def run(client: Client) -> None:
        one = await client.create(ReplicaSet("one").with_meta(finalizers=("x", "y")))
        await remove(client, one, propagation="Foreground")
        await client.sleep(0)
        one = await client.get(ReplicaSet, "one")
        kept = tuple(each for each in one.meta.finalizers if each != "y")
        await client.update(one.with_meta(finalizers=kept))

    world = world_with(run)
    play(world, late=("serve garbage-collector/main patch *",))
    (entry,) = world.store.snapshot("replicasets/")
    assert entry.value.meta.finalizers == ("x",)  # type: ignore[attr-defined]


def test_an_orphan_that_is_gone_holds_up_nobody() -> None:
    """It is deleted before its reference is taken: the other one is set free all the same."""

    async def run(client: Client) -> None:
        one = await client.create(ReplicaSet("one"))
        pod = await owned(client, "a", owner(one))
        await owned(client, "b", owner(one))
        await remove(client, one, propagation="Orphan")
        await client.sleep(0)
        await remove(client, pod)

    world = world_with(run)
    play(world, late=("serve garbage-collector/main patch pods/default/a",))
    assert left(world) == ["pods/b"]


@pytest.mark.spec("API-32")
@each_row(("finalizer", "removed"), [("orphan", ["one", "two"]), (FOREGROUND, ["one", "a", "two"])])
def test_what_is_collected_goes_as_its_own_finalizers_say(
    finalizer: str, removed: list[str]
) -> None:
    """Its owner went in the background; what belongs to it is set free, or goes first."""

    async def run(client: Client) -> None:
        one = await client.create(ReplicaSet("one"))
        two = ReplicaSet("two").with_meta(owners=(owner(one),), finalizers=(finalizer,))
        await owned(client, "a", owner(await client.create(two)))
        await remove(client, one)

    world = world_with(run)
    play(world)
    assert gone(world) == removed


@pytest.mark.spec("API-32", "API-56")
def test_an_owner_that_was_made_again_while_nobody_listened_is_another_one() -> None:
    """Its watch broke, and what happened meanwhile was forgotten: the list that follows has an
    object of the same name, and what belonged to the first is collected."""

    async def run(client: Client) -> None:
        one = await client.create(ReplicaSet("one"))
        await owned(client, "a", owner(one))
        await client.sleep(100)
        await remove(client, one)
        await client.create(ReplicaSet("one"))

    world = world_with(run)
    world.allow(BreakWatch("garbage-collector"), Compact("store"))
    play(
        world, "wake user/main *", "fault * break_watch replicasets to garbage-collector",
        "serve user/main create replicasets/default/one#2", "fault * compact store",
    )  # fmt: skip
    assert left(world) == ["replicasets/one"]
