"""`testbed sweep`: its table, its race files, its exit codes, and every error a user can reach."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from textwrap import dedent

import pytest

from testbed.cli import main
from testbed.races.playing import play
from testbed.races.racefile import load
from testbed.world.scenario import find

MINE = """
    from testbed import Actor, quiescent
    from testbed.objects import Note
    import attrs

    @attrs.frozen
    class Mover(Actor):
        async def run(self, client):
            await client.create(Note("taken"))
            await client.create(Note("given"))

    @attrs.frozen
    class Restless(Actor):
        async def run(self, client):
            while True:
                await client.sleep(1000 + client.now() % 2, "nap")

    def both_or_none(see):
        there = [see.store.peek(f"notes/default/{name}") is not None for name in ("taken", "given")]
        return None if there[0] == there[1] else "taken, and not given"

    def moves(world, *, guard=False):
        "Half of its work is left when it dies between two writes."
        world.start(Mover("alpha"))
        world.claim(quiescent(both_or_none))

    def endless(world):
        "Ends only at a limit."
        world.start(Restless("alpha"))
        world.limit(turns_max=4)
"""


@pytest.fixture
def mine(own: Path) -> str:
    """A scenario of one's own, in the current folder."""
    (own / "mine.py").write_text(dedent(MINE))
    return "mine:moves"


def swept(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> str:
    """What `testbed sweep` with these arguments prints, and that it exits so."""
    done = main(["sweep", *args])
    out, err = capsys.readouterr()
    assert done == code, out + err
    return out if code in (0, 1, 3) else err


def test_a_red_table_ends_with_the_line_that_writes_its_races(
    mine: str, own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two places at which half of the work is left; and the command it prints writes a race file
    of each, which, played, is violated by the same claim."""
    said = swept(capsys, mine, "--fault", "crash", code=1)
    assert said.startswith(
        dedent("""\
        actor  operation                   before        after         told
        alpha  create notes/default/taken  violated [1]  violated [2]  held
        alpha  create notes/default/given  held          held          ·

        crash: 4 runs for 5 places: 3 held, 2 violated.

        [1] alpha, before create notes/default/taken:
            both_or_none: taken, and not given (step 3, 0 ms)
        """)
    )
    *_, again = said.splitlines()
    assert again == (
        "Again, with a file of each: testbed sweep mine:moves --fault crash --out races"
    )
    written = swept(capsys, *shlex.split(again.partition(": testbed sweep ")[2]), code=1)
    files = sorted((own / "races").iterdir())
    assert [file.name for file in files] == [
        "moves-crash-01.race.yaml", "moves-crash-02.race.yaml",
    ]  # fmt: skip
    for file in files:
        race = load(str(file))
        assert len(race) == 1
        verdict = play(race, find(mine)).verdict
        assert [v.invariant for v in verdict.violations] == [race.expect[0].violates]
        name = f"races/{file.name}"
        assert f"Again: testbed replay {name} --scenario mine:moves --driver direct\n" in written


def test_a_table_without_red_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is violated, so there is nothing to paste; what all share has a column."""
    said = swept(capsys, "double_bind", "--fault", "crash", "--restart-ms", "0")
    assert said.endswith("\n\ncrash: 20 runs for 23 places: 23 held.\n")
    assert "delivery of pods/default/c  held    held   ·\n" in said
    said = swept(capsys, "lost_update", "--fault", "compact")
    assert said.splitlines()[:2] == [
        "actor  operation                  compact of  before  after  told",
        "alpha  get notes/default/list     store       held    held   held",
    ]


def test_what_reached_a_limit_is_undecided(mine: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A limit of the Run, or of the sweep; the text says which, and what to do about the latter."""
    said = swept(capsys, "mine:endless", "--fault", "stall", code=3)
    assert "5 undecided.\nUndecided: turns_max: 4 turns were played; alpha would " in said
    said = swept(capsys, "double_bind", "--fault", "crash", "--runs-max", "2", code=3)
    assert said.endswith("Left out: 21 places. Next: --runs-max 20\n")


def test_json_has_every_cell(mine: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One object: where each struck, what came of it, and of a red one the race and the line."""
    args = (mine, "--fault", "crash:alpha", "--switch", "guard=off", "--json")
    said = json.loads(swept(capsys, *args, code=1))
    assert {name: said[name] for name in ("runs", "left_out", "held", "violated", "undecided")} == {
        "runs": 4, "left_out": 0, "held": 3, "violated": 2, "undecided": 0,
    }  # fmt: skip
    assert said["fault"].items() >= {"word": "crash", "target": "alpha", "times_max": 1}.items()
    first = said["cells"][0]
    assert (first["when"], first["verdict"]) == ("before", "violated")
    assert first["race"].startswith('scenario: "mine:moves"\n')
    assert first["again"] == (
        "testbed sweep mine:moves --fault crash:alpha --switch guard=off --out races"
    )
    assert "race" not in said["cells"][-1]


def test_a_scenario_is_found_where_the_user_says(
    mine: str, own: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In another folder; the line that replays a race finds it there, too."""
    elsewhere = own / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    args = (mine, "--fault", "crash", "--scenario-path", str(own), "--out", "races")
    said = swept(capsys, *args, code=1)
    assert (
        f"Again: testbed replay races/moves-crash-01.race.yaml --scenario {own}/mine.py:moves"
        in said
    )


@pytest.mark.usefixtures("own")
def test_the_line_of_a_red_cell_plays_it_again(
    mine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it is printed; and what it shows is what the race file expects."""
    said = swept(capsys, mine, "--fault", "lose_reply", "--out", "races", code=1)
    again = [line.partition("Again: ")[2] for line in said.splitlines() if "Again: " in line]
    assert len(again) == 2
    for line in again:
        assert main(shlex.split(line)[1:]) == 1
        assert "\nAs expected. " in capsys.readouterr().out


def test_a_race_file_that_is_there_is_kept(
    mine: str, own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same race may be written again; another one is not written over."""
    args = (mine, "--fault", "crash", "--out", "races")
    assert swept(capsys, *args, code=1) == swept(capsys, *args, code=1)
    file = own / "races/moves-crash-02.race.yaml"
    file.write_text("mine")
    said = swept(capsys, *args, code=2)
    assert "races/moves-crash-02.race.yaml is there already" in said
    assert said.splitlines()[-1] == "Next: name a folder that is new."
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    ("args", "expected", "then"),
    [
        (
            ["--fault", "smash"],
            "there is no fault 'smash'. Did you mean",
            "Next: name one of these",
        ),
        (["--fault", "2*crash"], "a sweep strikes once", "Next: say --fault crash, "),
        (["--fault", "stall", "--with", "by_ms"], "expected a whole number", "Next: say by_ms=500"),
        (
            ["--fault", "stall", "--with", "for_ms=1"],
            "no setting of the fault stall",
            "Next: say one",
        ),
        (
            ["--fault", "stall", "--restart-ms", "1"],
            "no setting of the fault stall",
            "Known: ",
        ),
        (["--fault", "crash", "--out", "mine.py/x"], "cannot be written", "Next: name a folder"),
        (["--fault", "crash", "--driver", "tri"], "there is no driver", "Next: --driver"),
        (["--fault", "lag"], "can strike nowhere", "Next: testbed sweep mine:moves"),
        (["--fault", "crash", "--switch", "gard=on"], "no switch of mine:moves", "Next: "),
        ([], "Missing option '--fault'", "Error: "),
    ],
)
def test_every_mistake_is_told(
    mine: str, capsys: pytest.CaptureFixture[str], args: list[str], expected: str, then: str
) -> None:
    """What is wrong, and what to do next."""
    said = swept(capsys, mine, *args, code=2)
    assert expected in said
    assert said.splitlines()[-1].startswith(then)
