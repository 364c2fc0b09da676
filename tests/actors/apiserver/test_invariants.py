"""The claims of the protocol: they hold of the API server, and each kills its mutants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from actors.apiserver import ApiServer
from actors.apiserver.invariants import protocol_claims
from actors.apiserver.mutants import MUTANTS
from actors.apiserver.proving_ground import competing_clients
from actors.shared.verbs import evict
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.errors import ApiError, Conflict
from testbed.faults.break_watch import BreakWatch
from testbed.faults.compact import Compact
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.objects import (
    DeleteOptions,
    Map,
    Pod,
    PodDisruptionBudget,
)
from testbed.objects.binding import Preconditions
from testbed.testing.mutant import Mutant, hunt
from testbed.testing.seek import choosers
from testbed.turns.found import FORBIDDEN
from testbed.turns.option import SERVE
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.world.scenario import of, play_runs
from testbed.world.world import World
from tests.invariants.abouts import breach_of
from tests.shared.stage import play, world_of

FAULTS = (
    Crash("api", restart_after_ms=700), Crash("api-2", restart_after_ms=700),
    Crash("kubelet", restart_after_ms=300), LoseReply("*"), BreakWatch("*"), Compact(),
)  # fmt: skip


def race(world: World) -> None:
    """The proving ground, with everything that may go wrong."""
    competing_clients(world)


def test_the_calm_proving_ground_comes_to_its_end() -> None:
    """Every claim holds; each server has granted and refused, and the pods that were to go are
    gone."""
    world = of(race).world()
    verdict = world.run(Calm(), driver="direct", trace=Trace({}, keep=True))
    assert verdict.is_held, str(verdict)
    outcomes = {step.outcome for step in world.trace.steps if step.kind == SERVE}
    assert {"", "Conflict", "NotFound", "TooManyRequests"} <= outcomes
    left = {entry.key.rpartition("/")[2] for entry in world.store.snapshot("pods/")}
    assert left == {"new"}


def played(runs_max: int) -> Iterator[Verdict]:
    """`runs_max` Runs: half of few deviations, the others drawn; half of them with faults."""
    for faults in ((), FAULTS):
        left = runs_max // 2
        for chooser, most in choosers(left, 0):
            seen: list[Verdict] = []

            def look(world: World, seen: list[Verdict] = seen) -> bool:
                assert world.verdict is not None
                seen.append(world.verdict)
                return True

            runs = min(most, left)
            left -= play_runs(
                of(race), chooser, look, runs_max=runs, faults=faults, driver="direct"
            )
            yield from seen


def held(verdicts: Iterator[Verdict]) -> int:
    """How many there were, each of which has held."""
    count = 0
    for verdict in verdicts:
        assert verdict.is_held, str(verdict)
        count += 1
    return count


@pytest.mark.spec("INV-1", "INV-2", "INV-3", "INV-4", "INV-6", "INV-33")
def test_the_protocol_holds_whatever_is_late_or_fails() -> None:
    """Two servers, one of which lags; in half of the Runs they crash between their commits, replies
    are lost, watches break, the history is compacted."""
    assert held(played(100)) == 100


@pytest.mark.long
@pytest.mark.spec("INV-1", "INV-2", "INV-3", "INV-4", "INV-6", "INV-33")
def test_the_protocol_holds_in_two_thousand_runs() -> None:
    """The same, for longer."""
    assert held(played(2000)) == 2000


@pytest.mark.parametrize("mutant", [pytest.param(m, id=m.name) for m in MUTANTS])
def test_each_mutant_is_killed_by_its_claim(mutant: Mutant) -> None:
    """By the claim that must find it, within the Runs of a hunt."""
    killed = hunt(mutant)
    assert killed.is_killed, f"{killed.runs} runs, and {killed.others}"


def test_every_claim_of_the_protocol_kills_a_mutant() -> None:
    """None is there that never fired; the one of the Caches fires in its own test, since no server
    can make a Cache fold wrongly."""
    killers = {mutant.claim for mutant in MUTANTS}
    claimed = {claim.name for claim in protocol_claims()}
    assert claimed - killers == {"caches_show_one_revision"}
    assert killers - claimed == {"revisions_increase", "watches_are_gap_free"}


def test_names_of_mutants_are_their_own() -> None:
    """Each can be asked for by its name."""
    names: list[Any] = [mutant.name for mutant in MUTANTS]
    assert sorted(set(names)) == sorted(names)


async def asks_rarely(client: Client) -> None:
    """What the proving ground never does: reads of just one revision, some of which cannot be; an
    eviction of what was there before; a grace below nothing; a budget that goes."""
    budget = await client.create(PodDisruptionBudget("budget"))
    old = await client.create(Pod.of("p", cpu_m=100, node_name="n1"))
    new = await client.update(old.with_meta(labels={"a": "b"}))
    exactly = Map(match="Exact")
    first = await client.list(Pod, at=old.meta.revision, options=exactly)
    assert [pod.meta.labels for pod in first.items] == [Map()]
    with pytest.raises(ApiError):
        await client.list(Pod, options=exactly)
    then = DeleteOptions(preconditions=Preconditions("", old.meta.revision))
    with pytest.raises(Conflict):
        await evict(client, new, then)
    await client.delete(budget)
    await client.delete(new, options=Map(grace_s=-1))


def test_no_claim_fires_where_a_client_asks_what_is_seldom_asked() -> None:
    """Each answer, and each refusal, is as it must be."""
    world = world_of(user=asks_rarely)
    world.serve(lambda store: ApiServer(store, "api"))
    world.claim(*protocol_claims())
    play(world)


def test_a_breach_of_the_protocol_is_about_what_was_written_and_who_asked() -> None:
    """And it has been so since that write."""
    mutant = next(each for each in MUTANTS if each.claim == "pods_are_given_their_time")
    found = breach_of(mutant)
    (key,), (actor,) = found.about.keys, found.about.actors
    assert found.said.startswith(f"{key} ")
    assert f" by {actor} " in found.said
    assert found.since is not None
    assert found.reason == FORBIDDEN
