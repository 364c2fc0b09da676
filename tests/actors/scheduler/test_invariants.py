"""The claims about schedulers: they hold for the real one, and each kills its mutants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from actors.scheduler.invariants import DeedsAreDecided, WhoWaitsDoesNotPreempt, scheduler_claims
from actors.scheduler.mutants import MUTANTS
from actors.scheduler.proving_ground import GUEST, SMALL, contended_nodes, one_place
from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.choosers.pos import POS
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.faults.lose_request import LoseRequest
from testbed.store.store import Store
from testbed.testing.mutant import Mutant, hunt
from testbed.testing.seek import choosers
from testbed.turns.found import FORBIDDEN
from testbed.turns.session import play_all
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.world.scenario import find, of, play_runs
from testbed.world.world import World
from tests.each_row import each_row
from tests.invariants.abouts import breach_of
from tests.shared.crowds import FAULTS, crowd
from tests.shared.scheduling import cluster, delete, node_of, pending, there
from tests.shared.stage import play


def full(world: World) -> None:
    """The proving ground, with the scheduler as it is."""
    contended_nodes(world)


def test_the_calm_proving_ground_comes_to_its_end() -> None:
    """Every claim holds; some pods were placed, some have made room, some still wait."""
    world = of(full).world()
    verdict = world.run(Calm(), driver="direct", trace=Trace({}, keep=True))
    assert verdict.is_held, str(verdict)
    cycles = [record.facts for record in world.table.records if record.name == "cycle"]
    assert {facts["pod"].rpartition("/")[2] for facts in cycles if facts.get("node")} == {
        "also", "big", "moody", "peer", "pushy", "small", "twin",
    }  # fmt: skip
    assert any(facts.get("preemption", {}).get("chosen") for facts in cycles)


@pytest.mark.spec("INV-10", "INV-11", "INV-12", "INV-13", "INV-14")
@pytest.mark.spec("INV-15", "INV-16", "INV-17", "INV-18", "INV-19")
@pytest.mark.spec("INV-20", "INV-22", "INV-23", "INV-25", "INV-26", "INV-41")
def test_the_claims_hold_whatever_is_late_or_crashes() -> None:
    """On the proving ground, in Runs of few deviations and in random ones; in half of them the
    scheduler may crash and lag."""
    faults = (Crash("alpha", restart_after_ms=700), Lag("alpha", by_ms=500, for_ms=3000))
    for allowed in ((), faults):
        left = 15
        for chooser, most in choosers(left, 0):
            runs = min(most, left)
            left -= play_runs(
                of(full), chooser, is_held, runs_max=runs, faults=allowed, driver="direct"
            )


def is_held(world: World) -> bool:
    """Require that every claim held, and go on."""
    assert world.verdict is not None
    assert world.verdict.is_held, str(world.verdict)
    return True


def played(numbers: range) -> Iterator[Verdict]:
    """The verdicts of these crowds: a third of them calm, the others random and with faults."""
    players: tuple[Chooser, ...] = (Calm(), Uniform(5), POS(7))
    verdicts: list[Verdict] = []

    def worlds() -> Iterator[World]:
        for number in numbers:
            world, chooser = crowd(number), players[number % len(players)]
            world.allow(*FAULTS if number % len(players) else ())
            world.prepare(chooser, trace=Trace({}), number=number)
            yield world
            assert world.verdict is not None
            verdicts.append(world.verdict)

    play_all(worlds(), driver="direct")
    yield from verdicts


@pytest.mark.spec("INV-10", "INV-11", "INV-12", "INV-13", "INV-14")
@pytest.mark.spec("INV-15", "INV-16", "INV-17", "INV-18", "INV-19")
@pytest.mark.spec("INV-20", "INV-22", "INV-23", "INV-25", "INV-26", "INV-41")
def test_the_claims_hold_of_crowds() -> None:
    """In small random clusters: one to four nodes, one to three schedulers, budgets, nominations,
    affinity; with crashes and lag."""
    for verdict in played(range(120)):
        assert verdict.is_held, str(verdict)


@pytest.mark.long
@pytest.mark.spec("INV-10", "INV-11", "INV-12", "INV-13", "INV-14")
@pytest.mark.spec("INV-15", "INV-16", "INV-17", "INV-18", "INV-19")
@pytest.mark.spec("INV-20", "INV-22", "INV-23", "INV-25", "INV-26", "INV-41")
def test_the_claims_hold_of_twenty_thousand_crowds() -> None:
    """The same, for long."""
    for start in range(0, 20_000, 500):
        for verdict in played(range(start, start + 500)):
            assert verdict.is_held, str(verdict)


@pytest.mark.spec("INV-15", "INV-16", "INV-17", "INV-18", "INV-19")
@pytest.mark.spec("INV-20", "INV-22", "INV-23", "INV-25", "INV-26", "INV-41")
@each_row("name", ["starvation", "preemption_loop", "hostile_schedulers", "pressure_pingpong"])
def test_the_claims_hold_of_guarded_scenarios(name: str) -> None:
    """In forty random Runs of each: what comes there without end, unguarded, comes to an end."""
    recipe = find(name)

    def guarded(world: World) -> None:
        recipe.build(world, guard=True)
        world.claim(*scheduler_claims())

    for chooser in (Uniform(1), POS(2)):
        play_runs(of(guarded, name), chooser, is_held, runs_max=20, driver="direct")


GROUNDS: dict[str, dict[str, Any]] = {
    "nothing": {}, "a guest": {"comes": GUEST}, "a small pod": {"comes": SMALL},
    "an equal": {"priority": 0}, "again": {"again": True}, "equals": {"again": True, "priority": 0},
}  # fmt: skip
"""What comes to the other proving ground, in which mutants are hunted that take many cycles."""


@each_row("given", GROUNDS.values(), ids=GROUNDS)
def test_the_claims_hold_where_there_is_one_place(given: dict[str, Any]) -> None:
    """So what kills a mutant there is its bug."""

    def sound(world: World) -> None:
        one_place(world, **given)

    for chooser, runs in ((Calm(), 1), (Uniform(1), 5), (POS(2), 5)):
        play_runs(of(sound, "sound"), chooser, is_held, runs_max=runs, driver="direct")


def test_no_claim_about_many_cycles_looks_at_all_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a Run is, they ask for no more snapshots of the Store: two for each life of a
    scheduler, one at the beginning, one at the end."""
    asked = 0
    snapshot = Store.snapshot

    def counting(store: Store, *given: Any) -> Any:
        nonlocal asked
        asked += 1
        return snapshot(store, *given)

    monkeypatch.setattr(Store, "snapshot", counting)
    looked = []
    for pods in (5, 30):
        for claims in ((), scheduler_claims()[-6:]):
            world = find("starvation").world({"guard": "on", "pods": pods})
            world.claim(*claims)
            asked = 0
            assert world.run(Calm(), driver="direct").is_held
            looked.append(asked)
    assert [looked[1] - looked[0], looked[3] - looked[2]] == [4, 4]


@pytest.mark.spec("SCH-112", "INV-13")
def test_a_pod_that_cannot_see_its_nomination_is_counted() -> None:
    """The patch was lost: the pod preempts again while its victims are terminating, and that is no
    violation."""
    patience = WhoWaitsDoesNotPreempt()

    async def user(client: Client) -> None:
        await client.sleep(2000)
        await delete(client, "b", grace_s=0)

    world = cluster(there("a", 5), there("b", 5), pending("c", 10, 1000), user=user)
    world.allow(LoseRequest("alpha"))
    world.claim(patience)
    lost = "patch/status pods/default/c"
    play(world, f"fault * lose_request *{lost}*", late=(f"serve alpha/main {lost}*",))
    assert patience.blind == 1


@pytest.mark.spec("SCH-98", "SCH-121")
def test_a_pod_that_is_deleted_for_a_victim_of_its_name_is_counted() -> None:
    """The victim is replaced between the decision and the delete, which names no uid."""
    deeds = DeedsAreDecided()

    async def user(client: Client) -> None:
        await delete(client, "a", grace_s=0)
        await client.create(pending("a", 1, scheduler_name="nobody"))

    world = cluster(there("a", 5), pending("c", 10, 1000), user=user)
    world.claim(deeds)
    play(
        world, "resume alpha/main queue alpha/ready", "start user/main",
        "serve user/main create pods/default/a", late=("start user/main", "serve alpha/main *"),
    )  # fmt: skip
    assert deeds.stale_kills == 1


def test_nothing_is_claimed_by_the_rules_where_a_filter_is_ones_own() -> None:
    """The reference cannot judge what it does not know; the other claims hold all the same."""
    world = cluster(
        there("a", 5), pending("c", 10, 1000), switches={"filters": "-NodeResourcesFit"}
    )
    world.claim(*scheduler_claims())
    play(world)
    assert node_of(world, "c") == "n1"


@pytest.mark.parametrize("mutant", [pytest.param(m, id=m.name) for m in MUTANTS])
def test_each_mutant_is_killed_by_its_claim(mutant: Mutant) -> None:
    """By the claim that must find it, within few Runs."""
    killed = hunt(mutant, runs_max=30)
    assert killed.is_killed, f"{killed.runs} runs, and {killed.others}"


def test_every_claim_kills_a_mutant() -> None:
    """So there is no claim that never fired."""
    claimed = {claim.name for claim in scheduler_claims()}
    assert {mutant.claim for mutant in MUTANTS} == claimed


def test_names_of_mutants_are_their_own() -> None:
    """Each can be asked for by its name."""
    names = [mutant.name for mutant in MUTANTS]
    assert sorted(set(names)) == sorted(names)


def test_a_breach_of_a_decision_is_about_its_pod_its_node_and_its_victim() -> None:
    """And about the scheduler that has decided."""
    mutants = {mutant.name: mutant for mutant in MUTANTS}
    found = breach_of(mutants["preempts-equals"])
    victim, pod, node = found.about.keys
    assert found.said.startswith(f"{found.about.actors[0]}: {victim} is to go for {pod}: ")
    assert (node.partition("/")[0], found.about.fields) == ("nodes", ("spec.priority",))
    assert found.reason == FORBIDDEN
