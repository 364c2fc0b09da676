"""no_lasso: of programs drawn at random, what is said to go on for ever does go on."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import pytest

from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.invariants.lasso.no_lasso import no_lasso
from testbed.objects.note import Note
from testbed.world.scenario import of
from testbed.world.world import World
from tests.shared.stage import Puppet, note

Numbers = Callable[[], int]
Term = Callable[[Numbers, Numbers], Any]
"""What a program makes of its clock and its count of rounds."""

PACE_MS = 1_000
ROUNDS = 20_000
"""How far it is looked whether a program stops."""
CONSTANTS = (0, 1, 2, 3, 7, 40, 500, 1_000, 2_000, 60_000, 150_000, 10**7)
JOINED = (operator.add, operator.sub, max, min)
COMPARED = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


def term(random: Random, deep: int = 3) -> Term:
    """A number."""
    if not deep or random.random() < 0.3:
        constant = random.choice(CONSTANTS)
        return random.choice(
            (lambda now, _: now(), lambda _, rounds: rounds(), lambda *_: constant)
        )
    one, other = term(random, deep - 1), term(random, deep - 1)
    joins, by = random.choice(JOINED), random.choice(CONSTANTS[1:])
    return random.choice(
        (
            lambda now, rounds: joins(one(now, rounds), other(now, rounds)),
            lambda now, rounds: joins(one(now, rounds), other(now, rounds)),
            lambda now, rounds: one(now, rounds) * by,
            lambda now, rounds: one(now, rounds) // by,
            lambda now, rounds: one(now, rounds) % by,
            lambda now, rounds: abs(one(now, rounds)),
            lambda now, rounds: -one(now, rounds),
            lambda now, rounds: one(now, rounds) * other(now, rounds),
            lambda now, rounds: int(str(one(now, rounds))),
        )
    )


def condition(random: Random) -> Term:
    """Whether a program goes on; at first, it does."""
    one, other = term(random), term(random)
    compares = random.choice(COMPARED)
    at_first = bool(compares(one(int, int), other(int, int)))
    return lambda now, rounds: compares(one(now, rounds), other(now, rounds)) == at_first


def goes_on_for(goes_on: Term) -> int:
    """After how many rounds it stops, as far as is looked."""
    rounds = range(ROUNDS)
    stops = (n for n in rounds if not goes_on(partial(int, n * PACE_MS), partial(int, n)))
    return next(stops, ROUNDS)


def said_of(goes_on: Term, *, proves: bool = True) -> str:
    """What the calm run of a program says that flips a Note as long as that is so, with the proof
    of laps in which something grows or without it."""

    async def run(client: Client) -> None:
        rounds = [0]
        while goes_on(client.now, partial(rounds.__getitem__, 0)):
            rounds[0] += 1
            found = await client.get(Note, "n")
            await client.update(found.saying(a="1" if found.data["a"] == "0" else "0"))
            await client.sleep(PACE_MS, "pace")

    def build(world: World) -> None:
        world.add(note(a="0"))
        world.start(Puppet("p", run))
        world.claim(no_lasso())
        world.limit(turns_max=700)

    world = of(build).world()
    if not proves:
        world.evidence.go_on = None
    verdict = world.run(Calm(), driver="direct")
    return verdict.violations[0].said if verdict.is_violated else verdict.outcome


@pytest.mark.parametrize("programs", [60, pytest.param(20_000, marks=pytest.mark.long)])
def test_what_is_said_to_last_lasts(programs: int) -> None:
    """However it goes by its clock and its count: only where a number was lost from sight may it
    stop, and that is what is said then."""
    seen: Counter[str] = Counter()
    for seed in range(programs):
        goes_on = condition(Random(seed))
        rounds, said = goes_on_for(goes_on), said_of(goes_on)
        grade = "for ever" if said.startswith("for ever") else said.partition(" of ")[0]
        seen[f"{grade}, {'lasts' if rounds == ROUNDS else 'stops'}"] += 1
        assert grade != "for ever" or rounds == ROUNDS, f"seed {seed} stops after {rounds}: {said}"
        assert grade != "held" or rounds < ROUNDS, f"seed {seed}"
    assert seen["for ever, lasts"] > programs / 10
    assert seen["held, stops"] > programs / 10


@pytest.mark.parametrize("programs", [15, pytest.param(2_000, marks=pytest.mark.long)])
def test_the_proof_changes_only_what_was_undecided(programs: int) -> None:
    """Whoever comes to an end comes to the same one."""
    decided = 0
    for seed in range(programs):
        goes_on = condition(Random(seed))
        without, said = said_of(goes_on, proves=False), said_of(goes_on)
        assert said == without or without == "undecided", f"seed {seed}: {without}, {said}"
        decided += said != without
    assert decided > programs / 10
