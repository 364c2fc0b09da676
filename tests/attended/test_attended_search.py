"""testbed search --as: real programs are searched, and their races shrunk and written."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from testbed import Trace
from testbed.attended.casting import attended_by
from testbed.attended.steady import Steady
from testbed.attended.tape import Tape
from testbed.attended.wall_times import WallTimes
from testbed.choosers.uniform import Uniform
from testbed.cli import main
from testbed.cli.attaching.attended import attended_player
from testbed.cli.attaching.programs import DEFAULTS, programs_of
from testbed.search.planned_run import PlannedRun, SearchTask
from testbed.turns.option import JOIN, PASS, SAY
from testbed.world.scenario import find

BINDER = [sys.executable, str(Path(__file__).parent / "clients" / "binder.py"), "{name}", "{pool}"]
AS = ["--as", f"alpha,beta={shlex.join(BINDER)}", "--quiet", "0.2", "--silence", "0.5"]
SEEDS = (1, 2, 3, 4, 5)


def test_a_search_with_real_programs_writes_a_race_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line is left of the race, and what the programs did when it was found can be replayed."""
    monkeypatch.chdir(tmp_path)
    words = ["search", "double_bind", *AS, "--until-first", "--runs", "12", "--json"]
    assert main(words) == 1
    told = json.loads(capsys.readouterr().out)
    (finding,) = told["findings"]
    assert finding["invariant"] == "no_node_is_overcommitted"
    assert (finding["deviations"], finding["not_shrunk"]) == (1, "")
    again = shlex.split(finding["again"])
    assert again == ["testbed", "attach", finding["file"], *AS]
    assert "hold: alpha bind pods/default/c" in Path(finding["file"]).read_text()
    assert "--as" in shlex.split(told["again"])
    assert main(["replay", "attached/double_bind/1/trace.jsonl"]) == 1


def test_a_run_is_kept_once_and_with_its_own_output(tmp_path: Path) -> None:
    """A Run may breach two claims, and a race is made of each; what the programs have written in
    the Runs before is no part of it."""
    programs = programs_of((AS[1],), {**DEFAULTS, "quiet": 0.2})
    with attended_player(SearchTask("double_bind"), programs, str(tmp_path)) as player:
        outcomes = [player.play(PlannedRun(number, "uniform")) for number in range(2)]
        for _ in range(2):
            again = player.recipe_again(outcomes[-1])
            assert isinstance(again.world().attendance, Tape)
    (place,) = (tmp_path / "double_bind").iterdir()
    assert (place / "alpha.log").read_text().count("c goes to n1") == 1


def test_a_seed_repeats(tmp_path: Path) -> None:
    """What joined, and what was made of it, is the same each time, for each of five seeds; and not
    all of them are alike."""
    commands = {name: tuple(BINDER) for name in ("alpha", "beta")}
    recipe = attended_by(find("double_bind"), commands, lambda: tmp_path, WallTimes(quiet_s=0.2))

    def played(seed: int) -> list[str]:
        world = recipe.world({"guard": "off"})
        assert world.attendance is not None
        trace = Trace({}, keep=True)
        world.run(Steady(Uniform(seed), world.attendance), driver="direct", trace=trace)
        return [str(step.option) for step in trace.steps if step.kind not in (PASS, SAY)]

    first = [played(seed) for seed in SEEDS]
    assert first == [played(seed) for seed in SEEDS]
    assert len(set(map(tuple, first))) > 1
    assert all(any(line.startswith(JOIN) for line in run) for run in first)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--effort", "complete"], "--effort complete: not with real programs"),
        (["--chooser", "bounded"], "--chooser bounded: not with real programs"),
        (["--jobs", "2"], "--jobs 2: not with real programs"),
        (["--ledger", "a.ledger"], "--ledger: not with real programs"),
    ],
)
def test_what_it_cannot_do_is_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With why, and what to do."""
    assert main(["search", "double_bind", *AS, *words]) == 2
    refused = capsys.readouterr().err
    assert said in refused
    assert "Next: leave it out" in refused
