"""testbed init: writes a scenario, an actor, a race file and a test to start from."""

from __future__ import annotations

import inspect
import shlex
from pathlib import Path

import attrs
import click

from testbed.cli.output import say
from testbed.cli.races import ENDINGS, write_new
from testbed.cli.show import EXIT_CODES, JSON, say_json
from testbed.code.files import read_text
from testbed.errors import ScenarioError
from testbed.races.expecting import pair_of
from testbed.testing.seek import seek
from testbed.world import shelf
from testbed.world.scenario import GUARD, Scenario, find

ACTOR = '''\
"""An actor: frozen settings, and a `run` that touches the world through its Client alone."""

import attrs
from testbed import Actor, Client
from testbed.errors import Conflict
from testbed.objects import Note


@attrs.frozen
class Buyer(Actor):
    """Buys from a shelf, if there is anything left on it."""

    guard: bool = False
    """Whether its update fails if the shelf has changed since it read, and it then reads again."""

    async def run(self, client: Client) -> None:
        while True:
            # At every `await` another actor may move first.
            shelf = await client.get(Note, "shelf")
            left = int(shelf.data["left"])
            if not left:
                return
            try:
                fewer = shelf.saying(left=str(left - 1))
                # Without the guard it overwrites what is there by now: that is the race.
                await client.update(fewer, whatever_it_was=not self.guard)
            except Conflict:
                continue
            # A record goes into the trace. Claims and stories read it; no actor can.
            client.record("bought")
            return
'''
SCENARIO = '''\
"""A scenario: objects, actors, a claim, and the guard that keeps the race away."""

from my_actor import Buyer
from testbed import Evidence, World, always
from testbed.objects import Map, Note


def nothing_is_sold_twice(see: Evidence) -> str | None:
    """A claim says what is wrong, or returns None."""
    buyers = [record.path for record in see.records if record.name == "bought"]
    return f"one thing, sold to {' and '.join(buyers)}" if len(buyers) > 1 else None


def last_one(world: World, *, guard: bool = False) -> None:
    """Two buyers reach for the last thing on a shelf."""
    world.add(Note("shelf", data=Map(left="1")))
    world.start(Buyer("alpha", guard=guard), Buyer("beta", guard=guard))
    # `always` is checked after every write and record, `quiescent` when nothing can move any more.
    world.claim(always(nothing_is_sold_twice))
'''
RACE = """\
# Beta looks at the shelf before alpha has taken the last thing off it.
scenario: my_scenario:last_one
holds:
  - hold: alpha update notes/default/shelf
    until: beta get notes/default/shelf
# Both sides of the pair: without the guard the race is lost, with it nothing is.
expect:
  - switches: {guard: off}
    violates: nothing_is_sold_twice
  - switches: {guard: on}
    holds: [nothing_is_sold_twice]
"""
TEST = '''\
"""Runs are pure functions of their choices, so Hypothesis can draw the choices and shrink them."""

import pytest
from hypothesis import given
from my_scenario import last_one
from testbed.strategies import fault_budgets, runs


@pytest.mark.parametrize("guard", ["off", "on"])
def test_the_textbook_run_holds(testbed_play, guard):
    """One after the other, nothing goes wrong: with the guard or without."""
    testbed_play(last_one, switches={"guard": guard}).must_hold()


@given(run=runs(last_one, switches={"guard": "on"}, faults=fault_budgets("crash")))
def test_with_the_guard_no_run_sells_it_twice(run):
    """Try "off": it fails, tells who did what, and leaves a race file in `.testbed/`."""
    run.must_hold()
'''
FILES = {
    "my_actor.py": ACTOR,
    "my_scenario.py": SCENARIO,
    "my_race.race.yaml": RACE,
    "test_my_scenario.py": TEST,
}
TRY = (
    "testbed run my_scenario:last_one",
    "testbed run my_scenario:last_one --seed 1 --trace race.jsonl",
    "testbed replay race.jsonl --scenario my_scenario:last_one --shrink",
    "testbed check my_race.race.yaml --scenario-path .",
    "python -m pytest test_my_scenario.py",
)
"""Commands to try in that folder, in this order."""


COPIED_PAIR = '''\
"""The race of {function}: found without the guard, and kept away by it."""

from {module} import {function}


def test_without_the_guard_the_race_is_found(testbed_search):
    """Edit the scenario until this fails, and you have mended it another way."""
    assert testbed_search({function}, runs=400, switches={{"guard": "off"}}).shrunk is not None


def test_with_the_guard_it_holds(testbed_search):
    """A search of as many Runs finds nothing."""
    testbed_search({function}, runs=400, switches={{"guard": "on"}}).must_hold()
'''
COPIED_ALONE = '''\
"""{function} holds, whatever is late."""

from {module} import {function}


def test_it_holds(testbed_search):
    """Edit the scenario until this fails, and you know what its claims are worth."""
    testbed_search({function}, runs=400).must_hold()
'''
RUNS_MAX = 400
"""How many Runs are played to find the race of a scenario that is copied and has no race file."""


@attrs.frozen
class Start:
    """The files to begin with, and what to try with them."""

    files: dict[str, str]
    lines: tuple[str, ...]


def names_of_copy(recipe: Scenario) -> tuple[str, str, str]:
    """The file of its copy, of the test, and of the race."""
    stem = f"my_{recipe.build.__name__}"
    return f"{stem}.py", f"test_{stem}.py", f"{stem}{ENDINGS[0]}"


def copied(recipe: Scenario) -> Start:
    """A scenario that comes along, as one of the user's own: its file, its race and a test."""
    name = recipe.name
    source = inspect.getsourcefile(recipe.build)
    if source is None or not shelf.theme_of(recipe):
        raise ScenarioError(
            f"--from {name}: it is your own already; expected one that `testbed list` shows.\n"
            "Next: testbed list"
        )
    function = recipe.build.__name__
    file, test_file, race_file = names_of_copy(recipe)
    module = file.removesuffix(".py")
    own = f"{module}:{function}"
    test = COPIED_PAIR if recipe.has_guard else COPIED_ALONE
    files = {
        file: read_text(source),
        test_file: test.format(module=module, function=function),
    }
    lines = [f"testbed show {file}:{function}", f"testbed search {file}:{function}"]
    if text := _race_text(recipe, own):
        files[race_file] = text
        lines.append(f"testbed check {race_file} --scenario-path .")
    return Start(files, (*lines, f"python -m pytest {test_file}"))


def _race_text(recipe: Scenario, own: str) -> str:
    """The race of a scenario that comes along, as one of the copy; empty if there is none."""
    if (file := shelf.race_file_of(recipe)) is not None:
        text = read_text(file)
        return text.replace(f"scenario: {recipe.name}\n", f"scenario: {own}\n", 1)
    if not recipe.has_guard:
        return ""
    shrunk = seek(recipe, runs=RUNS_MAX, switches={GUARD: "off"}).shrunk
    if shrunk is None:
        return ""
    both = pair_of(shrunk.race, recipe, "its race")
    return attrs.evolve(shrunk.race, scenario=own, expect=both).text()


@click.command("init", epilog=EXIT_CODES)
@click.argument("folder", default=".", metavar="[DIR]")
@click.option("--from", "name", metavar="NAME", help="Begin with a copy of this scenario.")
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(folder: str, name: str | None, as_json: bool) -> int:
    """Write an actor, a scenario, a race file and a test of your own into DIR, or into the current
    folder, each with comments; or with --from a copy of a scenario that `testbed list` shows, with
    its race and a test. No file is overwritten.
    """
    given = "" if name is None else f"--from {shlex.quote(name)} "
    elsewhere = f"testbed init {given}another-folder"
    root = Path(folder)
    recipe = None if name is None else find(name)
    names = FILES if recipe is None else names_of_copy(recipe)
    # Before a search: nobody waits for what is not written.
    clashes = [file for file in names if (root / file).exists()]
    if clashes:
        raise ScenarioError(
            f"{folder}: {', '.join(clashes)} {'is' if len(clashes) == 1 else 'are'} there already, "
            f"and nothing is written.\nNext: {elsewhere}"
        )
    start = Start(FILES, TRY) if recipe is None else copied(recipe)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ScenarioError(
            f"{folder}: cannot be made: {error.strerror}.\nNext: {elsewhere}"
        ) from error
    for file, text in start.files.items():
        write_new(root / file, text, elsewhere)
    go = [] if folder == "." else [f"cd {shlex.quote(folder)}"]
    if as_json:
        say_json({"folder": folder, "files": [*start.files], "next": [*go, *start.lines]})
        return 0
    say(f"Wrote {', '.join(start.files)}. Try, one after the other:")
    for line in (*go, *start.lines):
        say(f"  {line}")
    return 0
