"""Maps: each path of one can be played, comes to the end it says, and no end is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from bisect import bisect_left
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from testbed import Client, Evidence, World, always
from testbed.errors import ScenarioError
from testbed.faults.crash import Crash
from testbed.faults.lose_request import LoseRequest
from testbed.maps.mapping import NoMap, state_map, try_to_map
from testbed.maps.state_map import StateMap
from testbed.objects import Note
from testbed.world.scenario import Scenario, find, of
from tests.maps.walked_maps import agreed, every_path, map_of, some_paths, walk
from tests.shared.stage import Puppet

ROOT = Path(__file__).parent.parent.parent
PATHS_MAX = 5_000


def crashing(world: World, *, guard: bool = False) -> None:
    """Two writers, either of which may crash once, and comes back."""
    find("lost_update").build(world, guard=guard)
    world.allow(Crash("*a", restart_after_ms=1000))


def losing(world: World) -> None:
    """A writer whose request may be lost once, and that then tries again as if it were new."""
    find("lost_update").build(world, writers=1)
    world.allow(LoseRequest("*", times_max=2))


def picking(world: World) -> None:
    """One picks what to write, and another writes the same note."""

    async def pick(client: Client) -> None:
        color = client.pick("color", ("white", "black"))
        await client.update(Note("n").saying(color=color), whatever_it_was=True)

    async def write(client: Client) -> None:
        await client.update(Note("n").saying(color="red"), whatever_it_was=True)
        await client.sleep(10)
        client.record("seen", color=(await client.get(Note, "n")).data["color"])

    world.add(Note("n"))
    world.start(Puppet("alpha", pick), Puppet("beta", write))


SMALL: list[tuple[Scenario, dict[str, Any], int | None]] = [
    (find("lost_update"), {}, None),
    (find("lost_update"), {"guard": "on"}, None),
    (of(crashing, "crashing"), {}, 1),
    (of(losing, "losing"), {}, None),
    (find("tug_of_war"), {"guard": "on"}, None),
    (find("two_defaults"), {}, None),
    (of(picking, "picking"), {}, None),
]
LARGE: list[tuple[Scenario, dict[str, Any], int | None]] = [
    (find("late_short_write"), {}, None),
    (find("double_bind"), {}, None),
]


def named(each: list[tuple[Scenario, dict[str, Any], int | None]]) -> list[Any]:
    """They, to be parametrized by."""
    return [
        pytest.param(*one, id=" ".join([one[0].name, *(f"{k}={v}" for k, v in one[1].items())]))
        for one in each
    ]


@cache
def known(recipe_name: str, guard: str) -> StateMap:
    """The map of a scenario that comes along, made once."""
    return map_of(find(recipe_name), {"guard": guard})


@pytest.mark.parametrize(("recipe", "switches", "faults_max"), named(SMALL))
def test_a_path_comes_to_the_end_that_the_map_says(
    recipe: Scenario, switches: Mapping[str, Any], faults_max: int | None
) -> None:
    """Played by the words of its moves, a path has in each state the moves that the map has there,
    whatever way led there first, and ends with the verdict of the map."""
    found = map_of(recipe, switches, faults_max=faults_max)
    played = 0
    for path in some_paths(found, 40):
        walk(recipe, found, path, switches, faults_max)
        played += 1
    assert played


@pytest.mark.long
@pytest.mark.parametrize(("recipe", "switches", "faults_max"), named([*SMALL, *LARGE]))
def test_every_path_comes_to_the_end_that_the_map_says(
    recipe: Scenario, switches: Mapping[str, Any], faults_max: int | None
) -> None:
    """All paths that come to no state twice, 5,000 of them at most; and as many random ones."""
    found = map_of(recipe, switches, faults_max=faults_max)
    played = 0
    for paths in (every_path(found, PATHS_MAX), some_paths(found, PATHS_MAX)):
        for path in paths:
            walk(recipe, found, path, switches, faults_max)
            played += 1
    sys.stdout.write(f"{recipe.name}: {found.states} states, {played} paths\n")


@pytest.mark.parametrize(("recipe", "switches", "faults_max"), named(SMALL))
def test_the_complete_search_knows_the_same_ends(
    recipe: Scenario, switches: Mapping[str, Any], faults_max: int | None
) -> None:
    """Neither has an end that the other has not: outcome, why, claims, and what was found."""
    assert agreed(recipe, switches, faults_max=faults_max).ends


@pytest.mark.long
@pytest.mark.parametrize(("recipe", "switches", "faults_max"), named(LARGE[:-1]))
def test_the_complete_search_knows_the_same_ends_of_larger_ones(
    recipe: Scenario, switches: Mapping[str, Any], faults_max: int | None
) -> None:
    """The same of maps with some hundred states; of the last one there are too many classes."""
    assert agreed(recipe, switches, faults_max=faults_max).ends


def test_a_lost_update_has_few_states() -> None:
    """Two writers: 252 Runs, and the states they pass are some tens. Both ways to lose a name are
    there, and the guarded ones lose none."""
    found = known("lost_update", "off")
    assert found.states < 100
    assert found.unlike == 0
    assert [end.outcome for end in found.ends] == ["held", "violated", "violated"]
    assert {end.outcome for end in known("lost_update", "on").ends} == {"held"}


def test_the_calm_way_is_the_shortest_to_the_calm_end() -> None:
    """From the start, each state by the first move of the one before; and a race needs another
    move than the calm one, once."""
    found = known("lost_update", "off").as_dict()
    calm, race, _ = [end["shortest"] for end in found["ends"]]
    for before, after in pairwise(calm):
        assert found["states"][before]["next"][0][1] == after
    others = 0
    for before, after in pairwise(race):
        moves = [to for _, to in found["states"][before]["next"]]
        assert after in moves
        others += moves[0] != after
    assert others == 1


def test_it_says_what_is_there_and_what_each_believes() -> None:
    """Where beta has read the list that alpha has signed since, it still believes the old one."""
    found = known("lost_update", "off").as_dict()
    versions, sets = found["versions"], found["sets"]
    assert found["lanes"] == ["alpha", "beta"]

    def said(index: int) -> list[str]:
        return [versions[version]["said"] for version in sets[index]]

    pairs = {
        (tuple(said(state["truth"])), tuple(said(state["beliefs"][1]))) for state in found["states"]
    }
    assert (("signed alpha",), ("empty",)) in pairs
    assert (("signed alpha",), ()) in pairs, "before it has read, it believes nothing"
    stale = [v for v in versions if not v["rv"]]
    assert stale, "what is no more is marked as older"


def test_moves_are_said_in_words() -> None:
    """What a student reads."""
    moves = {move["said"]: move["kind"] for move in known("lost_update", "off").as_dict()["moves"]}
    assert moves["alpha's update of notes/default/list takes effect"] == "effect"
    assert moves["the answer to its get of notes/default/list reaches beta"] == "answer"
    assert moves["alpha starts"] == "own"


def test_a_fault_is_a_move_also_at_rest() -> None:
    """A writer may crash while nothing else can happen: the state has an end, and moves."""
    found = map_of(of(crashing, "crashing"), faults_max=1).as_dict()
    faults = [n for n, move in enumerate(found["moves"]) if move["kind"] == "fault"]
    assert {found["moves"][n]["said"] for n in faults} == {"alpha crashed", "beta crashed"}
    at_rest = [state for state in found["states"] if state["end"] >= 0 and state["next"]]
    assert all(move in faults for state in at_rest for move, _ in state["next"])


def test_a_fault_that_the_scenario_allows_itself_is_no_other_one() -> None:
    """A race file names it as well; it may strike as often as the scenario says."""
    recipe = of(losing, "losing")
    own = [each.fault for each in recipe.world()._allowed]
    assert own
    assert map_of(recipe, faults=own).as_dict() == map_of(recipe).as_dict()


def test_no_fault_strikes_if_none_is_wanted() -> None:
    """With `faults_max=0` the map is that of the World without faults, and says so."""
    found = map_of(of(crashing, "crashing"), faults_max=0)
    assert found.states == known("lost_update", "off").states
    assert "At most 0 faults of 1 in one Run." in found.bounds


def test_a_pick_is_a_state_of_its_own() -> None:
    """Both alternatives are moves, and both colors are seen in the end."""
    found = map_of(of(picking, "picking")).as_dict()
    picks = {move["said"] for move in found["moves"] if move["kind"] == "pick"}
    assert picks == {"alpha picks white for color", "alpha picks black for color"}


def test_a_breach_ends_a_run_unless_the_world_goes_on() -> None:
    """So the end says either that it was violated, or how the whole Run has ended."""

    def is_unsigned(see: Evidence) -> str | None:
        note: Any = see.store.peek("notes/default/list")
        return "it is signed" if note.value.data["signed"] else None

    def going_on(world: World, *, goes_on: bool = False) -> None:
        find("lost_update").build(world, writers=1)
        world.claim(always(is_unsigned))
        world.goes_on = goes_on

    recipe = of(going_on, "going on")
    for switch, why in (("off", "violated"), ("on", "quiet")):
        found = map_of(recipe, {"goes_on": switch})
        assert [(end.outcome, end.why) for end in found.ends] == [("violated", why)]
        for path in every_path(found, PATHS_MAX):
            walk(recipe, found, path, {"goes_on": switch})


def test_a_world_that_is_too_large_has_no_map() -> None:
    """No part of a map is called a map; the text says what to do."""
    found = try_to_map(find("lost_update"), {"writers": 3}, states_max=100)
    assert isinstance(found, NoMap)
    assert found.said.startswith("lost_update has more than 100 states (")
    assert "Next: " in found.said
    assert state_map(find("lost_update"), {"writers": 3}, states_max=100) is None


def test_a_world_in_which_two_share_what_can_change_has_no_map() -> None:
    """As no search of it is complete: what is in their list is in no state."""

    def build(world: World) -> None:
        seen: list[str] = []

        async def run(client: Client) -> None:
            seen.append(client.name)
            await client.create(Note(f"{client.name}-{len(seen)}"))

        world.start(Puppet("a", run), Puppet("b", run))

    with pytest.raises(ScenarioError, match=r"a and b share .* so no search of .* is complete"):
        state_map(of(build))


def test_a_map_that_takes_too_much_work_is_given_up() -> None:
    """All its Runs have so many turns together, and no more; what was enough changes nothing. A
    single long Run does not pass the limit either."""
    recipe = find("lost_update")
    asked = state_map(recipe)
    assert asked is not None
    turns_max = bisect_left(
        range(2_000), 1, key=lambda n: isinstance(try_to_map(recipe, turns_max=n), StateMap)
    )
    enough, less = (try_to_map(recipe, turns_max=n) for n in (turns_max, turns_max - 1))
    assert isinstance(enough, StateMap)
    assert enough.as_dict() == asked.as_dict()
    assert less == NoMap(f"a map of lost_update takes more than {turns_max - 1} turns.")

    async def count_on(client: Client) -> None:
        for number in range(1_000_000):
            played.append(number)
            await client.update(Note("n").saying(number=str(number)), whatever_it_was=True)

    def counting(world: World) -> None:
        world.add(Note("n"))
        world.start(Puppet("alpha", count_on))

    played: list[int] = []
    assert isinstance(try_to_map(of(counting, "counting"), turns_max=200), NoMap)
    assert len(played) < 200


def test_progress_is_told() -> None:
    """How many states, Runs, and moves that are still to be tried."""
    told: list[tuple[int, int, int]] = []
    state_map(find("lost_update"), progress=lambda *figures: told.append(figures))
    assert told[-1] == (known("lost_update", "off").states, len(told), 0)


CODE = """
import hashlib, json, sys
from testbed.maps.mapping import state_map
from testbed.world.scenario import find
names = ("lost_update", "two_defaults")
found = [state_map(find(name), {"guard": "on"}).as_dict() for name in names]
print(hashlib.sha256(json.dumps(found).encode()).hexdigest())
"""


def test_a_map_has_the_same_bytes_in_each_process() -> None:
    """Under two hash seeds, and with Hypothesis loaded here, which the others are without."""
    found = []
    for seed in ("1", "random"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        played = subprocess.run(
            [sys.executable, "-c", CODE], env=env, cwd=ROOT, capture_output=True, text=True,
            check=True, timeout=300,
        )  # fmt: skip
        found.append(played.stdout)
    assert len(set(found)) == 1


def test_its_json_is_small() -> None:
    """3 MB at most for 2,000 states: so at most 1,500 bytes for each."""
    found = known("lost_update", "on")
    size = len(json.dumps(found.as_dict(), separators=(",", ":")))
    assert size < 1_500 * found.states
