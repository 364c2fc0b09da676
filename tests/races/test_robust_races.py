"""A race file outlives its code: it shows the same after an actor was edited beside the point.

The source of a scenario is edited as text and imported as another module: an extra read of another
object before each operation, an extra record after it, a local that is called something else.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import attrs
import pytest

import testbed
from testbed.choosers.uniform import Uniform
from testbed.races.playing import play, race_of
from testbed.races.race import Race
from testbed.races.racefile import parse
from testbed.races.shrink import shrink
from testbed.world.scenario import Scenario, find, of

SCENARIOS = Path(testbed.__file__).parent.parent / "scenarios"
NAMES = ("lost_update", "late_short_write", "double_bind")
ASKS = r"client\.(get|list|update|ask)|self\.bind|until_told"
AWAIT = re.compile(rf"^( *)(?=.*await ({ASKS})\()", re.MULTILINE)
RACES = 50
PEEK = """

async def peek(client):
    from testbed.errors import NotFound
    from testbed.objects import Note
    try:
        await client.get(Note, "nothing-of-the-kind")
    except NotFound:
        return
"""
LOCALS = {
    "note": "sheet", "names": "signers", "signed": "sheet_now", "at": "since", "total": "amount",
    "number": "count", "meta": "about", "news": "inbox", "bound": "done",
    "cache": "view", "mine": "own_ones", "name": "called",
}  # fmt: skip


def reads_more(text: str) -> str:
    """Before each operation another object is looked for, which is not there."""
    return AWAIT.sub(r"\1await peek(client)\n\1", _without_ifs(text)) + PEEK


def records_more(text: str) -> str:
    """Before each operation there is a line for the log."""
    return AWAIT.sub(r'\1client.record("about_to_ask")\n\1', _without_ifs(text))


def renames(text: str) -> str:
    """Each local of a task has another name."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.AsyncFunctionDef):
            for name in ast.walk(node):
                if isinstance(name, ast.Name):
                    name.id = LOCALS.get(name.id, name.id)
    return ast.unparse(tree)


def _without_ifs(text: str) -> str:
    """An `if await …` as two lines, so that another fits between them."""
    return re.sub(r"^( *)if (await self\.bind\(.*\)):$", r"\1ok = \2\n\1if ok:", text, flags=re.M)


EDITS: dict[str, Callable[[str], str]] = {
    "an-extra-read": reads_more,
    "an-extra-record": records_more,
    "renamed-locals": renames,
}
SIGNS = {"an-extra-read": "await peek(client)", "an-extra-record": "about_to_ask"}


@pytest.fixture(params=EDITS)
def edited(request: pytest.FixtureRequest, own: Path) -> dict[str, Scenario]:
    """The scenarios after the edit, by name."""
    sys.path.insert(0, str(own))
    found = {}
    for name in NAMES:
        (file,) = SCENARIOS.glob(f"*/{name}.py")
        text = file.read_text(encoding="utf-8")
        new = EDITS[request.param](text)
        signs = [SIGNS[request.param]] if request.param in SIGNS else [*LOCALS.values()]
        assert sum(new.count(sign) - text.count(sign) for sign in signs) >= 2, new
        (own / f"edited_{name}.py").write_text(new, encoding="utf-8")
        module = importlib.import_module(f"edited_{name}")
        found[name] = of(getattr(module, name), name)
    return found


@cache
def found_races(shrunk: bool) -> list[Race]:
    """Races of random Runs that were violated."""
    races: list[Race] = []
    for seed, name in product(range(400), NAMES):
        recipe = find(name)
        world = recipe.world()
        if not world.run(Uniform(seed), driver="direct").is_violated:
            continue
        choices = world.trace.choices
        race = race_of(recipe, {}, choices)
        if shrunk:
            race = shrink(race, recipe).race
        races.append(attrs.evolve(race, expect=()))
        if len(races) == RACES:
            return races
    raise AssertionError(f"only {len(races)} races")


@pytest.mark.parametrize(
    "shrunk", [pytest.param(True, marks=pytest.mark.long), False], ids=["shrunk", "as-found"]
)
def test_a_race_shows_the_same_after_an_edit_beside_the_point(
    edited: dict[str, Scenario], shrunk: bool
) -> None:
    """Fifty races of random Runs, as files: each is violated as before."""
    lost = []
    for race in found_races(shrunk):
        assert parse(race.text(), "a.race.yaml") == race
        before, after = (play(race, r) for r in (find(race.scenario), edited[race.scenario]))
        assert before.verdict.is_violated
        if [v.invariant for v in after.verdict.violations] != [
            v.invariant for v in before.verdict.violations
        ]:
            lost.append(race.text())
    assert lost == []
