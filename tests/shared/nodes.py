"""A node to play on: an API server, a runtime and a kubelet; what users do; what can be seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.errors import NotFound, Unavailable
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.partition import Partition
from testbed.invariant import Evidence, always
from testbed.objects import Binding, Map, Node, Object, Pod, Target, requests_of, room_of
from testbed.store.endpoint import Operation
from testbed.testing.seek import choosers
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.world.scenario import Scenario, of, play_runs
from testbed.world.world import World
from tests.shared.stage import Doing, Puppet

RUNTIME, KUBELET = "runtime-n1", "kubelet-n1"


def node_world(
    *things: Object, user: Doing | None = None, is_judged: bool = True, **habits: Any
) -> World:
    """A World of one node `n1`, with these things in it; judged by what holds for every node."""
    world = World("node")
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000, memory=1000), *things)
    world.serve(lambda store: Runtime(store, "n1"))
    world.start(Kubelet(KUBELET, "n1", **habits))
    if user is not None:
        world.start(Puppet("user", user))
    if is_judged:
        world.claim(always(no_node_runs_more_than_it_has), always(what_is_over_stays_over))
    return world


def failing(ground: Callable[[World], None]) -> Scenario:
    """A proving ground of that node, where its kubelet and its runtime may fail."""

    def build(world: World) -> None:
        ground(world)
        world.allow(
            Crash(KUBELET, restart_after_ms=3000), Crash(RUNTIME, restart_after_ms=4000),
            Partition(KUBELET, for_ms=30_000), LoseReply(KUBELET),
        )  # fmt: skip

    return of(build, ground.__name__)


def breaches(recipe: Scenario, runs_max: int, seed: int) -> list[str]:
    """The first Verdict that is a breach in so many Runs; none if all hold."""
    found: list[str] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        if world.verdict.violations:
            found.append(str(world.verdict))
        return not found

    left = runs_max
    one_deviation, *walks = choosers(left, seed)
    for chooser, most in (*walks, one_deviation):
        runs = min(most, left)
        left -= play_runs(recipe, chooser, look, runs_max=runs, driver="direct")
    return found


def bound(name: str, cpu_m: int | None = 400, **spec: Any) -> Pod:
    """A pod that is on that node already."""
    return Pod.of(name, cpu_m=cpu_m, node_name="n1", **spec)


def calm(world: World) -> Verdict:
    """Play it calmly; every claim holds."""
    verdict = world.run(Calm(), driver="direct", trace=Trace({}, keep=True))
    assert verdict.is_held, str(verdict)
    return verdict


# -- what a user does -----------------------------------------------------------------------------


async def bind(client: Client, name: str) -> None:
    """Bind a pod to the node."""
    body = Binding(name, target=Target("n1"))
    await client.ask(Operation("create", "pods", name, "default", body, subresource="binding"))


async def delete(client: Client, name: str, **options: Any) -> None:
    """Delete a pod, with these options; as often as it takes, and it may be gone already."""
    while True:
        try:
            await client.ask(Operation("delete", "pods", name, "default", options=Map(options)))
        except Unavailable:
            await client.sleep(100)
        except NotFound:
            return
        else:
            return


def at(*doings: tuple[int, Callable[[Client], Any]]) -> Doing:
    """One thing after another, each at its time in ms."""

    async def do(client: Client) -> None:
        for at_ms, doing in doings:
            await client.sleep(at_ms - client.now())
            await doing(client)

    return do


# -- what has become of it ------------------------------------------------------------------------


def story(world: World, name: str) -> list[str]:
    """What could be seen of a pod, and when: its phases, its deletion, its end."""
    told: list[str] = []
    last = ""
    for change in world.store.log("pods").after(0):
        if change.key != f"pods/default/{name}":
            continue
        _, now_ms = world.wire.streams.commits.get(change.revision, (0, 0))
        pod: Any = change.after
        seen = "gone" if pod is None else _seen(pod)
        if seen != last:
            told.append(f"{now_ms} {seen}")
        last = seen
    return told


def _seen(pod: Pod) -> str:
    ready = " Ready" if pod.is_ready else ""
    ends = f", {pod.meta.grace_s} s" if pod.meta.is_terminating else ""
    reason = f" {pod.status.reason}" if pod.status.reason else ""
    return f"{pod.status.phase}{reason}{ready}{ends}"


def pod_of(world: World, name: str) -> Any:
    """A pod as it is in the Store; None if it is not."""
    entry = world.store.peek(f"pods/default/{name}")
    return None if entry is None else entry.value


def runtime(world: World) -> Any:
    """The runtime of the node."""
    return world.wire.posts[RUNTIME].endpoint


def running(world: World, now_ms: int) -> list[str]:
    """The pods whose containers run."""
    reports = ask(runtime(world), "list", now_ms=now_ms)
    return [report.pod.meta.name for report in reports if report.is_running]


def ask(
    endpoint: Any, verb: str, uid: str = "", body: Any = None, *, now_ms: int, **options: Any
) -> Any:
    """Something of a near Endpoint, as it answers it."""
    operation = Operation(verb, "pods", uid, "default", body, uid=uid, options=Map(options))
    try:
        next(endpoint.handle(operation, KUBELET, now_ms))
    except StopIteration as done:
        return done.value
    raise AssertionError("a near Endpoint may not pause")


# -- what always holds ----------------------------------------------------------------------------


def no_node_runs_more_than_it_has(see: Evidence) -> str | None:
    """INV-7 (a): what runs on a node fits it, whatever was bound to it."""
    entry: Any = see.store.peek("nodes/n1")
    has, taken = room_of(entry.value)["cpu"], 0
    for report in ask(see.wire.posts[RUNTIME].endpoint, "list", now_ms=see.now_ms):
        taken += requests_of(report.pod).get("cpu", 0) if report.is_running else 0
    return f"n1 has {has}m cpu and runs {taken}m" if taken > has else None


def what_is_over_stays_over(see: Evidence) -> str | None:
    """INV-3, INV-30: a phase that is final is never another one, and nothing of it runs."""
    running = {
        report.pod.meta.uid
        for report in ask(see.wire.posts[RUNTIME].endpoint, "list", now_ms=see.now_ms)
        if report.is_running
    }
    for change in see.changes:
        old: Any = change.before
        new: Any = change.after
        if not isinstance(new, Pod):
            continue
        if isinstance(old, Pod) and old.is_over and new.status.phase != old.status.phase:
            return f"{new.meta.name} was {old.status.phase} and is {new.status.phase}"
        if new.is_over and new.meta.uid in running:
            return f"{new.meta.name} is {new.status.phase} and its containers run"
    return None
