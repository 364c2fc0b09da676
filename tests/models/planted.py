"""Races whose causes are known, each in a World with something that a shrink might leave out.

`Planted` says which lines the race must still have when it is shrunk, what must stay in its World,
and what has nothing to do with it and must go.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.shared.user import User
from actors.shared.verbs import evict
from scenarios.basics.lost_update import every_signature_is_kept, lost_update
from scenarios.caches.late_bind import late_bind
from scenarios.slots.double_bind import Scheduler, no_node_is_overcommitted
from testbed import (
    ApiError,
    Cache,
    Client,
    Evidence,
    NotFound,
    Operation,
    StoreEndpoint,
    World,
    always,
    quiescent,
    scenario,
)
from testbed.errors import Forbidden
from testbed.objects import (
    Condition,
    Map,
    Meta,
    Node,
    Note,
    Object,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    QuotaSpec,
    QuotaStatus,
    ResourceQuota,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from testbed.objects.labels import LabelSelector
from testbed.store.endpoint import Handler
from testbed.store.footprint import Footprint
from tests.shared.stage import Puppet, note


@attrs.frozen
class Planted:
    """A scenario, the race that is planted in it, and what a shrink may do to it."""

    build: Callable[..., None]
    cause: tuple[str, ...]
    """A glob for each line that the shrunk race must have; it has no other."""
    goes: tuple[str, ...] = ()
    """What must be left out, and nothing else, in the order of the names."""
    race: str = ""
    """The text of the race to shrink; else the violated Runs of a few seeds are."""
    switches: dict[str, str] = attrs.field(factory=dict)

    @property
    def name(self) -> str:
        """What it is called in a test."""
        sides = [f"{name}={value}" for name, value in self.switches.items()]
        return " ".join([self.build.__name__, *sides])


def guarded(
    world: World,
    guard: Object | None,
    holds: Callable[[Evidence], str | None],
    does: dict[str, Callable[[Client], Any]],
) -> None:
    """An API server, the object that is the guard, if it is on, what each actor does, and what must
    hold at all times."""
    world.serve(ApiServer)
    if guard is not None:
        world.add(guard)
    world.start(*(Puppet(name, do) for name, do in does.items()))
    world.claim(always(holds))


# -- a budget is the guard, and a late kubelet the hole in it -------------------------------------

WEB = {"app": "web"}
HAS_BEEN = tuple(
    Condition(each, "True", since_ms=0)
    for each in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
)


def web(name: str, *, is_running: bool) -> Pod:
    """A pod of the application."""
    pod = Pod.of(name, cpu_m=100, labels=WEB, node_name="n1", grace_s=0)
    return running(pod) if is_running else pod


def running(pod: Pod) -> Pod:
    """The same pod, as its kubelet has reported it."""
    status = attrs.evolve(pod.status, phase="Running", start_ms=0, conditions=HAS_BEEN)
    return attrs.evolve(pod, status=status)


def budget() -> PodDisruptionBudget:
    """One pod of the application must stay up; there are two."""
    spec = PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector(Map(WEB)))
    status = PodDisruptionBudgetStatus(
        disruptions_allowed=1, current_healthy=2, desired_healthy=1, expected_pods=2
    )
    return PodDisruptionBudget(Meta("web"), spec=spec, status=status)


def drainer(pod: str) -> Callable[[Client], Any]:
    """Evicts that pod if another one is there."""

    async def run(client: Client) -> None:
        there = {item.meta.name: item for item in (await client.list(Pod)).items}
        if len(there) > 1:
            with suppress(ApiError):
                await evict(client, there[pod])

    return run


async def reports(client: Client) -> None:
    """The kubelet: says that the second pod runs."""
    with suppress(ApiError):
        pod = await client.get(Pod, "web-2")
        await client.update(running(pod), subresource="status")


def one_is_up(see: Evidence) -> str | None:
    """At least one pod of the application is there."""
    return None if see.store.snapshot("pods/default/web-") else "no web pod is left"


def budget_and_kubelet(world: World, *, guard: bool = False) -> None:
    """Two drainers evict the two pods of an application; a budget allows one of them."""
    world.add(web("web-1", is_running=True), web("web-2", is_running=False))
    # In calm order the kubelet comes first: actors begin in the order of their names.
    does = {"kubelet": reports, "north": drainer("web-1"), "south": drainer("web-2")}
    guarded(world, budget() if guard else None, one_is_up, does)


def budget_always(world: World) -> None:
    """The same, and no switch says that the budget is the guard."""
    budget_and_kubelet(world, guard=True)


# -- a quota is the guard, and a count that is late the hole in it --------------------------------


def job(name: str) -> Pod:
    """A pod that counts for the quota."""
    return Pod.of(name, cpu_m=100)


def quota() -> ResourceQuota:
    """One pod may be there."""
    hard = {"pods": "1"}
    status = QuotaStatus(hard=hard, used={"pods": "0"})
    return ResourceQuota(Meta("one"), spec=QuotaSpec(hard=hard), status=status)


def starter(name: str) -> Callable[[Client], Any]:
    """Creates its pod if there is none."""

    async def run(client: Client) -> None:
        if not (await client.list(Pod)).items:
            with suppress(ApiError):
                await client.create(job(name))

    return run


async def counts(client: Client) -> None:
    """Counts the pods once, and writes that on the quota, whatever stands there by then."""
    pods = (await client.list(Pod)).items
    with suppress(ApiError):
        there = await client.get(ResourceQuota, "one")
        used = attrs.evolve(there.status, used={"pods": str(len(pods))})
        await client.update(attrs.evolve(there, status=used), subresource="status")


def one_job(see: Evidence) -> str | None:
    """No more than one pod is there."""
    found = see.store.snapshot("pods/")
    return None if len(found) < 2 else f"{len(found)} pods are there"


def quota_and_count(world: World, *, guard: bool = False) -> None:
    """Two users each create a pod if there is none; a quota allows one. Something lies about."""
    world.add(note("clutter"))
    does = {"counter": counts, "alpha": starter("a"), "beta": starter("b")}
    guarded(world, quota() if guard else None, one_job, does)


# -- a class is the guard, and its renewal the hole in it -----------------------------------------


def admin(name: str) -> Callable[[Client], Any]:
    """Creates a default class if there is none."""

    async def run(client: Client) -> None:
        await client.sleep(1000, "decide")
        there = (await client.list(PriorityClass)).items
        if not any(item.global_default and item.meta.name != "agreed" for item in there):
            with suppress(ApiError):
                await client.create(PriorityClass(name, value=10, global_default=True))

    return run


async def renews(client: Client) -> None:
    """Replaces the class that was agreed on, if there is one: deletes it, and creates it again."""
    await client.sleep(1000, "renew")
    with suppress(ApiError):
        there = await client.get(PriorityClass, "agreed")
        await client.delete(there)
        await client.create(agreed())


def agreed() -> PriorityClass:
    """The class that was agreed on."""
    return PriorityClass("agreed", value=5, global_default=True)


def no_own_defaults(see: Evidence) -> str | None:
    """The admins have made one default at most."""
    found: list[Any] = [entry.value for entry in see.store.snapshot("priorityclasses/")]
    own = [item.meta.name for item in found if item.meta.name in ("alpha", "beta")]
    return f"{' and '.join(own)} are defaults" if len(own) > 1 else None


def class_and_renewal(world: World, *, guard: bool = False) -> None:
    """Two admins each want to be the default; while another class is, none of them can."""
    does = {"keeper": renews, "alpha": admin("alpha"), "beta": admin("beta")}
    guarded(world, agreed() if guard else None, no_own_defaults, does)


# -- nodes ----------------------------------------------------------------------------------------


def bound_twice(world: World) -> None:
    """Two schedulers race for the last place of n1; a full node stands beside it, with its pod."""
    world.serve(ApiServer)
    world.add(Node.of("n0", cpu_m=100), Node.of("n1", cpu_m=1000))
    world.add(Pod.of("filler", cpu_m=100, node_name="n0"))
    for pod, name in (("c", "alpha"), ("d", "beta")):
        world.add(Pod.of(pod, cpu_m=800, scheduler_name=name))
        world.start(Scheduler(name))
    for node in ("n0", "n1"):
        world.serve(lambda store, node=node: Runtime(store, node=node))  # type: ignore[misc]
        world.start(Kubelet(f"kubelet-{node}", node))
    world.goes_on = True
    world.claim(always(no_node_is_overcommitted))


def crowded_late_bind(world: World) -> None:
    """The shipped race in a larger cluster: another scheduler's pod waits, and a node is full."""
    late_bind(world)
    world.add(Node.of("n2", cpu_m=100))
    world.add(Pod.of("full", cpu_m=100, node_name="n2"), Pod.of("other", scheduler_name="none"))


# -- what somebody reads, or does -----------------------------------------------------------------


def signer(asks: Callable[[Client], Any]) -> Callable[[Client], Any]:
    """Asks for something first, whatever comes of it; then signs the list by read and write."""

    async def run(client: Client) -> None:
        with suppress(NotFound):
            await asks(client)
        seen = await client.get(Note, "list")
        signed = f"{seen.data['signed']} {client.name}".strip()
        await client.update(seen.saying(signed=signed), whatever_it_was=True)
        client.record("signed")

    return run


def signing(world: World, asks: Callable[[Client], Any]) -> None:
    """Two who sign a list by read and write, each of which asks for something first."""
    world.add(note("list", signed=""), note("config"), note("clutter"))
    world.start(Puppet("alpha", signer(asks)), Puppet("beta", signer(asks)))
    world.claim(quiescent(every_signature_is_kept, reads=()))


def configured(world: World) -> None:
    """Each signer gets its configuration first, and would do the same if there was none."""

    async def asks(client: Client) -> None:
        await client.get(Note, "config")

    signing(world, asks)


class Office(StoreEndpoint):
    """Asks the policy before each update, and refuses it if that says so."""

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Updates need a policy that does not forbid them, or none."""
        if operation.verb == "update":
            policy: Any = self.store.get("notes/default/config")
            if policy is not None and policy.value.data.get("updates") == "never":
                raise Forbidden("not now")
        return (yield from super().handle(operation, caller, now_ms))

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """An update looks at the policy."""
        looks = Footprint(frozenset({"notes/default/config"}))
        return super().may(operation, caller) | looks


def ruled(world: World) -> None:
    """The server looks at a note by its key for each update, and does as if there was none."""

    async def asks(client: Client) -> None:
        """Ask for nothing."""

    world.serve(lambda store: Office(store, "office"))
    world.add(note("list", signed=""), note("config"), note("clutter"))
    for name in ("alpha", "beta"):
        world.start(Puppet(name, signer(asks)), at="office")
    world.claim(quiescent(every_signature_is_kept, reads=()))


def counting(world: World) -> None:
    """Each signer records how many notes there are, and does the same whatever their number is."""

    async def asks(client: Client) -> None:
        there = (await client.list(Note)).items
        client.record("signed", notes=len(there))

    signing(world, asks)


def waiting(world: World) -> None:
    """Each signer waits a second for each note that is there."""

    async def asks(client: Client) -> None:
        await client.sleep(1000 * len((await client.list(Note)).items), "wait")

    signing(world, asks)


def choosing(world: World) -> None:
    """Each signer picks a note, and does the same whichever it is; the dullest is the clutter."""

    async def asks(client: Client) -> None:
        there = (await client.list(Note)).items
        client.pick("note", tuple(item.meta.name for item in there))

    signing(world, asks)


def locked(world: World) -> None:
    """Two signers sign once, unless it is locked; a keeper locks it before they look."""

    def signs(name: str) -> Callable[[Client], Any]:
        async def run(client: Client) -> None:
            await client.sleep(1000, "sign")
            there = {item.meta.name for item in (await client.list(Note)).items}
            if not there & {"lock", "alpha", "beta"}:
                await client.create(note(name))

        return run

    async def keeps(client: Client) -> None:
        await client.create(note("lock"))

    def one_has_signed(see: Evidence) -> str | None:
        keys = [f"notes/default/{name}" for name in ("alpha", "beta")]
        return "both have signed" if all(map(see.store.peek, keys)) else None

    world.start(Puppet("keeper", keeps))
    world.start(Puppet("alpha", signs("alpha")), Puppet("beta", signs("beta")))
    world.claim(always(one_has_signed))


def two_locks(world: World) -> None:
    """Zoe signs, unless beta has and there is a lock, or there is a flag. In the race it sees
    neither beta's note nor the flag, so it does the same without the lock; but then one line would
    do."""

    def makes(name: str) -> Callable[[Client], Any]:
        async def run(client: Client) -> None:
            await client.create(note(name))

        return run

    async def signs(client: Client) -> None:
        there = {item.meta.name for item in (await client.list(Note)).items}
        if not (there >= {"beta", "lock"} or "flag" in there):
            await client.create(note("zoe"))

    def one_has_signed(see: Evidence) -> str | None:
        there = {entry.key for entry in see.store.snapshot("notes/")}
        return "both have signed" if there >= {"notes/default/beta", "notes/default/zoe"} else None

    world.add(note("lock"), note("clutter"))
    world.start(Puppet("beta", makes("beta")), Puppet("keeper", makes("flag")))
    world.start(Puppet("zoe", signs))
    world.claim(always(one_has_signed))


def onlookers(world: World) -> None:
    """Two who list and one who watches look on, and objects that nobody names lie about."""

    async def lists(client: Client) -> None:
        await client.list(Note)

    async def watches(client: Client) -> None:
        Cache(client, Note)
        await client.queue("idle", idle=True).get()

    lost_update(world)
    world.add(note("n1"), note("n2"))
    world.start(Puppet("one", lists), Puppet("two", lists), Puppet("watcher", watches))


@scenario(keep=("notes", "one"))
def kept_by_name(world: World) -> None:
    """The same, and the scenario keeps the notes and one of those who look on."""
    onlookers(world)


def busy_neighbour(world: World) -> None:
    """A user who has nothing to do with the race creates pods, and a scheduler binds them, too. A
    small pod on the node counts in what the claim says of it."""
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000), Node.of("n2", cpu_m=1000))
    world.add(Pod.of("small", cpu_m=100, node_name="n1"))
    for pod, name in (("c", "alpha"), ("d", "beta")):
        world.add(Pod.of(pod, cpu_m=800, scheduler_name=name))
        world.start(Scheduler(name))
    world.start(User("ann", ((5000, Pod.of("x", cpu_m=100, scheduler_name="alpha")),)))
    world.claim(always(no_node_is_overcommitted))


def told_by_name(world: World) -> None:
    """The claim looks at a note by its key, and finds it as it should be."""

    def nothing_is_lost(see: Evidence) -> str | None:
        see.store.peek("notes/default/rules")
        entry: Any = see.store.peek("notes/default/list")
        signed = entry.value.data["signed"].split()
        names = [record.path.partition("/")[0] for record in see.records]
        lost = [name for name in names if name not in signed]
        return f"{lost[0]} is lost" if lost else None

    lost_update(world)
    world.add(note("rules"), note("clutter"))
    world.claim(quiescent(nothing_is_lost, reads=()))


LOST = ("hold alpha update notes/default/list until beta get notes/default/list",)
PLACE = ("hold alpha bind pods/default/c until beta bind pods/default/d",)
BUDGET = (
    "hold kubelet update pods/default/web-2/status until south evict pods/default/web-2",
    "hold north evict* pods/default/web-1 until south list pods",
)
LATE_BIND = """
scenario: planted:crowded_late_bind
holds:
  - hold: delivery of pods/default/c to default-scheduler
    until: default-scheduler bind pods/default/d
faults:
  - lose_reply: default-scheduler bind pods/default/c
"""
ON = {"guard": "on"}

PLANTED = (
    Planted(budget_and_kubelet, BUDGET, switches=ON),
    Planted(budget_always, BUDGET),
    Planted(
        quota_and_count,
        (
            "hold * create* pods/default/? until counter update resourcequotas/default/one/status",
            "hold * create.3 pods/default/? until counter list pods",
        ),
        switches=ON,
    ),
    Planted(
        quota_and_count,
        ("hold alpha create* pods/default/a until beta list pods",),
        goes=("counter", "notes/default/clutter"),
    ),
    Planted(
        class_and_renewal,
        (
            "hold keeper create* priorityclasses/agreed until alpha create priorityclasses/alpha",
            "hold beta create* priorityclasses/beta until alpha create priorityclasses/alpha",
        ),
        switches=ON,
    ),
    Planted(
        bound_twice, PLACE, goes=("kubelet-n0", "kubelet-n1", "nodes/n0", "pods/default/filler")
    ),
    Planted(
        crowded_late_bind,
        (
            "hold delivery of pods/default/c to * until * bind pods/default/d",
            "lose_reply: default-scheduler bind pods/default/c",
        ),
        goes=("pods/default/other",),
        race=LATE_BIND,
    ),
    Planted(configured, LOST, goes=("notes/default/clutter",)),
    Planted(ruled, LOST, goes=("notes/default/clutter",)),
    Planted(counting, LOST),
    Planted(waiting, ("hold * update notes/default/list until * get notes/default/list",)),
    Planted(choosing, LOST, goes=("notes/default/config",)),
    Planted(
        locked,
        (
            "hold keeper create notes/default/lock until alpha list notes",
            "hold beta create notes/default/beta until alpha list notes",
        ),
    ),
    Planted(
        two_locks,
        (
            "hold keeper create notes/default/flag until zoe list notes",
            "hold beta create notes/default/beta until zoe list notes",
        ),
        goes=("notes/default/clutter",),
    ),
    Planted(
        onlookers, LOST, goes=("notes/default/n1", "notes/default/n2", "one", "two", "watcher")
    ),
    Planted(busy_neighbour, PLACE, goes=("ann", "nodes/n2")),
    Planted(told_by_name, LOST, goes=("notes/default/clutter",)),
    Planted(kept_by_name, LOST, goes=("two", "watcher")),
)
