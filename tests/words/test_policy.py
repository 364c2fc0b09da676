"""Policy: what a user hands over serves by its name where a switch says so, and nowhere else."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from testbed import policy
from testbed.choosers.calm import Calm
from testbed.cli import main
from testbed.errors import ScenarioError, UnknownName
from testbed.testing.run import play
from testbed.world.scenario import of
from tests.each_row import each_row
from tests.shared.brushes import PAINTER, Brush, painting

PAINTING = of(painting)
MINE = """
    import attrs
    from testbed import Actor
    from tests.shared.brushes import Brush

    class Fan(Brush):
        "One of my own."

    @attrs.frozen
    class Robot(Actor):
        tint: str = "grey"
        speed: int = 7

        async def run(self, client):
            client.record("sprays", tint=self.tint, speed=self.speed, first=client.switches.first)

    class Greedy(Brush):
        def __init__(self, wanted):
            self.wanted = wanted
    """


@pytest.fixture(autouse=True)
def _nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test hands over is forgotten after it."""
    monkeypatch.setattr(policy, "_OWN", {})


@pytest.fixture
def mine(own: Path) -> Path:
    """A file of the user's own policies, in the current folder."""
    (own / "mine.py").write_text(dedent(MINE))
    return own / "mine.py"


def records(**switches: str) -> list[tuple[str, dict[str, Any]]]:
    """What its painter has told."""
    run = play(PAINTING, Calm(), switches={f"painter.{k}": v for k, v in switches.items()})
    return [(each.name, each.facts) for each in run.world.table.records]


# -- what serves ----------------------------------------------------------------------------------


@each_row(
    ("said", "names"),
    [
        ("built_in", ["Broad", "Fine"]),
        ("+Fan", ["Broad", "Fine", "Fan"]),
        ("-Broad", ["Fine"]),
        ("-Broad,+Fan", ["Fine", "Fan"]),
        ("+Fan,-Broad", ["Fine", "Fan"]),
        ("Fan", ["Fan"]),
        ("Fan,Fine", ["Fine", "Fan"]),
        ("+Fine", ["Broad", "Fine"]),
        ("+Old,+Fan", ["Broad", "Fine", "Old", "Fan"]),
        ("Fan,Old", ["Old", "Fan"]),
        ("-Broad,-Fine", []),
    ],
)
def test_parts_are_added_taken_out_or_named_all(mine: Path, said: str, names: list[str]) -> None:
    """What is built in keeps its order, and one's own stands behind it; the trace shows it."""
    policy.load(mine)
    assert records(brushes=said) == [("paints", {"with_": names})]
    world = PAINTING.world({"painter.brushes": said})
    assert world.in_force.flat()["painter.brushes"] == said


def test_an_actor_of_ones_own_stands_in_for_another(mine: Path) -> None:
    """Under its name, with those of its settings that it has too, and with its switches. Of one
    actor, or of all of a make."""
    policy.load(mine)
    facts = {"tint": "blue", "speed": 7, "first": "Fan"}
    assert records(painter="Robot", first="Fan") == [("sprays", facts)]
    world = PAINTING.world({"alpha.painter": "Robot"})
    assert type(world.table.roles["alpha"].factory()).__name__ == "Robot"
    assert world.in_force.flat()["painter.painter"] == "Robot"


def test_a_class_can_be_handed_over_in_python() -> None:
    """One that has no name is called by its own; to hand it over twice is nothing."""

    class Flat(Brush):
        """One more."""

    policy.use(Flat)
    policy.use(Flat)
    assert records(brushes="+Flat") == [("paints", {"with_": ["Broad", "Fine", "Flat"]})]
    assert policy.files() == [str(Path(__file__).resolve())] or policy.files() == [
        str(Path(__file__).resolve().relative_to(Path.cwd()))
    ]


def test_what_is_no_longer_loaded_is_known_no_more(mine: Path) -> None:
    """Also where another file of that name is loaded in its place."""
    policy.load(mine)
    assert [*policy.own()] == ["Fan", "Robot", "Greedy"]
    del sys.modules["mine"]
    assert policy.own() == {}
    assert policy.words() == []
    mine.write_text("class Other: pass\n")
    policy.load(mine)
    assert [*policy.own()] == ["Other"]


# -- mistakes -------------------------------------------------------------------------------------


@each_row(
    ("switch", "said"),
    [
        (
            "brushes=+Fun",
            "there is no brush 'Fun'. Did you mean 'Fan'?\nKnown: Broad, Fan, Fine, Greedy, Old.",
        ),
        ("brushes=+Robot", "Robot of mine is no brush: expected a subclass of Brush.\nNext: "),
        ("first=+Fan", "there is no brush '+Fan'"),
        ("first=", "there is no brush ''"),
        ("brushes=+Fan,", "there is no brush ''"),
        ("brushes=+Greedy", "Greedy of mine cannot be made: missing a required argument: 'wanted'"),
        ("painter=Fan", "Fan of mine is no painter: expected an Actor"),
    ],
)
def test_what_cannot_serve_is_told(mine: Path, switch: str, said: str) -> None:
    """With the nearest name, or what was expected."""
    policy.load(mine)
    name, _, value = switch.partition("=")
    with pytest.raises((UnknownName, ScenarioError)) as refused:
        records(**{name: value})
    assert said in str(refused.value)
    assert "Next: " in str(refused.value)


def test_a_name_alone_is_never_imported(mine: Path) -> None:
    """The error says how the file is named; nothing was run for it."""
    with pytest.raises(UnknownName, match=r"Next: .* --policy FILE.py"):
        PAINTING.check({"painter.brushes": "+Fan"})
    assert "mine" not in sys.modules


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("absent.py", None, "--policy absent.py: expected a Python file"),
        ("mine.txt", "", "--policy mine.txt: expected a Python file"),
        ("my-own.py", "", "--policy my-own.py: expected a Python file"),
        (
            "empty.py",
            "from tests.shared.brushes import Brush",
            "--policy empty.py: no class stands in it",
        ),
        ("json.py", "class A: pass", "another module is called 'json'"),
        ("colorsys.py", "class A: pass", "another module is called 'colorsys'"),
        ("click.py", "class A: pass", "another module is called 'click'"),
        ("half.py", "class A(", "cannot be imported: SyntaxError"),
        ("quits.py", "raise SystemExit(0)", "cannot be imported: SystemExit"),
        ("same.py", "class Fan: pass", "two policies are called 'Fan': one of mine, one of same"),
    ],
)
def test_a_file_that_cannot_be_used_is_told(
    mine: Path, name: str, text: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And leaves nothing behind; also where the current folder comes before all others."""
    monkeypatch.syspath_prepend("")
    policy.load(mine)
    if text is not None:
        Path(name).write_text(text)
    before = policy.words()
    with pytest.raises(ScenarioError) as refused:
        policy.load(name)
    assert said in str(refused.value)
    assert "\nNext: " in str(refused.value)
    assert policy.words() == before == ["--policy", "mine.py"]
    assert not {"half", "quits"} & {*sys.modules}


def test_a_name_that_is_built_in_is_nobody_elses(own: Path) -> None:
    """It would never serve."""
    Path("mine.py").write_text("from tests.shared.brushes import Brush\nclass Fine(Brush): pass\n")
    policy.load("mine.py")
    with pytest.raises(ScenarioError, match="brush 'Fine' is built in, and one of mine is called"):
        PAINTING.check({"painter.brushes": "+Fine"})


# -- a chain --------------------------------------------------------------------------------------

CHAIN = policy.Chain(
    (), None, "brush", "a subclass of Brush", ("bristles",), ("Broad", "Any"), last=("Any",)
)  # fmt: skip


@each_row("said", ["Broad", "Fan", "Fan,Broad", "Broad,Fan,Any"])
def test_a_chain_names_its_links_in_order(mine: Path, said: str) -> None:
    """Those that come with the component, and one's own."""
    policy.load(mine)
    assert CHAIN.parse(said) == said
    assert str(CHAIN) == "Broad, Any, one of your own, or a chain such as Theirs,Mine"


@each_row(
    ("said", "told"),
    [
        ("built_in", "there is no brush 'built_in'"),
        ("+Fan", "there is no brush '+Fan'. Did you mean 'Fan'?"),
        ("-Broad", "there is no brush '-Broad'. Did you mean 'Broad'?"),
        ("", "there is no brush ''"),
        ("Robot", "Robot of mine is no brush"),
        ("Fan,Broad,Fan", "'Fan' stands there twice.\nNext: say Fan,Broad."),
        ("Fan,Any,Broad", "nothing is left behind 'Any'.\nNext: say Fan,Any."),
    ],
)
def test_a_chain_that_could_not_be_one_is_told(mine: Path, said: str, told: str) -> None:
    """A link is not added to others or taken from them; each stands there once."""
    policy.load(mine)
    with pytest.raises((UnknownName, ScenarioError)) as refused:
        CHAIN.parse(said)
    assert told in str(refused.value)


# -- on the command line --------------------------------------------------------------------------


@pytest.fixture
def shop(mine: Path) -> str:
    """A scenario of the user's own, with the options that name what it takes."""
    (mine.parent / "shop.py").write_text(
        dedent("""
        from testbed import quiescent
        from tests.shared.brushes import painting

        def nobody_sprays(see):
            return "sprayed" if any(r.name == "sprays" for r in see.records) else None

        def somebody_works(see):
            return None if see.records else "nobody did"

        def shop(world, *, guard=False):
            painting(world)
            world.claim(quiescent(nobody_sprays, reads=()), quiescent(somebody_works, reads=()))
        """)
    )
    return "shop:shop"


def test_each_command_loads_what_it_is_given_and_says_it_again(
    shop: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And every line to paste names the file; a search plays it in worker processes, too."""

    def said(code: int, *words: str) -> str:
        assert main([*words]) == code, capsys.readouterr().err
        return capsys.readouterr().out

    own = ["--policy", "mine.py"]
    switch = ["--switch", "alpha.painter=Robot"]
    out = said(1, "run", shop, *own, *switch, "--trace", "a.jsonl")
    assert out.endswith("Recorded: testbed replay a.jsonl --scenario shop:shop --policy mine.py\n")
    out = said(1, "run", shop, *own, *switch)
    assert out.endswith(f"Again: testbed run {shop} {' '.join(switch)} --policy mine.py\n")
    out = said(1, "search", shop, *own, *switch, "--jobs", "2", "--runs", "9")
    lines = [line for line in out.splitlines() if "testbed " in line]
    assert lines
    assert all("--policy mine.py" in line for line in lines)
    (found,) = Path("races").iterdir()
    asked = [str(found), "--scenario", shop, *own]
    assert "--policy mine.py" in said(1, "replay", *asked)
    said(0, "check", *asked)
    said(1, "explain", *asked)
    assert "--policy mine.py" in said(1, "keep", *asked)
    fan = ["--switch", "painter.brushes=+Fan"]
    out = said(1, "sweep", shop, "--fault", "crash", *own, *fan)
    assert "--policy mine.py --out races" in out
    said(1, "replay", "a.jsonl", "--scenario", shop, *own)


@pytest.mark.parametrize("command", ["replay", "check", "explain", "keep"])
def test_a_race_file_that_names_a_policy_needs_the_file(
    command: str, shop: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told with its line, and what to say."""
    Path("a.race.yaml").write_text(
        "scenario: shop:shop\nswitches: {alpha.painter: Robot}\nexpect: {violates: nobody_sprays}\n"
    )
    code = main([command, "a.race.yaml", "--scenario", shop])
    assert code == 2
    done = capsys.readouterr()
    assert "a.race.yaml, line 2: " in done.err + done.out
    assert "--policy FILE.py" in done.err + done.out


def test_a_ledger_knows_the_text_of_a_policy(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Another text is another search."""
    words = ["search", shop, "--policy", "mine.py", "--switch", "painter.brushes=+Fan"]
    words += ["--ledger", "night.ledger", "--runs", "3", "--resume"]
    assert main(words) == 0
    assert main(words) == 0
    path = Path("mine.py")
    path.write_text(path.read_text() + "\n# Changed.\n")
    capsys.readouterr()
    assert main(words) == 2
    assert "it is of another search: the source of mine was " in capsys.readouterr().err


def test_what_is_listed_says_how_a_part_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """For a switch that names one, and one that names several."""
    kinds = {name: str(kind) for name, kind in PAINTER.kinds.items()}
    assert kinds["painter"] == "built_in, or a painter of your own"
    assert kinds["brushes"].startswith("built_in, +Mine, -Theirs or Theirs,Mine: ")
    assert json.dumps(PAINTER.flat(PAINTER.of())) == json.dumps(dict.fromkeys(kinds, "built_in"))
