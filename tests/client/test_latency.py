"""Latencies: what a scenario states takes that long in every Run, and nothing else is late."""

from __future__ import annotations

from typing import Any

import pytest

from testbed import Client, World
from testbed.choosers.calm import Calm
from testbed.choosers.replayed import Replayed
from testbed.choosers.uniform import Uniform
from testbed.client.latency import Latency
from testbed.errors import ScenarioError, UnknownName
from testbed.objects import Note
from testbed.objects.codec import decode
from testbed.races.playing import play, race_of
from testbed.races.racefile import parse
from testbed.store.endpoint import Operation
from testbed.turns.trace import Trace
from testbed.world.scenario import of
from tests.each_row import each_row
from tests.shared.stage import Puppet, note

Times = list[tuple[str, int]]


def times(world: World, *kinds: str, who: str = "") -> Times:
    """The Options of these kinds that were performed, and when."""
    trace = Trace({}, keep=True)
    world.run(Calm(), trace=trace)
    assert world.verdict is not None
    assert not world.verdict.violations, str(world.verdict)
    return [
        (f"{step.kind} {step.option.verb or step.option.change} {step.option.key}", step.now_ms)
        for step in trace.steps
        if step.kind in kinds and step.option.path.startswith(who)
    ]


async def write(client: Client) -> None:
    """Create one note, and read another."""
    await client.create(Note("n"))
    await client.get(Note, "m")


def writing(**latency: Any) -> World:
    """A World with that writer, and one latency."""
    world = World()
    world.add(Note("m"))
    world.start(Puppet("ann", write))
    world.latency(**latency)
    return world


def test_a_watch_tells_so_late() -> None:
    """Each commit by itself, in order; of what was committed before it is told in the list."""

    async def look(client: Client) -> None:
        notes = await client.list(Note)
        stream = await client.watch(Note, since=notes.revision)
        for _ in range(2):
            await stream.next()

    async def create(client: Client) -> None:
        for name in "ab":
            await client.sleep(1_000, "rest")
            await client.create(Note(name))

    world = World()
    world.start(Puppet("ann", look), Puppet("ben", create))
    world.latency("watch notes", deliver_ms=40_000)
    assert times(world, "deliver") == [
        ("deliver ADDED notes/default/a", 41_000),
        ("deliver ADDED notes/default/b", 42_000),
    ]


@each_row(
    ("latencies", "at"),
    [
        ([{"what": "create notes"}], [7, 7]),
        ([{"what": "create notes", "actor": "ann"}], [7, 0]),
        ([{"what": "create notes", "actor": "[b]*"}], [0, 7]),
        ([{"what": "* notes/default/x"}], [0, 7]),
        ([{"what": "create *", "at": "store"}], [7, 7]),
        ([{"what": "create pods"}], [0, 0]),
        ([{"what": "get notes"}], [0, 0]),
        ([{"what": "* notes"}, {"what": "create notes/default/x", "serve_ms": 3}], [7, 3]),
        ([{"what": "create notes/default/x", "serve_ms": 3}, {"what": "* notes"}], [7, 7]),
    ],
)
def test_a_latency_is_of_what_it_names(latencies: list[dict[str, Any]], at: list[int]) -> None:
    """A verb, a kind or key, an actor, an Endpoint; of several the last one counts."""

    def creating(name: str) -> Any:
        async def create(client: Client) -> None:
            await client.create(Note(name))

        return create

    world = World()
    world.start(Puppet("ann", creating("n")), Puppet("ben", creating("x")))
    for latency in latencies:
        world.latency(**{"serve_ms": 7, **latency})
    assert [when for _, when in sorted(times(world, "serve"))] == at


def test_a_verb_with_its_subresource_is_the_word_for_both() -> None:
    """`create/binding` is bind, as a race file takes it."""
    bind = Operation("create", "pods", "c", "default", subresource="binding")
    for what in ("bind pods", "create/binding pods", "* pods", "bind pods/default/c"):
        assert Latency(what, serve_ms=5).fits(bind, "ann", "store"), what
    for what in ("create pods", "create/status pods", "get nodes/n1"):
        assert not Latency(what, serve_ms=5).fits(bind, "ann", "store"), what


def test_an_endpoint_that_is_down_refuses_at_once() -> None:
    """How long it would have taken is a matter of what it answers itself."""
    world = writing(what="* notes", answer_ms=35_000)
    post = world.wire.posts["store"]
    post.is_up = False
    trace = Trace({}, keep=True)
    world.run(Calm(), trace=trace)
    assert [step.now_ms for step in trace.steps if step.kind == "answer"] == [0]


def slow(world: World, *, guard: bool = False) -> None:
    """Two writers of a note, one of them slow, and a reader that hears of it late."""
    world.add(note("n", by="nobody"))
    for name in ("ann", "ben"):
        world.start(Puppet(name, _rewrite))
    world.start(Puppet("cat", _hear))
    world.latency("update notes", actor="ann", serve_ms=2_000)
    world.latency("* notes", answer_ms=300)
    world.latency("watch notes", deliver_ms=1_500)


async def _rewrite(client: Client) -> None:
    await client.update(await client.get(Note, "n"))


async def _hear(client: Client) -> None:
    stream = await client.watch(Note, since=(await client.list(Note)).revision)
    for _ in range(2):
        await stream.next()


@each_row("seed", range(8))
def test_a_run_with_latencies_replays_as_a_trace_and_as_a_race(seed: int) -> None:
    """From its choices, and from its lines: the latencies are the scenario's, and so are there."""
    recipe = of(slow)
    first = Trace({}, keep=True)
    recipe.world().run(Uniform(seed), trace=first)
    again = Trace({}, keep=True)
    steps = tuple(content for line in first.lines() if "do" in (content := decode(line)))
    recipe.world().run(Replayed(steps, again="-"), driver="direct", trace=again)
    assert list(first.lines()) == list(again.lines())
    race = race_of(recipe, {}, first.choices)
    played = play(parse(race.text(), "race"), recipe)
    effects = [
        [(str(step.sentence), step.now_ms) for step in trace.steps if step.option.is_effect]
        for trace in (first, played.trace)
    ]
    assert effects[0] == effects[1]


@each_row(
    ("given", "error", "said"),
    [
        ({"what": "bind", "serve_ms": 1}, ScenarioError, "expected a verb and a kind.\nNext: say"),
        ({"what": "bind pods now", "serve_ms": 1}, ScenarioError, "expected a verb and a kind"),
        ({"what": "bind pods"}, ScenarioError, "expected how long.\nNext: say serve_ms="),
        ({"what": "bind pods", "serve_ms": -1}, ScenarioError, "in whole milliseconds, not -1"),
        ({"what": "bind pods", "serve_ms": 0.5}, ScenarioError, "in whole milliseconds, not 0.5"),
        ({"what": "bind pods", "serve_ms": True}, ScenarioError, "in whole milliseconds, not True"),
        ({"what": "list pods", "deliver_ms": 1}, ScenarioError, "Next: say `watch pods`"),
        ({"what": "bnid pods", "serve_ms": 1}, UnknownName, "Did you mean 'bind'?"),
        ({"what": "bind pod", "serve_ms": 1}, UnknownName, "Did you mean 'pods'?"),
        ({"what": "bind pod/default/c", "serve_ms": 1}, UnknownName, "Did you mean 'pods'?"),
        ({"what": "update pods/status", "serve_ms": 1}, ScenarioError, "`update/status pods`"),
        ({"what": "create pods/binding", "serve_ms": 1}, ScenarioError, "subresource `bind pods`"),
        ({"what": "get notes", "actor": "anne", "serve_ms": 1}, UnknownName, "mean 'ann'?"),
        ({"what": "get notes", "at": "stor", "serve_ms": 1}, UnknownName, "Did you mean 'store'?"),
    ],
)
def test_a_latency_that_could_never_be_is_refused(
    given: dict[str, Any], error: type[Exception], said: str
) -> None:
    """It would let nothing be late, and nobody would notice."""
    with pytest.raises(error) as refused:
        writing(**given).run(Calm())
    assert said in str(refused.value)


def test_who_is_left_out_of_a_race_may_be_named() -> None:
    """The shrinker leaves out actors, and the scenario states its latencies all the same."""
    world = World(without=["ann"])
    world.start(Puppet("ann", write))
    world.latency("get notes", actor="ann", serve_ms=1)
    assert world.run(Calm()).is_held
