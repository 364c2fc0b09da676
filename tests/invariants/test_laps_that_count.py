"""no_lasso: laps in which something counts on. For ever, if all that counts is in sight and nothing
that it is compared with comes nearer; after twenty laps, where something was lost from sight."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import attrs
import pytest

from actors.apiserver import ApiServer
from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.errors import Conflict
from testbed.invariants.lasso.no_lasso import no_lasso
from testbed.objects.affinity import Taint
from testbed.objects.deployment import Deployment
from testbed.objects.lease import Lease
from testbed.objects.meta import Map, Meta, Object
from testbed.objects.node import Node, NodeSpec
from testbed.objects.note import Note
from testbed.objects.watched import Watched
from testbed.turns.found import Wrong
from testbed.turns.verdict import Verdict
from testbed.world.scenario import Scenario, of
from testbed.world.world import World
from tests.each_row import each_row
from tests.invariants.test_laps_alike import scaled, web
from tests.shared.stage import Doing, Puppet, note

HOUR_MS = 3_600_000


def world_of(
    *doings: Doing, items: tuple[Object, ...] = (), named_anew: tuple[str, ...] = ()
) -> Scenario:
    """An API server, a Note, and these actors, called `p0`, `p1` and so on."""

    def build(world: World) -> None:
        world.serve(ApiServer)
        world.add(note(a="0", b="0"), *items)
        for number, do in enumerate(doings):
            world.start(Puppet(f"p{number}", do))
        world.claim(no_lasso(named_anew=named_anew))
        world.limit(virtual_ms_max=HOUR_MS, turns_max=20_000)

    return of(build)


def played(recipe: Scenario, chooser: Chooser | None = None) -> Verdict:
    """One Run of it; the calm one, unless a Chooser is given."""
    return recipe.world().run(chooser or Calm(), driver="direct")


def said_of(verdict: Verdict) -> str:
    """What is said of the lap."""
    assert verdict.is_violated, verdict
    return verdict.violations[0].said


# -- what controllers fight over ------------------------------------------------------------------


def applied(replicas: int) -> Doing:
    """A rollout: it applies its manifest again, with a note of when it did."""

    async def run(client: Client) -> None:
        while True:
            await client.sleep(30_000, "sync")
            at = Map(restarted=str(client.now() // 1_000))
            tree = {"metadata": {"annotations": at}, "spec": {"replicas": replicas}}
            await client.patch(web(), tree)

    return run


async def scale_down(client: Client) -> None:
    """Marks a node that nobody needs, with the second in which it did, and removes it later."""
    while True:
        await client.sleep(10_000, "look")
        nodes: list[Node] = (await client.list(Node)).items  # type: ignore[assignment]
        for node in nodes[2:]:
            if not node.spec.taints:
                taint = Taint("unneeded", str(client.now() // 1_000), "NoSchedule")
                spec = attrs.evolve(node.spec, taints=(taint,))
                await client.update(attrs.evolve(node, spec=spec))
            else:
                await client.delete(node)


async def provision(client: Client) -> None:
    """Keeps three nodes."""
    while True:
        await client.sleep(10_000, "look")
        if len((await client.list(Node)).items) < 3:
            await client.create(Node(Meta("", generate_name="n-"), spec=NodeSpec()))


def gang(mine: str, other: str) -> Doing:
    """Takes its first place, waits for its second, and gives back what it has if that is taken. It
    keeps the record of what it has decided last."""

    async def run(client: Client) -> None:
        last = None
        while True:
            last = client.record("takes", place=mine)
            await taken(client, mine, client.name)
            await client.sleep(1_000, "wait")
            found = await client.get(Note, "n")
            if found.data[other] in ("0", client.name):
                await taken(client, other, client.name)
                return
            last = client.record("gives back", place=mine, instead_of=repr(last))
            await taken(client, mine, "0")
            await client.sleep(1_000, "back off")

    return run


async def taken(client: Client, place: str, by: str) -> None:
    """Let a place be that gang's."""
    while True:
        found = await client.get(Note, "n")
        try:
            await client.update(found.saying(**{place: by}))
            return
        except Conflict:
            continue


FIGHTS = {
    "an HPA and an operator": (
        world_of(scaled(5), scaled(3), items=(web(),)),
        "a lap of 2 writes in 20,000 ms, .*metadata.generation \\d+ → \\d+, set by p.\\): p. sets",
    ),
    "a rollout and a scaler": (
        world_of(scaled(5), applied(3), items=(web(),)),
        r"only grows \(.*annotations.restarted '\d+' → '\d+', set by p1; .*metadata.generation",
    ),
    "a scale-down and a provisioner": (
        world_of(
            scale_down, provision, items=(Node("a"), Node("b"), Node("c")), named_anew=("nodes",)
        ),
        "a lap of 3 writes in 20,000 ms.*one of nodes",
    ),
    "two gangs that give back": (
        world_of(gang("a", "b"), gang("b", "a")),
        r"a lap of \d writes in 2,000 ms",
    ),
}


@pytest.mark.parametrize("fight", FIGHTS)
def test_what_controllers_fight_over_is_for_ever(fight: str) -> None:
    """The lap is named, and what grows by object, field and writer; under random choices, too."""
    recipe, lap = FIGHTS[fight]
    for chooser in (Calm(), Uniform(1), Uniform(2)):
        verdict = played(recipe, chooser)
        said = said_of(verdict)
        assert said.startswith("for ever, "), said
        assert re.search(lap, said), said
        assert verdict.turns < 1_000


def test_where_one_yields_there_is_no_lap() -> None:
    """An HPA that leaves replicas alone which somebody else has set."""

    async def yields(client: Client) -> None:
        found = await client.get(Deployment, "web")
        await client.patch(found, {"spec": {"replicas": 5}})

    assert played(world_of(yields, items=(web(),))).is_held


# -- what stops some day --------------------------------------------------------------------------


def flips(goes_on: Callable[[Client, int], bool]) -> Doing:
    """Flips a Note every second, as long as that says so of its clock and its count of rounds."""

    async def run(client: Client) -> None:
        rounds = 0
        while goes_on(client, rounds):
            rounds += 1
            found = await client.get(Note, "n")
            flipped = "1" if found.data["a"] == "0" else "0"
            await client.update(found.saying(a=flipped))
            await client.sleep(1_000, "pace")

    return run


def below(generation: int) -> Doing:
    """Keeps a Deployment at three replicas, up to a generation."""

    async def run(client: Client) -> None:
        while True:
            await client.sleep(10_000, "sync")
            found = await client.get(Deployment, "web")
            if found.meta.generation >= generation:
                return
            if found.spec.replicas != 3:
                await client.patch(found, {"spec": {"replicas": 3}})

    return run


@attrs.define
class Count:
    """A counter that an actor keeps in an object of its own."""

    rounds: int = 0


def kept_in(place: str) -> Doing:
    """The same, stopping after 150 rounds which it counts in a place of its own."""

    async def run(client: Client) -> None:
        held = {"an attribute": Count(), "a dict": {"rounds": 0}, "a list": [0]}[place]
        for at in itertools.count() if place == "an iterator" else itertools.repeat(0):
            if isinstance(held, Count):
                held.rounds = at = held.rounds + 1
            elif isinstance(held, dict):
                held["rounds"] = at = held["rounds"] + 1
            elif isinstance(held, list):
                held[0] = at = held[0] + 1
            if at >= 150:
                return
            found = await client.get(Note, "n")
            flipped = "1" if found.data["a"] == "0" else "0"
            await client.update(found.saying(a=flipped))
            await client.sleep(1_000, "pace")

    return run


STOPS: dict[str, Doing] = {
    "thirty rounds": flips(lambda _, rounds: rounds < 30),
    "five hundred rounds": flips(lambda _, rounds: rounds != 500),
    "a time": flips(lambda client, _: client.now() < 400_000),
    "a time that has passed": flips(lambda client, _: 400_000 - client.elapsed() > 0),
    "half the time": flips(lambda client, _: client.now() // 2 < 200_000),
    "the text of a time": flips(lambda client, _: str(client.now()) != "400000"),
    "an attribute": kept_in("an attribute"),
    "a dict": kept_in("a dict"),
    "a list": kept_in("a list"),
}


@pytest.mark.parametrize("until", STOPS)
def test_what_stops_some_day_is_proved_by_nothing(until: str) -> None:
    """What it goes by is in sight, so it is seen to come nearer: neither for ever, nor suspected
    for its laps."""
    assert played(world_of(STOPS[until])).is_held


@each_row("generation", [60, 150])
def test_who_goes_by_a_generation_stops_some_day(generation: int) -> None:
    """Then the other has its way."""
    verdict = played(world_of(scaled(5), below(generation), items=(web(),)))
    assert not verdict.is_violated, verdict


@each_row(
    ("of", "lost"),
    [
        (lambda client, _: client.now() % 1_000_000 != 999_000, "its clock by 1000000, with"),
        (lambda client, _: not str(client.now()).startswith("999"), "sight by `startswith`"),
        (lambda client, _: client.now() / 1_000 < 9_999, "sight by `truediv`"),
        (lambda client, _: hash(client.now()) != 9_999_000, "sight by `hash`"),
        (lambda client, _: f"at {client.now()}" != "at 9999000", "sight by `format`"),
    ],
    ids=["a remainder", "its text", "a float", "a hash", "a sentence"],
)
def test_what_is_lost_from_sight_is_seen_twenty_times_and_not_said_to_last(
    of: Callable[[Client, int], bool], lost: str
) -> None:
    """Here each would stop some day."""
    said = said_of(played(world_of(flips(of))))
    assert said.startswith(
        "20 laps of 2 writes in 2,000 ms each, only these grow: p0/main, `rounds`"
    )
    assert "Whether it goes on for ever is not known, since p0 " in said
    assert lost in said
    assert "for ever, a lap" not in said


@each_row(
    "of",
    [
        lambda client, _: client.now() >= 0,
        lambda client, rounds: client.now() * 2 + rounds >= 0,
        lambda client, _: client.now() % 2_000 != 1_500,
        lambda client, _: divmod(client.now(), 1_000)[1] == 0,
        lambda client, _: str(client.now()) != "no time",
        lambda client, rounds: max(client.elapsed(), rounds) >= 0,
        lambda client, rounds: abs(rounds - 5) >= 0,
    ],
)
def test_what_comes_out_alike_for_ever_is_for_ever(of: Callable[[Client, int], bool]) -> None:
    """A clock may be looked at, if each look says the same however far it goes."""
    assert said_of(played(world_of(flips(of)))).startswith(
        "for ever, a lap of 2 writes in 2,000 ms"
    )


def test_a_resource_version_that_is_looked_at_is_lost_from_sight() -> None:
    """It counts all commits, and who reads its text may stop at some number."""

    async def run(client: Client) -> None:
        while True:
            found = await client.get(Note, "n")
            if int(found.meta.revision.text) > 100_000:
                return
            await client.update(found.saying(a="1" if found.data["a"] == "0" else "0"))
            await client.sleep(1_000, "pace")

    # Today's proof, which needs no numbers, takes revisions to mean nothing.
    counting = flips(lambda _, rounds: rounds >= 0)
    said = said_of(played(world_of(run, counting)))
    assert said.startswith("20 laps of "), said
    assert "p0 loses what counts from sight by `resourceVersion`" in said


def test_what_only_renews_is_no_ping_pong() -> None:
    """A Lease that is renewed for ever, and a heartbeat that is counted."""

    async def renews(client: Client) -> None:
        beats = 0
        while True:
            beats += 1
            lease = await client.get(Lease, "l")
            spec = attrs.evolve(lease.spec, renewed_ms=client.now())
            beat = Map(beat=str(beats))
            meta = attrs.evolve(lease.meta, annotations=beat)
            await client.update(attrs.evolve(lease, meta=meta, spec=spec))
            await client.sleep(2_000, "renew")

    verdict = played(world_of(renews, items=(Lease("l"),)))
    assert verdict.outcome == "undecided", verdict


# -- what writes nothing --------------------------------------------------------------------------


def test_who_only_wakes_the_other_for_ever_is_found_at_the_limit() -> None:
    """No time passes and nothing is written; the Run would end at a limit, and prove nothing."""

    async def wakes(client: Client) -> None:
        ping, pong = client.signal("ping"), client.signal("pong")

        async def answers() -> None:
            while True:
                await ping.wait()
                ping.clear()
                pong.set()

        client.spawn("answers", answers)
        while True:
            ping.set()
            await pong.wait()
            pong.clear()

    verdict = played(world_of(wakes))
    said = said_of(verdict)
    assert said.startswith("for ever, a lap of 2 turns without a write in no time at all")


@each_row("polls", [100, 11_000])
def test_who_only_reads_for_a_while_does_not(polls: int) -> None:
    """It counts its looks, in the same instant."""

    async def reads(client: Client) -> None:
        for _ in range(polls):
            await client.get(Note, "n")

    assert not played(world_of(reads)).is_violated


# -- everywhere -----------------------------------------------------------------------------------


class GoesOn(Calm):
    """Goes on after a Violation, as what plays a race file to its end."""

    goes_on = True


def test_a_lap_that_is_proved_ends_the_run_of_all() -> None:
    """Whoever goes on after a Violation would only see the lap again, for virtual hours."""
    recipe = FIGHTS["an HPA and an operator"][0]
    assert played(recipe, GoesOn()).turns == played(recipe).turns
    world = recipe.world()
    world.goes_on = True
    assert world.run(Calm(), driver="direct").turns == played(recipe).turns


@each_row("fight", [*FIGHTS])
def test_a_run_that_is_judged_soon_is_asked_for_laps_at_its_end(fight: str) -> None:
    """Twice there and back is enough to go on, in a World that is judged up to no time."""
    recipe = FIGHTS[fight][0]
    for until_ms in (62_000, 100_000):
        world = recipe.world({"limit.until_ms": until_ms})
        verdict = world.run(Calm(), driver="direct")
        assert said_of(verdict).startswith("for ever, "), verdict
        assert verdict.turns < 200


def test_what_stops_after_the_time_up_to_which_it_is_judged_is_held() -> None:
    """The laps by then do not prove that there are more."""
    world = world_of(STOPS["thirty rounds"]).world({"limit.until_ms": 20_000})
    assert world.run(Calm(), driver="direct").is_held


def test_watched_numbers_are_in_no_other_world() -> None:
    """The Run itself holds plain numbers, however often it was gone on with."""
    held: set[type] = set()

    async def run(client: Client) -> None:
        while client.now() < 1_000_000:
            found = await client.get(Deployment, "web")
            held.update(map(type, (client.now(), found.meta.generation)))
            await client.patch(found, {"spec": {"replicas": 3}})
            await client.sleep(10_000, "sync")

    world = world_of(scaled(5), run, items=(web(),)).world()
    go_on, gone, beside = world.evidence.go_on, [], set[type]()
    assert go_on is not None

    def noted(happened: object) -> tuple[Wrong, str]:
        before = set(held)
        gone.append(go_on(happened))  # type: ignore[arg-type]
        beside.update(held - before)
        held.intersection_update(before)
        return gone[-1]

    world.evidence.go_on = noted
    world.run(Calm(), driver="direct")
    assert "p1 compares its clock (`<`) with what it comes to in" in gone[0][1]
    assert (held, beside) == ({int}, {Watched})


def test_runs_with_the_same_turns_get_the_same_answer() -> None:
    """However they were chosen: here one is played again by what has happened."""
    recipe = FIGHTS["an HPA and an operator"][0]
    verdicts = [played(recipe, Uniform(3)) for _ in range(2)]
    assert verdicts[0] == verdicts[1]
