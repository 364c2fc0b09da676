"""confluent: different orders, different ends, without a claim of the scenario's own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from testbed import Client, World, confluent
from testbed.choosers.bounded import Bounded
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.errors import AlreadyExists, UnknownName
from testbed.faults.crash import Crash
from testbed.invariant import Evidence
from testbed.invariants import confluence
from testbed.invariants.confluence import Confluent
from testbed.objects import Map, Node, Note, Pod
from testbed.races.playing import play, race_of
from testbed.races.shrink import shrink
from testbed.story.parting import side_by_side
from testbed.turns.found import TWO_ENDS, About
from testbed.turns.trace import Trace
from testbed.turns.verdict import Violation
from testbed.world.scenario import Scenario, find, of, play_runs
from tests.each_row import each_row
from tests.shared.stage import Puppet, note


def judged(name: str, claim: Callable[[], Confluent]) -> Scenario:
    """A scenario of the testbed, judged by nothing but whether it is confluent."""
    recipe = find(name)

    def build(world: World, *, guard: bool = False) -> None:
        recipe.build(world, guard=guard)
        own = [c for c in world.judge.claims if c.startswith(("every_", "no_node"))]
        world.judge._invariants[:] = [i for i in world.judge._invariants if i.name not in own]
        for lookers in world.judge._lookers.values():
            lookers[:] = [i for i in lookers if i.name not in own]
        world.claim(claim())

    return of(build)


def breaches(recipe: Scenario) -> list[Violation]:
    """The breaches of the first Run with one deviation that has some."""
    found: list[Violation] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        found.extend(world.verdict.violations)
        return not found

    play_runs(recipe, Bounded(deviations_max=1), look, runs_max=60, driver="direct")
    return found


def violated(recipe: Scenario, runs: int, **switches: Any) -> list[str]:
    """What was said of each violated Run, of the bounded levels and then of random ones."""
    found: list[str] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        found.extend(v.said for v in world.verdict.violations if v.invariant == "confluent")
        return True

    for chooser in (Bounded(deviations_max=1), Uniform(1)):
        play_runs(recipe, chooser, look, runs_max=runs, switches=switches, driver="direct")
    return found


UNORDERED = judged("lost_update", lambda: confluent(unordered=("data.signed",)))
WHERE = judged(
    "double_bind",
    lambda: confluent(
        seen_as=lambda see: sorted(
            entry.value.spec.node_name  # type: ignore[attr-defined]
            for entry in see.store.snapshot("pods/")
        )
    ),
)


def test_it_finds_the_lost_update_without_a_claim() -> None:
    """The list ends with one name where the calm run has two; who signed first does not matter."""
    found = violated(UNORDERED, 30)
    assert found
    assert set(found) <= {
        "the calm run ends otherwise: notes/default/list data.signed is 'alpha beta' there, "
        f"{name!r} here"
        for name in ("alpha", "beta")
    }


@each_row("recipe", [UNORDERED, WHERE])
def test_it_stays_green_with_the_guard(recipe: Scenario) -> None:
    """Whatever the order, the end is the same, but for what was declared."""
    assert not violated(recipe, 100, guard=True)


def test_what_is_alike_is_the_scenarios_to_say() -> None:
    """Without its guard double_bind ends with two pods on the node; which of them does not
    matter. Compared field by field, who comes first is a difference, too."""
    assert set(violated(WHERE, 100)) == {
        "the calm run ends otherwise: ['', 'n1'] there, ['n1', 'n1'] here"
    }
    by_field = set(violated(judged("double_bind", confluent), 100))
    assert any("pods/default/c spec.node_name is 'n1' there, '' here" in said for said in by_field)
    ignoring = judged("double_bind", lambda: confluent(ignoring=("spec.node_name", "status")))
    assert not violated(ignoring, 100)


def test_a_run_that_a_fault_struck_is_not_held_against_one_without() -> None:
    """It was given something else to do: here alpha dies before it has written anything."""

    def build(world: World) -> None:
        async def alpha(client: Client) -> None:
            await client.create(note())

        world.start(Puppet("alpha", alpha))
        world.allow(Crash())
        world.claim(confluent())

    assert not violated(of(build), 60)


def test_what_is_only_in_one_of_them_is_told() -> None:
    """An object that one order never makes."""

    def build(world: World) -> None:
        async def alpha(client: Client) -> None:
            await client.create(note("a"))

        async def beta(client: Client) -> None:
            if not (await client.list(Note)).items:
                await client.create(note("b"))

        world.start(Puppet("alpha", alpha), Puppet("beta", beta))
        world.claim(confluent())

    assert set(violated(of(build), 60)) == {
        "the calm run ends otherwise: notes/default/b is only here"
    }


def test_another_end_is_about_the_objects_and_fields_that_differ() -> None:
    """And about whom a value names. Where a server draws names, about those of this Run."""
    recipe = judged("lost_update", confluent)
    (breach,) = breaches(recipe)
    assert breach.about == About("notes/default/list", "data.signed", ("alpha", "beta"))
    assert breach.reason == TWO_ENDS

    def build(world: World) -> None:
        async def alpha(client: Client) -> None:
            await client.create(note("", to="n").with_meta(generate_name="drawn-"))

        async def beta(client: Client) -> None:
            for each in (await client.list(Note)).items:
                await client.update(each.saying(seen="yes"))

        world.serve(ApiServer)
        world.start(Puppet("alpha", alpha), Puppet("beta", beta))
        world.claim(confluent())

    (drawn,) = breaches(of(build))[:1]
    (key,) = drawn.about.keys
    assert key.startswith("notes/default/drawn-")
    assert drawn.about.fields == ("data.seen",)


def test_what_differs_is_shown_and_not_what_is_alike() -> None:
    """A condition is named by its type, and two long values are shown from where they part."""

    def end(message: str, *more: str) -> dict[str, Any]:
        of_type = {"Other": "as ever", "Ready": message, **dict.fromkeys(more, "new")}
        conditions = [{"type": name, "message": said} for name, said in of_type.items()]
        return {"pods/default/a": {"status": {"conditions": conditions}}}

    start = "no node is available: " * 8
    there, here = end(f"{start}one"), end(f"{start}two", "Z")
    assert [*map(str, Confluent().differences(there, here))] == [
        "pods/default/a status.conditions.Ready.message is … node is available: one' there, "
        "… node is available: two' here",
        "pods/default/a status.conditions.Z is None there, {'type': 'Z', 'message': 'new'} here",
    ]
    assert Confluent(ignoring=["pods.status.conditions"]).differences(there, here) == []


def test_an_order_that_differs_is_told() -> None:
    """Also of items that have a type each; unless their order is said not to matter."""
    of_type = [{"type": "Ready"}, {"type": "Other"}]
    there, here = (
        {"pods/default/a": {"status": {"conditions": conditions}}}
        for conditions in (of_type, of_type[::-1])
    )
    assert len(Confluent().differences(there, here)) == 1
    assert Confluent(unordered=["pods.status.conditions"]).differences(there, here) == []


def test_the_two_runs_stand_side_by_side() -> None:
    """With a line where they part for good."""
    world = UNORDERED.world()
    traces = []
    for chooser in (Calm(), Uniform(0)):
        world = UNORDERED.world()
        world.run(chooser, driver="direct", trace=Trace({}, keep=True))
        traces.append(world.trace)
    calm, here = traces
    lines = side_by_side(calm, here).splitlines()
    assert lines[0].split() == ["the", "calm", "run", "this", "run"]
    (parting,) = [line for line in lines if "they part for good" in line]
    assert lines.index(parting) >= 2


def test_what_it_finds_shrinks_to_a_race() -> None:
    """As any other breach does."""
    for seed in range(20):
        world = UNORDERED.world()
        if world.run(Uniform(seed), driver="direct").is_violated:
            shrunk = shrink(race_of(UNORDERED, {}, world.trace.choices), UNORDERED)
            assert len(shrunk.race) == 1
            assert play(shrunk.race, UNORDERED).verdict.violations[0].invariant == "confluent"
            return
    raise AssertionError("no seed found it")


def test_a_world_made_by_hand_is_not_compared() -> None:
    """It knows no calm run of its own."""

    async def alpha(client: Client) -> None:
        await client.create(note())

    world = World("by hand")
    world.start(Puppet("alpha", alpha))
    world.claim(confluent())
    assert world.run(Calm()).is_held


def test_a_world_that_was_added_to_is_not_compared() -> None:
    """The calm run of its scenario is that of another World."""
    recipe = find("lost_update")

    def build(world: World) -> None:
        recipe.build(world, guard=True)
        world.claim(confluent())

    world = of(build).world()
    world.add(note("more"))
    assert world.run(Calm()).is_held


# -- what is left out by itself -------------------------------------------------------------------


def one_node(world: World, *, rooms: int = 3, given: bool = True) -> None:
    """A scheduler, a kubelet and three pods for a node; it has room for so many of them."""
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    world.add(Node.of("n1", cpu_m=1000 * rooms))
    pods = [Pod.of(name, cpu_m=1000, scheduler_name="alpha") for name in ("a", "b", "c")]
    world.add(*(pods if given else ()))

    for pod in () if given else pods:
        world.start(Puppet(f"user-{pod.meta.name}", partial(_create, pod)))
    world.start(Scheduler("alpha"), Kubelet("kubelet-n1", "n1"))
    world.claim(confluent())


async def _create(pod: Pod, client: Client) -> None:
    await client.create(pod)


def several_users(world: World) -> None:
    """Two users, each of which lets the server name two pods; one scheduler, one node."""
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=8000))

    async def create(client: Client) -> None:
        for _ in range(2):
            pod = Pod.of("x", cpu_m=1000, scheduler_name="alpha")
            meta = attrs.evolve(pod.meta, name="", generate_name="web-")
            made = await client.create(attrs.evolve(pod, meta=meta))
            await client.create(Note("last", data=Map(pod=made.meta.name)))

    async def first(client: Client) -> None:
        with suppress(AlreadyExists):
            await create(client)

    world.start(Puppet("ann", first), Puppet("ben", first), Scheduler("alpha"))
    world.claim(confluent())


@pytest.mark.parametrize(
    ("recipe", "switches"),
    [(of(one_node), {}), (of(one_node), {"given": False}), (of(several_users), {})],
)
def test_schedulers_that_end_alike_raise_no_alarm(
    recipe: Scenario, switches: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In 100 uniform Runs; and each of the defaults is needed for that."""
    assert not alarms(recipe, 100, **switches)
    monkeypatch.setattr(confluence, "TIMES", ())
    monkeypatch.setattr(confluence, "EVENTS", "nothing")
    assert alarms(recipe, 20, **switches)


@pytest.mark.long
@pytest.mark.parametrize("recipe", [of(one_node), of(several_users)])
def test_schedulers_that_end_alike_raise_no_alarm_in_many_runs(recipe: Scenario) -> None:
    """The same, 2,000 times."""
    assert not alarms(recipe, 2_000)


def alarms(recipe: Scenario, runs: int, **switches: Any) -> list[str]:
    """What confluent said in so many uniform Runs."""
    found: list[str] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        assert world.verdict.end != "stuck", str(world.verdict)
        found.extend(v.said for v in world.verdict.violations if v.invariant == "confluent")
        return True

    play_runs(recipe, Uniform(3), look, runs_max=runs, switches=switches, driver="direct")
    return found


def test_pods_that_fight_for_the_last_place_are_an_alarm() -> None:
    """Who comes first is bound, and the other is not: that is no matter of times or names."""
    found = alarms(of(one_node), 60, rooms=2, given=False)
    assert found
    assert all("spec.node_name is" in said for said in found)


def test_given_and_created_objects_are_alike() -> None:
    """A pod that is there from the start has the defaults that the server gives one at create."""
    ends: list[Any] = []
    for given in (True, False):
        world = of(one_node).world({"given": given})
        (claim,) = world.judge.claimed(Confluent)
        world.run(Calm())
        ends.append(claim.came_to)
    assert not Confluent().differences(*ends)


@each_row(
    ("ignoring", "is_alarm"),
    [
        (["notes"], False),
        (["data"], False),
        (["notes.data.by"], False),
        (["pods", "spec"], True),
        (["pods.status"], True),
        (["meta.labels"], True),
    ],
)
def test_what_may_differ_is_named_by_kind_or_by_field(ignoring: list[str], is_alarm: bool) -> None:
    """And nothing else is left out with it."""

    def build(world: World) -> None:
        for name in ("ann", "ben"):
            world.start(Puppet(name, _signs))
        world.add(note("n", by="nobody"))
        world.claim(confluent(ignoring=ignoring))

    assert bool(alarms(of(build), 40)) is is_alarm


async def _signs(client: Client) -> None:
    item = await client.get(Note, "n")
    await client.update(attrs.evolve(item, data=Map(by=client.name)), whatever_it_was=True)


@each_row(
    ("name", "said"),
    [
        ("event", "Did you mean 'events'?"),
        ("spec.nodename", "'spec.nodename'"),
        ("pods.sepc", "Did you mean 'pods.spec'?"),
        ("pods.spec.node", "'pods.spec.node'"),
        ("meta.labelz", "'meta.labelz'"),
    ],
)
def test_an_unknown_kind_or_field_is_refused(name: str, said: str) -> None:
    """It would leave nothing out, and a misspelt one would be an alarm for ever."""
    for how in ("ignoring", "unordered"):
        with pytest.raises(UnknownName) as refused:
            confluent(**{how: [name]})  # type: ignore[arg-type]
        assert said in str(refused.value)
        assert "Next: name a kind (`leases`), or a field of one" in str(refused.value)


@each_row(
    "name",
    ["events", "leases", "spec.node_name", "pods.spec.node_name", "status.conditions.message",
     "data.signed", "meta.labels.app", "pods.status"],
)  # fmt: skip
def test_a_known_kind_or_field_is_taken(name: str) -> None:
    """Of any kind, also below a Map and in the items of a list."""
    assert confluent(ignoring=[name]).name == "confluent"


def named_by_the_server(world: World, left_out: tuple[str, ...]) -> None:
    """Each of two says who it is, and how many were there before it; the server names what it
    says."""
    world.serve(ApiServer)

    async def create(client: Client) -> None:
        many = len((await client.list(Note)).items)
        meta = attrs.evolve(Note("x").meta, name="", generate_name="n-")
        await client.create(Note(meta, data=Map(a=str(many), b=client.name)))

    world.start(Puppet("ann", create), Puppet("ben", create))
    world.claim(confluent(ignoring=left_out))


def test_what_is_left_out_does_not_tell_which_of_equals_is_which() -> None:
    """Each object is compared with the one that is most like it; what is compared still counts."""
    alike = of(lambda world: named_by_the_server(world, ("notes.data.a",)))
    unlike = of(lambda world: named_by_the_server(world, ()))
    assert not alarms(alike, 20)
    assert alarms(unlike, 20)


def _in_their_order(see: Evidence) -> list[object]:
    """The notes as their creators came."""
    entries = see.store.snapshot("notes/")
    return [entry.key for entry in sorted(entries, key=lambda entry: entry.revision)]


def _all_notes(see: Evidence) -> int:
    """How many there are, which no order changes."""
    return len(see.store.snapshot("notes/"))


@each_row("seen_as", [[_all_notes, _in_their_order], [_in_their_order, _all_notes]])
@each_row("only", [None, _all_notes])
def test_two_of_one_world_are_compared_each_with_its_own_end(
    seen_as: list[Callable[[Evidence], Any]], only: Callable[[Evidence], Any] | None
) -> None:
    """Whichever was claimed first, and whichever is violated."""

    def build(world: World) -> None:
        for name in ("ann", "ben"):
            world.start(Puppet(name, _creates))
        world.claim(*(confluent(seen_as=only or see) for see in seen_as))

    found = alarms(of(build), 20)
    assert bool(found) is (only is None)
    ann, ben = "notes/default/ann", "notes/default/ben"
    assert all(f"{[ann, ben]} there, {[ben, ann]} here" in said for said in found)


def test_two_of_one_world_say_once_that_they_are_not_compared() -> None:
    """For the same reason: there is one calm run for both."""

    async def awaits_ann(client: Client) -> None:
        while not (await client.list(Note)).items:
            pass

    async def creates_late(client: Client) -> None:
        await client.sleep(1, "wait")
        await _creates(client)

    def build(world: World) -> None:
        world.start(Puppet("ann", creates_late), Puppet("ben", awaits_ann))
        world.limit(turns_max=60, delay_max_ms=5)
        world.claim(confluent(), confluent(ignoring=["notes"]))

    played = (of(build).world().run(Uniform(seed), driver="direct") for seed in range(20))
    held = {verdict.note for verdict in played if verdict.is_held}
    assert held == {"confluent has compared it with nothing: the calm run comes to no rest."}


def test_one_that_stands_outside_of_its_scenario_is_compared() -> None:
    """As one that is made inside: it is the claim of the calm World, too."""
    claim = confluent(seen_as=_in_their_order)

    def build(world: World, *, inside: bool = False) -> None:
        for name in ("ann", "ben"):
            world.start(Puppet(name, _creates))
        world.claim(confluent(seen_as=_in_their_order) if inside else claim)

    def held(seed: int, *, inside: bool) -> bool:
        world = of(build).world({"inside": inside})
        return world.run(Uniform(seed), driver="direct").is_held and world.judge.was_compared

    own = [held(seed, inside=True) for seed in range(20)]
    assert len(set(own)) == 2
    assert [held(seed, inside=False) for seed in range(20)] == own


async def _creates(client: Client) -> None:
    await client.create(note(client.name))
