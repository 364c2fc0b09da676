"""Alternatives are played with the same seeds, and each Run is measured to its end."""

from __future__ import annotations

from typing import ClassVar

import attrs
import pytest

from testbed import Actor, Client, Evidence, World, always
from testbed.errors import UnknownName
from testbed.objects import Meta, Note
from testbed.search.comparing.alternatives import alternatives_of
from testbed.search.comparing.comparison import compare
from testbed.search.comparing.measure import Measure
from testbed.search.comparing.measure_kinds import measures_of
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample, per_run
from testbed.world.scenario import find, of


@attrs.frozen
class Dice(Actor):
    """Picks a number, perhaps after some others, and writes it so many times."""

    others: int

    async def run(self, client: Client) -> None:
        for number in range(self.others):
            client.pick(f"other {number}", ("a", "b"))
        for number in range(client.pick("eyes", (1, 2, 3, 4, 5, 6))):
            await client.create(Note(Meta(f"note-{number}", "default")))


def throws(world: World, *, guard: bool = False, others: int = 0, allowed: int = 6) -> None:
    """One throw."""
    world.start(Dice("dice", others))

    def few(see: Evidence) -> str | None:
        return "too many" if len(see.store.snapshot("notes/")) > allowed else None

    world.claim(always(few))


class Writes(Measure):
    """How much was written."""

    name: ClassVar[str] = "writes"
    figures: ClassVar[tuple[Figure, ...]] = (per_run("writes"),)

    def of(self, history: RunHistory) -> Sample:
        return Sample(len(history.commits))


@pytest.mark.spec("GEN-5")
def test_what_is_picked_is_the_same_in_every_alternative() -> None:
    """Whatever else is picked before it; so only the alternatives differ, Run by Run."""
    given = alternatives_of(["others=0", "others=3"])
    found = compare(of(throws), given, [Writes()], runs=20)
    first, second = (played.samples["writes"] for played in found.played)
    assert first == second
    assert len({each.count for each in first}) > 3
    (row,) = found.rows
    assert (row.differences[1].value, row.differences[1].is_exact) == (0, True)
    again = compare(of(throws), given, [Writes()], runs=5, seed=6)
    assert again.played[0].samples["writes"] == first[5:10]


def test_a_run_goes_on_after_a_violation_and_both_are_counted() -> None:
    """With the seed of the first Run in which a claim is violated."""
    given = alternatives_of(["allowed=6", "allowed=3"])
    found = compare(of(throws), given, [Writes()], runs=20)
    first, second = found.played
    assert first.samples == second.samples, "no Run was cut short"
    assert dict(first.outcomes) == {"held": 20}
    violated = [n for n, each in enumerate(second.samples["writes"], 1) if each.count > 3]
    assert second.outcomes["violated"] == len(violated)
    assert second.breached == {"few": violated[0]}


def test_of_few_runs_there_are_no_intervals() -> None:
    """Nine, drawn again and again, show no more than nine; ten are few as well, but begin to."""
    given = alternatives_of(["others=0", "others=3"])
    for runs, is_told in ((9, False), (10, True)):
        (row,) = compare(of(throws), given, [Writes()], runs=runs).rows
        found = (*row.estimates, *row.differences)
        assert {each.low is not None for each in found} == {is_told}
        assert row.estimates[0].value is not None


def test_every_run_is_reported_and_a_setting_is_checked_before_the_first() -> None:
    """A wrong one of the last alternative is refused before anything is played."""
    seen: list[tuple[int, int]] = []
    given = alternatives_of(["others=0", "others=1"])
    compare(of(throws), given, [], runs=2, on_run=lambda *done: seen.append(done))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    with pytest.raises(UnknownName):
        compare(
            of(throws), alternatives_of(["others=0", "other=1,others=1", "others=2"]), [], runs=1
        )


@pytest.mark.spec("CTL-50", "CTL-52", "CTL-55", "CTL-56")
def test_any_scenario_can_be_compared() -> None:
    """One that knows nothing of it; the order of importance decides who goes."""
    given = alternatives_of(["guard=off", "guard=on"])
    found = compare(find("web_server"), given, measures_of(["victims", "api_writes"]), runs=2)
    victims, _ = found.rows
    assert [each.value for each in victims.estimates] == [1, 0]
    assert all(isinstance(row.figure, Figure) for row in found.rows)
