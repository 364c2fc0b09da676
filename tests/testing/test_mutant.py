"""Mutant: a bug is killed by the claim that must find it, and by no other."""

from __future__ import annotations

from testbed.client.client import Client
from testbed.errors import Conflict
from testbed.invariant import Evidence, always, quiescent
from testbed.testing.mutant import Hunt, Mutant, hunt
from testbed.world.world import World
from tests.shared.stage import Puppet, note


def both_sign(world: World, *, guard: bool = False) -> None:
    """Two writers sign a note; without the guard, one may write over the other."""

    def writer(name: str) -> Puppet:
        async def sign(client: Client) -> None:
            while True:
                old = await client.get(type(note()), "n")
                new = old.saying(by=old.data["by"] + name)
                try:
                    await client.update(new, whatever_it_was=not guard)
                except Conflict:
                    continue
                return

        return Puppet(name, sign)

    world.add(note(by=""))
    world.start(writer("a"), writer("b"))
    world.claim(quiescent(both_stand, reads=()), always(nothing_is_written))


def both_stand(see: Evidence) -> str | None:
    """Both names are there."""
    entry = see.store.peek("notes/default/n")
    assert entry is not None
    by: str = entry.value.data["by"]  # type: ignore[attr-defined]
    return None if len(by) == 2 else f"there is {by!r}"


def nothing_is_written(see: Evidence) -> str | None:
    """Breached by every Run."""
    return "something is" if see.changes else None


def test_a_mutant_is_killed_by_the_claim_that_must_find_it() -> None:
    """Though another is breached before it, in that Run and in those before."""
    killed = hunt(Mutant("unguarded", "writes over", both_sign, "both_stand"))
    assert killed.is_killed
    assert killed.runs > 1
    assert killed.said in ("there is 'a'", "there is 'b'")
    assert killed.others == ("nothing_is_written",)


def test_one_that_its_claim_does_not_find_survives() -> None:
    """Whatever others say of it; every Run it may outlive was played."""

    def guarded(world: World) -> None:
        both_sign(world, guard=True)

    alive = hunt(Mutant("guarded", "nothing", guarded, "both_stand"), runs_max=40)
    assert not alive.is_killed
    assert (alive.runs, alive.others) == (40, ("nothing_is_written",))


def test_the_same_seed_hunts_alike() -> None:
    """A Hunt is a function of the Mutant, the bound and the seed."""

    def again() -> Hunt:
        mutant = Mutant("unguarded", "writes over", both_sign, "both_stand")
        return hunt(mutant, seed=3)

    assert attrs_of(again()) == attrs_of(again())


def attrs_of(found: Hunt) -> object:
    """All of it but the functions."""
    return found.runs, found.said, found.others
