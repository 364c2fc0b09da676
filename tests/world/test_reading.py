"""Reading: a name that nothing has is refused, with the line that says it."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from actors.kubelet.runtime import Runtime
from testbed import World, always, confluent, no_lasso, quiescent
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.errors import HarnessError, ScenarioError, UnknownName
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.faults.partition import Partition
from testbed.invariant import Evidence, Invariant
from testbed.store.endpoint import BETWEEN, Endpoint, Handler, Operation
from testbed.store.footprint import FAMILIES, Footprint
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.turns.trace import Trace
from testbed.world.scenario import find, of
from tests.each_row import each_row
from tests.shared.stage import Puppet, note


def fine(see: Evidence) -> str | None:
    """Is well."""
    return None


async def idle(client: Client) -> None:
    """Do nothing."""


def played(key: str, maker: str = "quiescent") -> None:
    """Play a World with a claim that declares to read that."""
    makers: dict[str, Callable[[], Invariant]] = {
        "quiescent": lambda: quiescent(fine, reads=(key,)),
        "always": lambda: always(fine, reads=(key,)),
        "confluent": lambda: confluent(seen_as=lambda _: 0, reads=(key,)),
        "no_lasso": lambda: no_lasso(reads=("log:notes", key)),
    }

    def build(world: World) -> None:
        world.add(note("n"))
        world.start(Puppet("alpha", idle), Puppet("beta", idle))
        world.claim(makers[maker]())

    of(build).world().run(Calm(), driver="direct")


@each_row(
    ("key", "said"),
    [
        ("log:pod", "kind for the claim `fine` to read: 'pod'. Did you mean 'pods'?"),
        ("log:pods.sepc", "to read: 'pods.sepc'. Did you mean 'pods.spec'?"),
        ("pods", "reads 'pods', which is no key: expected `log:pods`"),
        ("record", "to read: 'record'. Did you mean 'records'?"),
        ("life:alhpa", "actor for the claim `fine` to read: 'alhpa'. Did you mean 'alpha'?"),
        ("cache:gamma/pods", "Known: alpha, beta."),
        ("mem:bet", "Did you mean 'beta'?"),
        ("logs:pods", "family of keys for the claim `fine` to read: 'logs:'. Did you mean 'log:'?"),
        ("lief:alpha", "to read: 'lief:'. Did you mean 'life:'?"),
        ("wrie:alpha", "to read: 'wrie:'. Did you mean 'wire:'?"),
        ("foo:bar", "there is no family of keys for the claim `fine` to read: 'foo:'."),
        ("endpiont:store", "to read: 'endpiont:'. Did you mean 'endpoint:'?"),
        ("endpoint:stroe", "Endpoint for the claim `fine` to read: 'stroe'. Did you mean 'store'?"),
        ("memory:stroe", "to read: 'stroe'. Did you mean 'store'?"),
        ("cursor:stroe/pods", "to read: 'stroe'. Did you mean 'store'?"),
        ("cursor:store/pdos", "to read: 'pdos'. Did you mean 'pods'?"),
        ("cache:beta/pdos", "to read: 'pdos'. Did you mean 'pods'?"),
        ("order:pdos", "to read: 'pdos'. Did you mean 'pods'?"),
        ("lgo:@time", "to read: 'lgo:'. Did you mean 'log:'?"),
        ("log:@tiem", "to read: '@tiem'."),
        ("wire:alhpa", "to read: 'alhpa'. Did you mean 'alpha'?"),
        ("task:alhpa/main", "to read: 'alhpa'. Did you mean 'alpha'?"),
        ("signal:alhpa/go", "to read: 'alhpa'. Did you mean 'alpha'?"),
        ("note/default/n", "to read: 'note'. Did you mean 'notes'?"),
    ],
)
def test_what_nothing_has_is_refused(key: str, said: str) -> None:
    """With this file and the line of the claim, what is known, and the nearest of it."""
    with pytest.raises((UnknownName, ScenarioError)) as refused:
        played(key)
    text = str(refused.value)
    assert text.startswith(f"{__file__}, line ")
    assert said in text
    assert "\nNext: say `log:pods`" in text


@each_row("maker", ["quiescent", "always", "confluent", "no_lasso"])
def test_every_claim_that_declares_is_checked(maker: str) -> None:
    """Whoever makes it."""
    with pytest.raises(HarnessError, match=r"test_reading.py, line \d+: there is no kind"):
        played("log:nodse", maker)
    played("log:nodes", maker)


@each_row(
    "key",
    ["log:", "log:pods", "log:pods.spec.node_name", "records", "deaths", "life:alpha", "log:@time",
     "cache:beta/pods", "notes/default/never", "history", "endpoint:store", "log:notes.data.x",
     "memory:store", "cursor:store/pods/tail", "order", "order:pods", "task:beta/main",
     "wire:alpha", "stream:alpha/watch-pods/head", "signal:alpha/go", "uids:alpha", "budget:crash",
     "request:alpha/main get notes/default/a:b#1", "notes/default/a:b"],
)  # fmt: skip
def test_what_there_is_is_taken(key: str) -> None:
    """Every form of key that a claim may declare."""
    played(key)


def test_an_actor_that_is_left_out_may_be_named() -> None:
    """A shrink leaves it out; the claim still says its name."""

    def build(world: World) -> None:
        world.start(Puppet("alpha", idle), Puppet("beta", idle))
        world.claim(quiescent(fine, reads=("life:beta",)))

    assert not of(build).world(without=["beta"]).run(Calm(), driver="direct").is_violated


class Counter(StoreEndpoint):
    """Counts visits under a key of its own, of no kind of object."""

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Count it."""
        self.store.put("counters/visits", now_ms)
        self.store.mark(writes=("visits:all",))
        return "counted"
        yield BETWEEN

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """It writes these."""
        return Footprint(writes=frozenset({"counters/visits", "log:counters", "visits:all"}))


def counted(key: str, make: Callable[[Store], Endpoint]) -> None:
    """Play a World with that Endpoint, and a claim that declares to read that."""

    async def visit(client: Client) -> None:
        await client.ask(Operation("count", "counters", "visits", endpoint="counter"))

    def build(world: World) -> None:
        world.serve(make)
        world.start(Puppet("alpha", visit))
        world.claim(quiescent(fine, reads=(key,)))

    of(build).world().run(Calm(), driver="direct")


@each_row(
    "key", ["log:counters", "counters/visits", "counters/other", "visits:all", "tally", "visits"]
)
def test_an_endpoint_of_the_users_may_put_what_nothing_has_yet(key: str) -> None:
    """Keys of its own, of kinds and families that the testbed does not know."""
    counted(key, lambda store: Counter(store, "counter"))


@each_row(
    ("key", "meant"),
    [("log:pdos", "pods"), ("logs:counters", "log:"), ("endpiont:counter", "endpoint:"),
     ("endpoint:conuter", "counter"), ("life:alhpa", "alpha"), ("note/default/n", "notes"),
     ("recrods", "records"), ("log:pods.sepc", "pods.spec")],
)  # fmt: skip
def test_a_slip_is_refused_whatever_is_served(key: str, meant: str) -> None:
    """A name that is nearly one that is known."""
    with pytest.raises(UnknownName, match=rf"Did you mean '{meant}'\?"):
        counted(key, lambda store: Counter(store, "counter"))


def test_an_endpoint_that_comes_with_the_testbed_opens_families_alone() -> None:
    """A kubelet's runtime marks keys of its own, and puts no object."""
    for key, is_taken in (("containers:n", True), ("log:counters", False), ("foo/bar", False)):

        def build(world: World, *, key: str = key) -> None:
            world.serve(lambda store: Runtime(store, "n"))
            world.start(Puppet("alpha", idle))
            world.claim(quiescent(fine, reads=(key,)))

        with nullcontext() if is_taken else pytest.raises(UnknownName):
            of(build).world().run(Calm(), driver="direct")


@each_row("name", ["lost_update", "double_bind", "leader_overlap"])
def test_every_key_that_a_turn_has_touched_may_be_read(name: str) -> None:
    """All that the footprints of a Run have is taken, faults included."""
    scenario, trace = find(name), Trace({}, keep=True)
    world = scenario.world()
    world.allow(Crash("*", times_max=2), Lag("*"), Partition("*"))
    world.run(Uniform(1), driver="direct", trace=trace)
    touched = [step.did for step in trace.steps]
    keys = {key for did in touched for key in did.reads | did.writes}
    assert len({key.partition(":")[0] for key in keys if ":" in key}) > 6
    other = scenario.world()
    other.claim(quiescent(fine, reads=tuple(keys)))
    assert other.prepare(Calm())


def test_the_page_on_design_lists_every_family() -> None:
    """And no other."""
    page = (Path(__file__).parents[2] / "docs" / "design.md").read_text("utf-8")
    table = page.partition("| key | written by | read by |")[2].partition("\n\n")[0]
    keys = [line.split("|")[1] for line in table.splitlines() if line.count("|") > 2]
    assert set(re.findall(r"`([a-z]+):", "".join(keys))) == set(FAMILIES)
