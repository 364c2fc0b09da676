"""A complete search is put to the test: what no footprint names shows in another order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from testbed import Client, Evidence, World, always
from testbed.choosers.complete import Complete
from testbed.cli import main
from testbed.errors import ReplayDiverged
from testbed.objects import Note
from testbed.search.crossing import Crossing
from testbed.world.scenario import find, of, play_runs
from tests.shared.stage import Apart, note

AGAIN = "testbed search mine --effort complete"


def crossed(build: Callable[..., None], switches: Mapping[str, Any] | None = None) -> int:
    """Search it to the end, then put the search to the test; how many classes were compared."""
    scenario, complete = of(build), Complete()
    play_runs(
        scenario, complete, lambda world: True, runs_max=1_000, switches=switches, driver="direct"
    )
    assert complete.is_complete
    crossing = Crossing(lambda: scenario.world(switches), "direct")
    return crossing.check(complete.seen, AGAIN)


def nobody_sees_an_empty_box(evidence: Evidence) -> str | None:
    """The claim that the search holds, and another order breaks."""
    return next((f"{r.path} saw none" for r in evidence.records if r.facts.get("many") == 0), None)


def a_shared_closure(world: World) -> None:
    """Two actors share a list that only their closures know of."""
    box: list[int] = []

    async def fills(client: Client) -> None:
        await client.create(note("mine"))
        box.append(1)

    async def looks(client: Client) -> None:
        await client.create(note("theirs"))
        client.record("saw", many=len(box))

    world.start(Apart("a", fills))
    world.start(Apart("b", looks))
    world.claim(always(nobody_sees_an_empty_box, reads=()))


def a_shared_decision(world: World) -> None:
    """One actor asks for something else once the other has been there."""
    box: list[int] = []

    async def fills(client: Client) -> None:
        await client.create(note("mine"))
        box.append(1)

    async def decides(client: Client) -> None:
        await client.sleep(0)
        await client.get(Note, "x" if box else "y")

    world.add(note("x"), note("y"))
    world.start(Apart("a", fills))
    world.start(Apart("b", decides))


@pytest.mark.parametrize("build", [a_shared_closure, a_shared_decision])
def test_what_actors_share_beside_the_store_is_noticed(build: Callable[..., None]) -> None:
    """The search sees one class and no breach; the turn, what it showed and the actor are told."""
    with pytest.raises(ReplayDiverged) as caught:
        crossed(build)
    said = str(caught.value)
    assert "class 1 of 1" in said
    assert "no footprint names" in said
    assert said.endswith(f"Next: {AGAIN}")


def test_a_closure_is_told_by_what_it_recorded() -> None:
    """Which turn, what it recorded in either order, and what it closes over."""
    with pytest.raises(ReplayDiverged, match=r"(?s)recorded was .*1.*, and is .*0.*`box`"):
        crossed(a_shared_closure)


@pytest.mark.parametrize(
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
    assert crossed(find(name).build, switches) >= least


def test_a_search_that_fails_the_test_ends_with_4(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes no certificate, and ends with the line that shows it again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent), *sys.path])
    name = f"{Path(__file__).stem}:a_shared_closure"
    code = main(["search", name, "--effort", "complete", "--out", "proof"])
    said = capsys.readouterr()
    assert code == 4
    assert "no footprint names" in said.err
    assert (
        f"Next: mend that, then search again: testbed search {name} --effort complete" in said.err
    )
    assert not list(tmp_path.rglob("*.certificate.jsonl"))
