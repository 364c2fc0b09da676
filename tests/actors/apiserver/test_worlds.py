"""API servers in Worlds: what is there from the start, crashes, several over one Store."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.apiserver import ApiServer
from testbed import Actor, ApiError, Client, NotFound, Trace, Unavailable, Uniform, World
from testbed.faults.crash import Crash
from testbed.faults.stale import Stale
from testbed.objects import (
    Node,
    Note,
    Object,
    Pod,
    PodDisruptionBudget,
    Revision,
)
from testbed.races.playing import Played
from testbed.races.playing import play as play_race
from testbed.races.racefile import parse
from testbed.store.footprint import Footprint
from testbed.world.scenario import of
from tests.each_row import each_row


def world_of(*items: Object, served_first: bool = True) -> World:
    """A World with an API server and these objects, put together in either order."""
    world = World("test")
    if not served_first:
        world.add(*items)
    world.serve(lambda store: ApiServer(store))
    if served_first:
        world.add(*items)
    return world


def at(world: World, key: str) -> Any:
    """The object at a key."""
    entry = world.store.peek(key)
    return None if entry is None else entry.value


# -- what is there from the start ---------------------------------------------------------------


@pytest.mark.spec("API-8", "API-16")
@each_row("served_first", [True, False])
def test_what_is_there_from_the_start_came_by_the_server(served_first: bool) -> None:
    """Defaults, phase, quality of service, generation: as if it had been created, no matter
    whether the object or the server was added first."""
    items = (Pod.of("p", cpu_m=100), PodDisruptionBudget("b"), Node.of("n1"), Note("n"))
    world = world_of(*items, served_first=served_first)
    pod = at(world, "pods/default/p")
    assert (pod.status.phase, pod.status.qos_class) == ("Pending", "Burstable")
    assert (pod.spec.scheduler_name, pod.spec.grace_s) == ("default-scheduler", 30)
    assert pod.meta.uid == "scenario-1"
    assert at(world, "poddisruptionbudgets/default/b").meta.generation == 1
    for item in items[2:]:
        assert at(world, item.key).is_as(attrs.evolve(item, meta=at(world, item.key).meta))


def objects(may: Footprint) -> list[str]:
    """The objects it may read."""
    return sorted(key for key in may.reads if "/" in key and ":" not in key)


# -- a server that crashes ----------------------------------------------------------------------


@attrs.frozen
class Kubectl(Actor):
    """Deletes a pod, and asks again when it gets no answer."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                await client.delete(Pod.of("p"), whatever_it_was=True)
            except NotFound:
                client.record("was gone")
                return
            except Unavailable:
                client.record("no answer")
                await client.sleep(200, "again")
            else:
                client.record("deleted")
                return


def deleted(world: World) -> None:
    """A pod that no kubelet has, and an actor that deletes it."""
    world.serve(lambda store: ApiServer(store))
    world.add(Pod.of("p"))
    world.start(Kubectl("kubectl"))


def race(scenario: str, *lines: str) -> Played:
    """Play a race file of these lines, each of which must apply."""
    text = "\n".join([f"scenario: test_apiserver_worlds:{scenario}", *lines, ""])
    played = play_race(parse(text, "own.race.yaml"), of(globals()[scenario]))
    assert all(fate.matched for fate in played.fates), played.fates
    assert played.verdict.is_held, str(played.verdict)
    return played


def records(played: Played) -> list[str]:
    """What the actors have recorded."""
    return [record.name for record in played.world.evidence.records]


@pytest.mark.spec("API-26", "API-28")
def test_a_server_that_crashes_within_a_deletion_leaves_a_pod_whose_time_is_up() -> None:
    """Between the two commits, so there was no answer. The next delete removes the pod in one."""
    played = race(
        "deleted", "faults:", "  - crash: api", "    after: kubectl delete pods/default/p",
        "    restart: 100ms",
    )  # fmt: skip
    assert records(played) == ["no answer", "deleted"]
    changes: list[Any] = list(played.world.store.log("pods").changes)[1:]
    (marked, gone) = changes
    assert (marked.new.value.meta.grace_s, gone.new) == (0, None)
    steps = [step for step in played.trace.steps if step.marks.changes]
    assert [step.now_ms for step in steps] == [0, 200]


# -- two servers over one Store -----------------------------------------------------------------

ZERO = Revision("0")


@attrs.frozen
class Writer(Actor):
    """Makes pods and takes them away."""

    async def run(self, client: Client) -> None:
        for nth in range(4):
            await self._surely(client, client.create, Pod.of(f"p{nth}"))
            await client.sleep(10, "rest")
            if nth % 2:
                await self._surely(client, self._delete, client, f"p{nth - 1}")

    async def _delete(self, client: Client, name: str) -> None:
        await client.delete(Pod.of(name), whatever_it_was=True)

    async def _surely(self, client: Client, ask: Any, *given: Any) -> None:
        with suppress(ApiError):
            await ask(*given)


@attrs.frozen
class Reader(Actor):
    """Reads whatever its server has read, and what is."""

    async def run(self, client: Client) -> None:
        for _ in range(5):
            with suppress(ApiError):
                seen = await client.list(Pod, at=ZERO)
                client.record("seen", names=[item.meta.name for item in seen.items])
                await client.list(Pod)
                await client.get(Pod, "p0", at=ZERO)
            await client.sleep(10, "rest")


def two_servers(world: World) -> None:
    """One that follows the Store, and one that reads pods when it is fed."""
    world.serve(lambda store: ApiServer(store))
    world.serve(lambda store: ApiServer(store, "api-2", lags=("pods",)))
    world.add(Pod.of("p"))
    world.start(Writer("writer"), Reader("reader"))
    world.start(Reader("other"), at="api-2")


@pytest.mark.spec("API-50", "API-53")
def test_a_reader_that_comes_to_another_server_may_go_back_in_time() -> None:
    """Its new server has stood still: what it had seen is not there yet, and comes again when the
    server is fed."""
    played = race(
        "two_servers", "holds:", "  - hold: feed of pods to api-2", "    until: 35ms", "faults:",
        "  - stale: api-2 to reader", "    at: 25ms",
    )  # fmt: skip
    seen = [r.facts["names"] for r in played.world.evidence.records if r.path == "reader/main"]
    assert seen[:4] == [["p"], ["p", "p0", "p1"], ["p", "p0", "p1"], ["p"]]
    assert seen[4] == ["p", "p0"]


@attrs.define
class Server:
    """What the judge knows of one server: where it began, and how far it has said to be."""

    began: int
    told: int = 0


@pytest.mark.spec("API-7", "API-39", "API-50", "API-51")
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, derandomize=True, deadline=None)
def test_every_answer_was_so_at_some_revision_its_server_has_read(seed: int) -> None:
    """Whatever comes when, crashes or is sent elsewhere: a list or a get of what the
    server has read is the Store as it was at one revision: none from before that server began, none
    yet to come, and none older than the same server has told before. A list of now is of now."""
    world = World("test")
    two_servers(world)
    world.allow(Stale("reader", times_max=3), Crash("api-2", restart_after_ms=5))
    servers = {name: Server(1) for name in ("api", "api-2")}
    now = world.store.revision
    world.run(Uniform(seed), driver="direct", trace=(trace := Trace({}, keep=True)))
    for step in trace.steps:
        now = max([now, *(change.revision for change in step.marks.changes)])
        if step.kind == "start" and step.sentence.path == "api-2/start":
            servers["api-2"] = Server(now)
        request: Any = step.option.source
        if step.kind != "serve" or step.sentence.verb not in ("get", "list"):
            continue
        if isinstance(request.error, Unavailable):  # its server crashed before it was told
            continue
        server = servers[request.post.name]
        if not str(request.operation.revision):
            assert request.value.revision == Revision(now)
            assert names_at(world, now) == names_in(request.value)
            continue
        since = max(server.began, server.told)
        if step.sentence.verb == "list":
            server.told = int(str(request.value.revision))
            assert since <= server.told <= now
            assert names_at(world, server.told) == names_in(request.value)
        else:
            found = None if request.error else request.value
            known = [world.store.peek("pods/default/p0", at) for at in range(since, now + 1)]
            assert found in [None if entry is None else entry.value for entry in known]


def names_at(world: World, revision: int) -> list[str]:
    """Which pods there were, each as it was."""
    entries: list[Any] = world.store.snapshot("pods/", revision)
    return [f"{entry.value.meta.name} {entry.value.meta.revision}" for entry in entries]


def names_in(listing: Any) -> list[str]:
    """Which pods it lists, each as it was."""
    return [f"{item.meta.name} {item.meta.revision}" for item in listing.items]
