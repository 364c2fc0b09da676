"""Incidents: small Worlds, each with one mistake of a kind that people make again and again.

What went wrong in each is known; `tests/story/test_cause.py` holds what the stories say against it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import ApiError, NotFound, Unavailable
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.faults.partition import Partition
from testbed.invariant import Evidence, always, eventually, quiescent
from testbed.invariants.lasso.no_lasso import no_lasso
from testbed.objects import Meta, Node, Note, Pod, PriorityClass
from testbed.objects.meta import Map
from testbed.store.endpoint import Operation
from testbed.store.store_endpoint import StoreEndpoint
from testbed.world.world import World
from tests.shared.binders import Bindery
from tests.shared.stage import Puppet


def note(name: str, **data: str) -> Note:
    """A Note of the default namespace."""
    return Note(name, data=Map(data))


def notes_of(see: Evidence) -> dict[str, Any]:
    """All Notes, by name."""
    found = [entry.value for entry in see.store.snapshot("notes/")]
    return {item.meta.name: item for item in found}  # type: ignore[attr-defined]


# -- old news ---------------------------------------------------------------------------------


async def three_workers(client: Client) -> None:
    """Create what the Cache lacks; what was created just now it may not show yet."""
    cache = Cache(client, Note)
    await cache.synced()
    numbers = count()
    while len(cache.all()) < 2:
        await client.create(note(f"worker-{next(numbers)}"))


def two_are_enough(see: Evidence) -> str | None:
    """Each worker does its work once."""
    names = list(notes_of(see))
    return f"2 are wanted, and there are {', '.join(names)}" if len(names) > 2 else None


def own_echo(world: World) -> None:
    """A controller counts its workers in a Cache that lags behind its own creates."""
    world.serve(StoreEndpoint)
    world.start(Puppet("web", three_workers))
    world.claim(always(two_are_enough))


async def make_class_and_pod(client: Client) -> None:
    """Create a class, then a pod of that class; a refusal is only noted."""
    await client.create(PriorityClass(Meta("batch"), value=5))
    try:
        await client.create(Pod.of("job", cpu_m=100, priority_class_name="batch"))
    except ApiError as error:
        client.record("gave up", reason=error.reason)


async def remove_class(client: Client) -> None:
    """Remove the class as soon as it is there."""
    try:
        await client.delete(PriorityClass(Meta("batch"), value=5))
    except NotFound:
        return


def the_job_is_there(see: Evidence) -> str | None:
    """Nothing was wrong with the pod."""
    is_there = any(True for _ in see.store.snapshot("pods/default/job"))
    return None if is_there else "pods/default/job was not created"


def class_gone(world: World) -> None:
    """A class is deleted between the create of it and that of a pod which names it."""
    world.serve(ApiServer)
    world.start(Puppet("ann", make_class_and_pod), Puppet("cleaner", remove_class))
    world.claim(quiescent(the_job_is_there, reads=("log:pods",)))


def a_class_of_each_pod(see: Evidence) -> str | None:
    """A pod names a class that there is, or was refused."""
    classes = {entry.value.meta.name for entry in see.store.snapshot("priorityclasses/")}  # type: ignore[attr-defined]
    for entry in see.store.snapshot("pods/"):
        pod: Any = entry.value
        name = pod.spec.priority_class_name
        if name and name not in classes:
            return f"{pod.key} is of class {name}, which is gone"
    return None


async def create_a_job(client: Client) -> None:
    """Create a pod of a class that is there."""
    try:
        await client.create(Pod.of("job", cpu_m=100, priority_class_name="batch"))
    except ApiError:
        return


async def remove_unused_class(client: Client) -> None:
    """Remove the class unless a pod names it."""
    if not (await client.list(Pod)).items:
        await client.delete(PriorityClass(Meta("batch"), value=5))


def class_in_use(world: World) -> None:
    """A pod is checked against a class, and the class is gone when it is written."""
    world.serve(ApiServer)
    world.add(PriorityClass(Meta("batch"), value=5))
    world.start(Puppet("cleaner", remove_unused_class), Puppet("ann", create_a_job))
    world.claim(always(a_class_of_each_pod))


# -- a promise that the other side never reads ---------------------------------------------------


async def reserve(client: Client) -> None:
    """Lay a towel on the seat."""
    await client.create(note("towel", seat="1", of="alpha"))


async def sit_down(client: Client) -> None:
    """Take the seat if nobody sits there; towels are not looked at."""
    seat = await client.get(Note, "seat-1")
    if not seat.data["taken_by"]:
        await client.update(seat.saying(taken_by="beta"))


def a_towel_counts(see: Evidence) -> str | None:
    """Nobody sits where a towel of another lies."""
    notes = notes_of(see)
    if "towel" in notes and notes["seat-1"].data["taken_by"] not in ("", "alpha"):
        return "seat-1 was reserved by towel, and beta sits on it"
    return None


def towel(world: World) -> None:
    """A reservation is an object of its own, which the other program has never heard of."""
    world.serve(StoreEndpoint)
    world.add(note("seat-1", taken_by=""))
    world.start(Puppet("beta", sit_down), Puppet("alpha", reserve))
    world.claim(always(a_towel_counts))
    world.needs_no_race = "beta never looks at towels"


async def cordon(client: Client) -> None:
    """Mark the node as unschedulable."""
    node = await client.get(Node, "n1")
    await client.update(attrs.evolve(node, spec=attrs.evolve(node.spec, unschedulable=True)))


async def bind_blindly(client: Client) -> None:
    """Bind a pod to the node, which was looked at, and not at whether it is cordoned."""
    await client.sleep(1000)
    node = await client.get(Node, "n1")
    bind = Operation("create", "pods", "job", "default", node.meta.name, subresource="binding")
    await client.ask(bind)


def no_pod_on_a_cordoned_node(see: Evidence) -> str | None:
    """Whoever drains a node wants no new pod there."""
    nodes: list[Any] = [entry.value for entry in see.store.snapshot("nodes/")]
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    for node in nodes:
        here = [pod.key for pod in pods if pod.spec.node_name == node.meta.name]
        if node.spec.unschedulable and here:
            return f"{node.meta.name} is cordoned, and {here[0]} was bound to it"
    return None


def cordoned(world: World) -> None:
    """A binder looks at the node, but not at the field by which it is closed."""
    world.serve(Bindery)
    world.add(Node("n1"), Pod("job"))
    world.start(Puppet("drainer", cordon), Puppet("binder", bind_blindly))
    world.claim(always(no_pod_on_a_cordoned_node))
    world.needs_no_race = "the binder never looks at that field"


# -- half done ----------------------------------------------------------------------------------


async def move(client: Client) -> None:
    """Move a thing to its new place: first it is taken away, then put down."""
    try:
        await client.delete(note("old-place"))
    except NotFound:
        return
    await client.create(note("new-place"))


def the_thing_is_somewhere(see: Evidence) -> str | None:
    """It has not got lost."""
    is_lost = not {"old-place", "new-place"} & set(notes_of(see))
    return "the thing is neither in old-place nor in new-place" if is_lost else None


def moved(world: World) -> None:
    """A crash between two writes; the next life does not know what the first one had begun."""
    world.serve(StoreEndpoint)
    world.add(note("old-place"))
    world.start(Puppet("mover", move))
    world.allow(Crash("mover", restart_after_ms=100))
    world.claim(quiescent(the_thing_is_somewhere, reads=("log:notes",)))


async def transfer(client: Client) -> None:
    """Carry five from one account to the other."""
    one, other = await client.get(Note, "savings"), await client.get(Note, "giro")
    await client.update(one.saying(money=str(int(one.data["money"]) - 5)))
    await client.update(other.saying(money=str(int(other.data["money"]) + 5)))


async def audit(client: Client) -> None:
    """Add up what is there."""
    notes = await client.list(Note)
    total = sum(int(item.data["money"]) for item in notes.items)
    client.record("audited", total=total)


def the_sum_is_twenty(see: Evidence) -> str | None:
    """Money is carried, and never lost."""
    for record in see.records:
        if record.name == "audited" and record.facts["total"] != 20:
            return f"the audit found {record.facts['total']} of 20 in savings and giro"
    return None


def torn_transfer(world: World) -> None:
    """A reader comes between two writes that belong together."""
    world.serve(StoreEndpoint)
    world.add(note("savings", money="10"), note("giro", money="10"))
    world.start(Puppet("teller", transfer), Puppet("auditor", audit))
    world.claim(always(the_sum_is_twenty))


async def transfer_or_give_up(client: Client) -> None:
    """The same, by a program that takes an error for a reason to stop."""
    try:
        await transfer(client)
    except Unavailable:
        return


def the_accounts_hold_twenty(see: Evidence) -> str | None:
    """In the end nothing is missing."""
    total = sum(int(item.data["money"]) for item in notes_of(see).values())
    return None if total == 20 else f"savings and giro hold {total} of 20"


def dropped_transfer(world: World) -> None:
    """The second of two writes fails, and nobody repeats it."""
    world.serve(StoreEndpoint)
    world.add(note("savings", money="10"), note("giro", money="10"))
    world.start(Puppet("teller", transfer_or_give_up))
    world.allow(LoseRequest("teller"))
    world.claim(quiescent(the_accounts_hold_twenty, reads=("log:notes",)))


async def delete_a_pod(client: Client) -> None:
    """Delete it; if there is no answer, leave it at that."""
    with suppress(ApiError):
        await client.delete(Pod.of("job"), whatever_it_was=True)


def nothing_is_half_deleted(see: Evidence) -> str | None:
    """A pod that no kubelet has, and that is to be gone by now, is gone."""
    for entry in see.store.snapshot("pods/"):
        pod: Any = entry.value
        if pod.meta.is_terminating and not pod.is_bound:
            return f"{pod.key} was to be gone, and stays for ever"
    return None


def half_deleted(world: World) -> None:
    """The server crashes between the two commits of a delete."""
    world.serve(lambda store: ApiServer(store))
    world.add(Pod.of("job"))
    world.start(Puppet("amy", delete_a_pod))
    world.allow(Crash("api", restart_after_ms=500))
    world.claim(quiescent(nothing_is_half_deleted, reads=("log:pods",)))


# -- did it happen? -----------------------------------------------------------------------------


async def pay(client: Client) -> None:
    """Pay once; if that fails, once more."""
    for number in range(2):
        try:
            await client.create(note(f"payment-{number}"))
        except Unavailable:
            continue
        return


def one_payment(see: Evidence) -> str | None:
    """The bill is paid once."""
    names = list(notes_of(see))
    return f"paid twice, by {' and '.join(names)}" if len(names) > 1 else None


def paid_twice(world: World) -> None:
    """A payment has taken effect, and the payer is told that nobody knows."""
    world.serve(StoreEndpoint)
    world.start(Puppet("payer", pay))
    world.allow(LoseReply("payer"))
    world.claim(always(one_payment))


async def pay_in_haste(client: Client) -> None:
    """Pay, wait for a second at most, and pay again."""
    for number in range(2):
        try:
            await client.ask(
                Operation("create", "notes", f"payment-{number}", "default",
                          note(f"payment-{number}")), timeout_ms=1000,
            )  # fmt: skip
        except ApiError:
            continue
        return


def paid_in_haste(world: World) -> None:
    """The first payment is on its way for longer than the payer waits."""
    world.serve(StoreEndpoint)
    world.start(Puppet("payer", pay_in_haste))
    world.allow(Partition("payer", for_ms=5000))
    world.claim(always(one_payment))


async def say_it_is_paid(client: Client) -> None:
    """Pay, and whatever happens, say that it is paid."""
    with suppress(Unavailable):
        await client.create(note("payment"))
    client.record("paid", by="payment")


def what_is_said_is_true(see: Evidence) -> str | None:
    """Who says that it has paid has paid."""
    if any(record.name == "paid" for record in see.records) and not notes_of(see):
        return "payer says that it is paid, and there is no payment"
    return None


def said_to_be_paid(world: World) -> None:
    """The reverse: nothing happened, and the payer goes on as if it had."""
    world.serve(StoreEndpoint)
    world.start(Puppet("payer", say_it_is_paid))
    world.allow(LoseRequest("payer"))
    world.claim(always(what_is_said_is_true))


# -- two rules that disagree ----------------------------------------------------------------------


def paints(colour: str) -> Callable[[Client], Any]:
    """Whenever the fence has another colour, it is painted."""

    async def paint(client: Client) -> None:
        fences, seen = Cache(client, Note), client.queue("seen", idle=True)
        fences.on(add=seen.put, update=lambda _, new: seen.put(new))
        while True:
            fence = await seen.get()
            await client.sleep(1000)
            if fence.data["colour"] != colour:
                try:
                    await client.update(fence.saying(colour=colour))
                except ApiError:
                    continue

    return paint


def fence(world: World) -> None:
    """Two controllers, each by a rule that is right by itself."""
    world.serve(StoreEndpoint)
    world.add(note("fence", colour="white"))
    world.start(Puppet("greens", paints("green")), Puppet("blues", paints("blue")))
    world.claim(no_lasso())
    world.needs_no_race = "neither ever has its way"


async def sweep(client: Client) -> None:
    """Remove every leaf."""
    leaves, seen = Cache(client, Note), client.queue("seen", idle=True)
    leaves.on(add=seen.put)
    while True:
        leaf = await seen.get()
        try:
            await client.delete(leaf)
        except NotFound:
            continue


async def strew(client: Client, finalizers: tuple[str, ...] = ()) -> None:
    """Put a leaf wherever there is none."""
    leaves, gone = Cache(client, Note), client.queue("gone", idle=True)
    leaves.on(delete=gone.put)
    await leaves.synced()
    while True:
        await client.create(note("leaf").with_meta(finalizers=finalizers))
        await gone.get()
        await client.sleep(1000)


def leaves(world: World) -> None:
    """One creates what the other deletes."""
    world.serve(StoreEndpoint)
    world.start(Puppet("sweeper", sweep), Puppet("tree", strew))
    world.claim(no_lasso())
    world.needs_no_race = "neither ever has its way"


async def let_go(client: Client) -> None:
    """Let go of what another has marked for deletion."""
    notes, seen = Cache(client, Note), client.queue("seen", idle=True)
    notes.on(update=lambda _, new: seen.put(new))
    while True:
        item = await seen.get()
        if item.meta.finalizers:
            await client.update(item.with_meta(finalizers=()))


def leaves_let_go(world: World) -> None:
    """The same, and a third removes what the one has deleted: that is no rule against leaves."""
    world.serve(ApiServer)
    world.start(Puppet("sweeper", sweep), Puppet("porter", let_go))
    world.start(Puppet("tree", partial(strew, finalizers=("testbed.example/porter",))))
    world.claim(no_lasso())
    world.needs_no_race = "neither ever has its way"


# -- gone for good ----------------------------------------------------------------------------


async def bake(client: Client) -> None:
    """Bake what is ordered."""
    for _ in range(3):
        await client.sleep(1000, "look")
        order = await client.get(Note, "order")
        if not order.data["baked"]:
            await client.update(order.saying(baked="yes"))


async def look_in(client: Client) -> None:
    """Write down how often one has looked in; nobody goes by that."""
    for times in range(3):
        await client.sleep(1000, "look in")
        await client.update(note("visits", times=str(times)), whatever_it_was=True)


def the_order_is_baked(see: Evidence) -> str | None:
    """Nothing that is ordered stays unbaked."""
    is_baked = notes_of(see)["order"].data["baked"]
    return None if is_baked else "notes/default/order is not baked"


def shop(world: World, baking: Callable[[Client], Any] = bake) -> None:
    """An order, a baker, and a guest who looks in."""
    world.serve(StoreEndpoint)
    world.add(note("order", baked=""), note("visits", times=""))
    world.start(Puppet("baker", baking), Puppet("guest", look_in))


def unbaked(world: World) -> None:
    """Who was to do it is gone, and whoever writes last has nothing to do with it."""
    shop(world)
    world.allow(Crash())
    world.claim(quiescent(the_order_is_baked))


def never_baked(world: World) -> None:
    """The same, by a claim that is to come true."""
    shop(world)
    world.allow(Crash())
    world.claim(eventually(the_order_is_baked))
