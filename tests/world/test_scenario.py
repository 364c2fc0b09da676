"""Scenario: how one is found, what its switches may be, and how many Runs of it are played."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.errors import HarnessError, ScenarioError, UnknownName
from testbed.faults.crash import Crash
from testbed.objects import Note
from testbed.turns.found import Found
from testbed.turns.happening import Happening
from testbed.world.lap_proof import breach_by_lap
from testbed.world.scenario import Switch, find, known, of, play_runs
from testbed.world.users_code import standing_at
from testbed.world.world import World
from tests.each_row import each_row


def made_up(world: World, *, guard: bool = False, pods: int = 3, mode: str = "plain") -> None:
    """Three kinds of switch.

    And more to say.
    """
    for number in range(pods):
        world.add(Note(f"{mode}-{number}-{guard}"))


MADE_UP = of(made_up, "made_up")


# -- switches -------------------------------------------------------------------------------------


def test_the_keywords_of_a_function_are_its_switches() -> None:
    """Name, default and kind of each; the first line of its docstring is its title."""
    assert MADE_UP.switches == {
        "guard": Switch("guard", False, bool),
        "pods": Switch("pods", 3, int),
        "mode": Switch("mode", "plain", str),
    }
    assert {name: switch.shown for name, switch in MADE_UP.switches.items()} == {
        "guard": "off", "pods": 3, "mode": "plain",
    }  # fmt: skip
    assert MADE_UP.title == "Three kinds of switch."
    assert of(made_up).name == f"{__name__}:made_up"


@each_row(
    ("given", "value"),
    [
        ({}, (False, 3, "plain")),
        ({"guard": "on", "pods": "-4", "mode": "on"}, (True, -4, "on")),
        ({"guard": "TRUE", "pods": 7, "mode": ""}, (True, 7, "")),
        ({"guard": "off"}, (False, 3, "plain")),
        ({"guard": True}, (True, 3, "plain")),
    ],
)
def test_a_switch_is_read_as_the_kind_of_its_default(
    given: dict[str, Any], value: tuple[Any, ...]
) -> None:
    """on, off, true and false; whole numbers; any text. What is of that kind already is taken."""
    assert tuple(MADE_UP.values(given).values()) == value


@each_row(
    ("given", "said"),
    [
        ({"guard": "yes"}, "switch guard=yes: expected on or off.\nNext: say --switch guard=off"),
        ({"guard": ""}, "switch guard=: expected on or off"),
        ({"guard": 1}, "switch guard=1: expected on or off"),
        (
            {"pods": "three"},
            "switch pods=three: expected a whole number.\nNext: say --switch pods=3",
        ),
        ({"pods": "--5"}, "switch pods=--5: expected a whole number"),
        ({"pods": "1.5"}, "switch pods=1.5: expected a whole number"),
        ({"pods": "9" * 5000}, "expected a whole number"),
        ({"pods": "²"}, "expected a whole number"),
        ({"pods": True}, "switch pods=True: expected a whole number"),
        ({"pods": [3]}, "switch pods=[3]: expected a whole number"),
        ({"mode": 5}, "switch mode=5: expected a text"),
    ],
)
def test_a_switch_of_another_kind_is_refused(given: dict[str, Any], said: str) -> None:
    """With what was given, what was expected, and what would do."""
    with pytest.raises(ScenarioError, match=re.escape(said)):
        MADE_UP.values(given)


def test_an_unknown_switch_is_refused() -> None:
    """With the nearest name, all names, and where to look."""
    with pytest.raises(UnknownName) as unknown:
        MADE_UP.world({"gaurd": "on"})
    assert str(unknown.value) == (
        "there is no switch of made_up 'gaurd'. Did you mean 'guard'?\n"
        "Known: guard, mode, pods.\n"
        "Next: testbed list shows the switches of each scenario"
    )


def test_the_switches_in_force_stand_in_the_world() -> None:
    """Given and default ones, as a user would write them: so they stand in its trace."""
    world = MADE_UP.world({"guard": "true"})
    assert world.switches == {"guard": "on", "pods": 3, "mode": "plain"}
    assert world.scenario == "made_up"
    assert world.store.peek("notes/default/plain-0-True") is not None


# -- what is a scenario ---------------------------------------------------------------------------


def no_world() -> None:
    """Nothing to assemble."""


def two_worlds(world: World, other: World) -> None:
    """Too much."""


def any_worlds(*worlds: World) -> None:
    """As many as you like."""


def any_switches(world: World, **switches: bool) -> None:
    """Whatever."""


def a_switch_without_default(world: World, *, guard: bool) -> None:
    """Must be said."""


def a_switch_of_none(world: World, *, guard: bool | None = None) -> None:
    """Neither on nor off."""


async def awaiting(world: World) -> None:
    """Assembles nothing when called."""


def yielding(world: World) -> Any:
    """Nor does this."""
    yield world


@each_row(
    ("build", "said"),
    [
        (no_world, r":no_world\(\) -> 'None' is no scenario: expected one World and keyword swi"),
        (two_worlds, r":two_worlds\(world: 'World', other: .*Next: write it as `def name\(world"),
        (any_worlds, r":any_worlds\(.*is no scenario"),
        (any_switches, r":any_switches\(.*is no scenario"),
        (a_switch_without_default, r"the switch 'guard' needs a default that is True, False, a wh"),
        (a_switch_of_none, r":a_switch_of_none: the switch 'guard' .*\nNext: write `guard=False`"),
        (awaiting, r":awaiting assembles nothing .*\nNext: write it as `def`, without `async`"),
        (yielding, r":yielding assembles nothing when it is called: expected a plain function"),
    ],
)
def test_what_is_no_scenario_is_refused(build: Callable[..., None], said: str) -> None:
    """With its place, what a scenario is, and how to write one."""
    with pytest.raises(ScenarioError, match=re.compile(said, re.DOTALL)):
        of(build)


# -- finding one ----------------------------------------------------------------------------------


def test_the_known_scenarios_have_short_names() -> None:
    """In order of names, each found by its own; each is a function of its module's name."""
    names = [scenario.name for scenario in known()]
    assert names == sorted(names)
    assert {
        "crash_and_resync", "double_bind", "late_bind", "late_short_write", "leader_overlap",
        "hostile_schedulers", "lost_update", "starvation", "stolen_slot",
        "time_travel", "tug_of_war", "twice_created", "two_defaults",
    } <= set(names)  # fmt: skip
    for scenario in known():
        assert find(scenario.name).build is scenario.build
        package, *_, module = scenario.build.__module__.split(".")
        assert (package, module) == ("scenarios", scenario.name)
        assert scenario.title.endswith(".")


def test_an_unknown_short_name_is_refused() -> None:
    """With the nearest name, and how to name one of one's own."""
    with pytest.raises(UnknownName) as unknown:
        find("lost_updat")
    said = str(unknown.value)
    assert said.startswith(
        "there is no scenario 'lost_updat'. Did you mean 'lost_update'?\nKnown: "
    )
    assert said.endswith("Next: testbed list, or name one of your own as FILE.py:function")


def test_one_of_ones_own_is_found_in_the_current_folder(own: Path) -> None:
    """As module:function, also within a package; its name is what was said."""
    (own / "mine").mkdir()
    (own / "mine/races.py").write_text("def race(world, *, guard=False): ...\n")
    scenario = find("mine.races:race")
    assert (scenario.name, list(scenario.switches)) == ("mine.races:race", ["guard"])


BROKEN = {
    "nothing.there:race": "the module 'nothing.there' cannot be imported: ModuleNotFoundError: No",
    ":race": "the module '' cannot be imported: ValueError: Empty module name",
    ".mine:race": "the module '.mine' cannot be imported: TypeError",
    "a_typo:race": "the module 'a_typo' cannot be imported: NameError: name 'wrold' is not",
    "a_gap:race": "line 1).\nNext: mend that line; docs/api.md and docs/objects.md say where",
    "half:race": "the module 'half' cannot be imported: SyntaxError: ",
    "exits:race": "the module 'exits' cannot be imported: SystemExit: 3",
    "good:rase": "there is no function or class of good 'rase'. Did you mean 'race'?\n"
    "Known: Thing, race.\nNext: name one of these, or write it there",
    "good:": "there is no function or class of good ''.\nKnown: Thing, race.",
    "good:number": "good:number is no scenario: expected a function of a World, found int 7.\n",
    "good:Thing": "good:Thing is no scenario: expected a function of a World, found type <class",
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_found_there_is_refused(name: str, own: Path) -> None:
    """With the name, the reason, and what to do: a module that fails in whatever way, a function
    that is not there, and something that is no function."""
    files = {
        "a_typo": "wrold = wrold\n",
        "a_gap": "from testbed.objects import Stall\n",
        "half": "def race(world\n",
        "exits": "raise SystemExit(3)\n",
        "good": "from re import match\nnumber = 7\nclass Thing: ...\ndef race(world): ...\n",
    }
    for module, text in files.items():
        (own / f"{module}.py").write_text(text)
    with pytest.raises(HarnessError) as refused:
        find(name)
    assert BROKEN[name] in str(refused.value)
    assert "\nNext: " in str(refused.value)


def test_an_error_of_ours_in_such_a_module_stays_what_it_is(own: Path) -> None:
    """A module that itself breaks a rule of the testbed says so in its own words."""
    text = """
        from testbed.world.scenario import find
        find("nowhere")
    """
    (own / "asks.py").write_text(dedent(text))
    with pytest.raises(UnknownName, match="there is no scenario 'nowhere'"):
        standing_at("asks:race")


# -- worlds and runs ------------------------------------------------------------------------------


def test_each_world_is_a_new_one() -> None:
    """Nothing of one is in the next."""
    one, other = MADE_UP.world(), MADE_UP.world()
    one.add(Note("more"))
    assert other.store.peek("notes/default/more") is None


def test_the_length_of_the_calm_run_is_asked_for_once() -> None:
    """It is played when somebody asks, for each setting of the switches, and remembered; a fault
    that is allowed is what makes uniform ask."""
    built: list[int] = []

    def build(world: World, *, pods: int = 1) -> None:
        built.append(pods)
        made_up(world, pods=pods)
        world.allow(Crash())

    scenario = of(build)
    for _ in range(3):
        scenario.world().run(Calm())
    assert built == [1, 1, 1]
    for _ in range(3):
        scenario.world().run(Uniform(0))
    assert built == [1] * 7
    scenario.world({"pods": 2}).run(Uniform(0))
    assert built == [*[1] * 7, 2, 2]


@each_row("driver", ["trio", "direct"])
def test_runs_are_played_until_somebody_has_seen_enough(driver: str) -> None:
    """Numbered from 0, each looked at when it has ended; no more than were asked for."""
    scenario = find("lost_update")
    seen: list[tuple[str, bool]] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        seen.append((world.verdict.chooser, bool(world.trace.items)))
        return len(seen) < 5

    def play(runs_max: int, *, keep: bool = False) -> int:
        seen.clear()
        return play_runs(scenario, Uniform(1), look, runs_max=runs_max, driver=driver, keep=keep)

    assert play(3) == 3
    assert seen == [(f"uniform, seed 1, run {number}", False) for number in range(3)]
    assert play(9) == 5
    assert play(1, keep=True) == 1
    assert seen == [("uniform, seed 1, run 0", True)]


def test_an_unknown_driver_is_refused() -> None:
    """With the nearest name and both names."""
    with pytest.raises(UnknownName, match=r"no driver 'tiro'. Did you mean 'trio'.*\nKnown: dir"):
        MADE_UP.world().run(Calm(), driver="tiro")


def test_the_lap_of_two_runs_alike_is_played_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two Runs with the same turns come to the same lap, and the second asks for no World more; one
    that also allows a crash does."""
    played: list[int] = []

    def noted(make: Callable[[], World], happened: Sequence[Happening], start: int) -> Found | None:
        played.append(start)
        return breach_by_lap(make, happened, start)

    monkeypatch.setattr("testbed.world.scenario.breach_by_lap", noted)
    recipe = find("tug_of_war")
    said = [recipe.world().run(Calm(), driver="direct").violations[0].said for _ in range(2)]
    assert said[0] == said[1]
    assert len(played) == 1
    recipe.world(faults=[Crash("*")]).run(Calm(), driver="direct")
    assert len(played) == 2
