"""A complete search is put to the test: what no footprint names shows in another order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from testbed import Client, Evidence, World, always
from testbed.choosers.complete import Complete
from testbed.choosers.crossed import drawn_order
from testbed.choosers.equivalence.orders import Past
from testbed.choosers.sampling.chance import Chance
from testbed.cli import main
from testbed.errors import ReplayDiverged
from testbed.objects import Note
from testbed.search.crossing import TURNS_MIN, Crossing
from testbed.world.scenario import find, of, play_runs
from tests.each_row import each_row
from tests.shared.stage import Apart, note

AGAIN = "testbed search mine --effort complete"


class Box:
    """What actors share, and nothing that is read before a search tells so."""

    def __init__(self) -> None:
        self.held: list[int] = []


BOX = Box()


def crossed(
    build: Callable[..., None], switches: Mapping[str, Any] | None = None, seed: int = 0
) -> Complete:
    """Search it to the end, then put the search to the test."""
    scenario, complete = of(build), Complete()
    play_runs(
        scenario, complete, lambda world: True, runs_max=1_000, switches=switches, driver="direct"
    )
    assert complete.is_complete
    assert Crossing(lambda: scenario.world(switches), "direct", seed).test(complete, AGAIN)
    return complete


def nobody_sees_an_empty_box(evidence: Evidence) -> str | None:
    """The claim that the search holds, and another order breaks."""
    return next((f"{r.path} saw none" for r in evidence.records if r.facts.get("many") == 0), None)


def a_shared_object(world: World) -> None:
    """Two actors share an object that no footprint names."""
    BOX.held = []

    async def fills(client: Client) -> None:
        await client.create(note("mine"))
        BOX.held.append(1)

    async def looks(client: Client) -> None:
        await client.create(note("theirs"))
        client.record("saw", many=len(BOX.held))

    world.start(Apart("a", fills))
    world.start(Apart("b", looks))
    world.claim(always(nobody_sees_an_empty_box, reads=()))


def a_shared_decision(world: World) -> None:
    """One actor asks for something else once the other has been there."""
    BOX.held = []

    async def fills(client: Client) -> None:
        await client.create(note("mine"))
        BOX.held.append(1)

    async def decides(client: Client) -> None:
        await client.sleep(0)
        await client.get(Note, "x" if BOX.held else "y")

    world.add(note("x"), note("y"))
    world.start(Apart("a", fills))
    world.start(Apart("b", decides))


def a_moment_between(world: World) -> None:
    """One actor shows something for a while, and takes it away before it ends: whoever comes before
    all of that or after it sees nothing."""
    BOX.held = []

    async def shows(client: Client) -> None:
        await client.create(note("one"))
        BOX.held.append(1)
        await client.create(note("two"))
        BOX.held.clear()
        await client.create(note("three"))

    async def looks(client: Client) -> None:
        await client.create(note("theirs"))
        client.record("saw", many=1 - len(BOX.held))

    world.start(Apart("a", shows))
    world.start(Apart("b", looks))
    world.claim(always(nobody_sees_an_empty_box, reads=()))


@each_row("build", [a_shared_object, a_shared_decision, a_moment_between])
def test_what_actors_share_beside_the_store_is_noticed(build: Callable[..., None]) -> None:
    """The search sees one class and no breach; the turn, what it showed and the actor are told."""
    with pytest.raises(ReplayDiverged) as caught:
        crossed(build)
    said = str(caught.value)
    assert "class 1 of 1" in said
    assert "no footprint names" in said
    assert said.endswith(f"Next: {AGAIN}")


def test_what_is_shared_is_told_by_what_was_recorded() -> None:
    """Which turn, what it recorded in either order, and what its code uses."""
    match = r"(?s)recorded was .*1.*, and is .*0.*the global BOX, which looks"
    with pytest.raises(ReplayDiverged, match=match):
        crossed(a_shared_object)


def test_two_orders_would_not_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows for a moment between, no class shows as it was seen or in the opposite order; of
    the drawn orders one does."""
    monkeypatch.setattr("testbed.search.crossing.TURNS_MIN", 0)
    assert crossed(a_moment_between).tested.orders == 1


def test_orders_are_counted_and_drawn_from_the_seed() -> None:
    """The same seed plays the same ones, of no more turns than their share, and each of them once;
    the summary and the verdict say how many."""
    found = [crossed(find("lost_update").build, {"guard": "on"}, seed) for seed in (0, 0, 1)]
    one, again, other = (complete.tested for complete in found)
    assert (one, other.seed) == (again, 1)
    assert 4 < one.orders <= TURNS_MIN // 4
    assert f"no delays, {one.orders} other orders" in found[0].summary


def test_drawn_orders_keep_what_must_stay_in_order() -> None:
    """Each is an order of all turns; no turn comes before one that it must follow; all are met."""
    complete = crossed(find("lost_update").build, {"guard": "on"})
    past = Past()
    for turn in complete.seen[-1].turns:
        past.add(turn)
    orders = {tuple(drawn_order(past, Chance(0, number))) for number in range(60)}
    assert len(orders) > 5
    for order in orders:
        done = 0
        for place in order:
            assert past.before[place] & ~done == 0
            done |= 1 << place
        assert done == (1 << len(past)) - 1


@each_row(
    ("name", "switches", "least"),
    [
        ("lost_update", {"guard": "off"}, 2),
        ("lost_update", {"guard": "on", "writers": "3"}, 20),
        ("late_short_write", {}, 1),
        ("double_bind", {}, 2),
    ],
)
def test_true_footprints_pass(name: str, switches: Mapping[str, Any], least: int) -> None:
    """The classes of shipped scenarios come to the same in both orders."""
    assert crossed(find(name).build, switches).tested.orders >= least


def test_a_search_that_fails_the_test_ends_with_4(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes no certificate, and ends with the line that shows it again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent), *sys.path])
    name = f"{Path(__file__).stem}:a_shared_object"
    code = main(["search", name, "--effort", "complete", "--out", "proof"])
    said = capsys.readouterr()
    assert code == 4
    assert "no footprint names" in said.err
    assert (
        f"Next: mend that, then search again: testbed search {name} --effort complete" in said.err
    )
    assert not list(tmp_path.rglob("*.certificate.jsonl"))
