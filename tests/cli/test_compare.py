"""testbed compare: what it prints, and how it ends."""

from __future__ import annotations

import json
import re
import shlex
from itertools import pairwise, product
from pathlib import Path

import pytest

from testbed.cli import main
from testbed.cli.compared import bars
from testbed.search.comparing.alternatives import Alternative
from testbed.search.comparing.comparison import Comparison, FigureRow, PlayedAlternative
from testbed.search.comparing.measure_kinds import measures_of
from testbed.search.comparing.resampling import Estimate
from testbed.search.comparing.sample import per_run, quantile

BOTH = ("--switch", "guard=off", "--switch", "guard=on", "--runs", "4")
FEW = ("--measure", "victims", "--measure", "time_to_bind", "--measure", "api_writes")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The exit code, and what was printed on both streams."""
    code = main(["compare", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_it_shows_a_figure_and_a_bar_for_each_alternative(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The last line plays the same comparison again, to the letter; a claim was violated."""
    code, out, err = said(capsys, "web_server", *BOTH, *FEW)
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0] == "web_server: 4 runs of each alternative, seeds 1 to 4, uniform"
    assert lines[2:4] == ["A  guard=off", "B  guard=on"]
    start = lines.index("victims: pods that had to go for others")
    assert lines[start + 1 : start + 3] == ["  A  1  " + "█" * 24, "  B  0"]
    assert "B  never  ████████████████████████→" in out, "the batch pod is never bound"
    assert lines[-2] == (
        "Violated: the_web_server_stays, in 4 runs of guard=off: "
        "testbed run web_server --switch guard=off --seed 1"
    )
    again = shlex.split(lines[-1].removeprefix("Again: "))
    assert again[:3] == ["testbed", "compare", "web_server"]
    assert said(capsys, *again[2:]) == (1, out, "")
    assert main(shlex.split(lines[-2].partition(": testbed ")[2])) == 1


def test_what_is_zero_is_played_again(capsys: pytest.CaptureFixture[str]) -> None:
    """A priority or a seed of zero is no default; what is a default, or not given, is left out."""
    given = (*BOTH, "--measure", "time_to_bind", "--important", "0", "--seed", "0")
    code, out, _ = said(capsys, "web_server", *given)
    again = shlex.split(out.splitlines()[-1].removeprefix("Again: testbed compare "))
    assert {(a, b) for a, b in pairwise(again) if a in ("--important", "--seed")} == {
        ("--important", "0"), ("--seed", "0"),
    }  # fmt: skip
    assert said(capsys, *again) == (code, out, "")
    _, out, _ = said(capsys, "web_server", *BOTH, "--seed", "1", "--important", "1")
    assert out.splitlines()[-1] == f"Again: testbed compare web_server {' '.join(BOTH)}"


def test_the_help_names_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    """Of how many Runs there are, from which seed, and of which pods times are told."""
    _, out, _ = said(capsys, "--help")
    text = " ".join(out.split())
    for default in ("30", "uniform", "direct"):
        assert f"[default: {default}" in text
    assert re.search(r"--important PRIORITY [^-]*\[default: 1\]", text)
    assert re.search(r"--seed [^-]*\[default: 1\]", text)


def test_as_json_each_run_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    """A time that never comes is a word; so are those of each Run null."""
    code, out, _ = said(capsys, "web_server", *BOTH, *FEW, "--json")
    found = json.loads(out)
    assert code == 1
    assert [each["outcomes"] for each in found["alternatives"]] == [{"violated": 4}, {"held": 4}]
    assert found["alternatives"][0]["violated"] == {"the_web_server_stays": 1}
    figures = {each["figure"]: each["values"] for each in found["figures"]}
    assert [each["of_runs"] for each in figures["victims"]] == [[1] * 4, [0] * 4]
    assert figures["victims"][1]["difference"]["value"] == -1
    assert not figures["victims"][1]["is_distinct"], "of four Runs that cannot be told"
    assert figures["time to bind, median"][1]["value"] == "never"
    assert figures["time to bind, median"][1]["of_runs"] == [[None]] * 4
    assert found["again"].startswith("testbed compare web_server --switch guard=off")


def test_as_markdown_there_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """With a column for each alternative, and the bars below it."""
    _, out, _ = said(capsys, "web_server", *BOTH, *FEW, "--md")
    lines = out.splitlines()
    assert "- A: `guard=off`" in lines
    assert "| | A | B |" in lines
    assert "| victims | 1 | 0 |" in lines
    assert lines.count("```") == 2


@pytest.mark.parametrize("form", [(), ("--md",)])
def test_few_runs_have_no_intervals_and_no_stars(
    form: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Of nine nothing is told of chance, and that is said; of ten it is, and that a star may be
    chance, too."""
    given = ("web_server", *BOTH[:-1])
    few, enough = (
        said(capsys, *given, runs, "--measure", "victims", *form)[1].replace("\\", "")
        for runs in ("9", "10")
    )
    assert "No intervals and no *: fewer than 10 Runs say nothing of chance." in few
    assert few.count("*") == 1
    assert " [" not in few
    assert re.search(r"B  0 \*$", enough, re.MULTILINE)
    assert "one in twenty has a * by chance" in enough
    assert "No intervals" not in enough


@pytest.mark.parametrize("form", [(), ("--md",)])
def test_what_no_alternative_has_shown_is_one_line(
    form: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nobody preempts only writes are left; and why there are no times is said, as the pods
    of this scenario are there from the start. As JSON all is there."""
    given = ("double_bind", *BOTH)
    _, out, _ = said(capsys, *given, *form)
    assert (
        "Nothing of: lost slots, stolen slots, victims, wasted victims, preemptions per placement, "
        "race window, time to bind, time to run, broken budgets, broken affinity, never ran"
    ) in out
    assert "not of those that were there from the start (world.add)" in out
    assert out.count("█") > 0
    assert [line for line in out.splitlines() if line.startswith(("victims", "| victims"))] == []
    _, out, _ = said(capsys, *given, "--json")
    assert len(json.loads(out)["figures"]) > 12


def test_where_there_are_times_nothing_is_said_of_their_lack(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The pod that waits for a machine is created by a user."""
    given = ("two_autoscalers", *BOTH, "--important", "0", "--measure", "time_to_bind")
    code, out, _ = said(capsys, *given)
    assert code == 1
    assert "time to bind, median: " in out
    assert "Nothing of" not in out
    assert "world.add" not in out


def test_a_time_of_zero_is_something() -> None:
    """A count of zero in all alternatives is nothing, and so is a time that is not there."""
    (kind,) = measures_of(["race_window"])
    found = {}
    for figure, value in product((per_run("count"), quantile("time", 50)), (0.0, None)):
        each = Estimate(value, value, value)
        row = FigureRow(kind, figure, (each, each), (each, each))
        played = tuple(PlayedAlternative(Alternative(name, {})) for name in "ab")
        shown = list(bars(Comparison("any", 10, 1, "calm", played, (row,))))
        found[figure.name, value] = bool(shown)
    assert found == {
        ("count", 0.0): False, ("count", None): False, ("time", 0.0): True, ("time", None): False,
    }  # fmt: skip


def test_what_holds_in_all_ends_with_zero(capsys: pytest.CaptureFixture[str]) -> None:
    """A common switch stands in the title; a Run that ends nowhere is undecided."""
    given = ("--switch", "guard=on", "--switch", "seats=2", "--switch", "seats=3")
    code, _, err = said(capsys, "lost_update", *given)
    assert code == 2
    assert "seats" in err
    given = ("--switch", "guard=on", "--switch", "writers=2", "--switch", "writers=3")
    code, out, _ = said(capsys, "lost_update", *given, "--runs", "1", "--measure", "api_writes")
    assert code == 0
    assert out.startswith("lost_update, guard=on: 1 run of each alternative, seed 1, uniform\n")
    assert "Held: every claim, in every run." in out


FOR_EVER = """
from testbed import always
from testbed.objects import Note

from tests.shared.stage import Puppet


def clock(world, *, guard=False, tells=True):
    \"\"\"Somebody writes every minute, for ever unless guarded.\"\"\"

    async def tick(client):
        for number in range(2 if guard else 1000):
            await client.create(Note(f"n{number}"))
            await client.sleep(60_000)

    world.start(Puppet("clock", tick))
    world.limit(virtual_ms_max=3_600_000)
    world.claim(always(few if tells else fine))


def few(see):
    return "many" if len(see.store.snapshot("notes/")) > 5 else None


def fine(see):
    return None
"""


def test_a_violated_run_that_never_ends_is_measured_to_its_limit_and_that_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Its figures are of that time; one without a Violation is Undecided, as everywhere."""
    (tmp_path / "ticking.py").write_text(FOR_EVER)
    given = (f"{tmp_path}/ticking.py:clock", *BOTH, "--measure", "api_writes")
    code, out, _ = said(capsys, *given)
    assert code == 1
    cut = [line for line in out.splitlines() if line.startswith("Not at rest: ")]
    (line,) = cut
    assert line.startswith(
        "Not at rest: 4 runs of guard=off, measured up to a limit; virtual_ms_max: of 3,600,000 ms"
    )
    found = json.loads(said(capsys, *given, "--json")[1])
    assert [sum(each["cut"].values()) for each in found["alternatives"]] == [4, 0]
    code, out, _ = said(capsys, *given, "--switch", "tells=off")
    assert code == 3
    assert "Undecided: virtual_ms_max: " in out
    assert "Not at rest" not in out


OWN = '''
from testbed import World, always
from testbed.objects import Note


def mine(world: World, *, notes: int = 0) -> None:
    """So many notes."""
    world.add(*(Note(f"n{number}") for number in range(notes)))
    world.needs_no_race = "there is none"
    world.claim(always(few))


def few(see):
    if len(see.store.snapshot("notes/")) > 1:
        return "too many"
'''


def test_a_scenario_of_ones_own_is_compared_and_its_runs_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """By its file, or by its module and a folder: the line to paste plays that Run."""
    (tmp_path / "own_notes.py").write_text(OWN)
    given = ("--switch", "notes=1", "--switch", "notes=2", "--runs", "2", "--measure", "victims")
    for named in (
        (f"{tmp_path}/own_notes.py:mine",),
        ("own_notes:mine", "--scenario-path", str(tmp_path)),
    ):
        code, out, _ = said(capsys, *named, *given)
        assert code == 1
        line = next(line for line in out.splitlines() if line.startswith("Violated: "))
        assert main(shlex.split(line.partition(": testbed ")[2])) == 1
        capsys.readouterr()
        again = shlex.split(out.splitlines()[-1].removeprefix("Again: testbed compare "))
        assert said(capsys, *again) == (1, out, "")


@pytest.mark.parametrize(("given", "two"), [
    ((), "--switch guard=off --switch guard=on"),
    (("--switch", "guard=on"), "--switch guard=on --switch guard=off"),
])  # fmt: skip
def test_one_alternative_is_refused_with_a_line_that_compares_it(
    given: tuple[str, ...], two: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The user's own scenario and switches, and another value of one."""
    code, out, err = said(capsys, "two_autoscalers", *given)
    assert (code, out) == (2, "")
    proposed = err.splitlines()[-1]
    assert proposed == f"Next: testbed compare two_autoscalers {two}"
    words = shlex.split(proposed.removeprefix("Next: testbed compare "))
    assert said(capsys, *words, "--runs", "1", "--measure", "victims")[0] in (0, 1)


def test_a_switch_that_nobody_has_is_told_before_a_second_value_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Else the proposed line would fail as well."""
    code, _, err = said(capsys, "two_autoscalers", "--switch", "gaurd=on")
    assert code == 2
    assert "Did you mean" in err


@pytest.mark.parametrize(("words", "says"), [
    (("lost_update",), "expected a switch that is given several times"),
    (("lost_update", *BOTH, "--measure", "luck"), "there is no measure 'luck'"),
    (("lost_update", *BOTH, "--chooser", "luck"), "there is no chooser 'luck'"),
    (("lost_update", *BOTH, "--driver", "luck"), "there is no driver 'luck'"),
    (("lost_update", *BOTH, "--md", "--json"), "expected one of the two"),
    (("lost_updat", *BOTH), "Did you mean 'lost_update'?"),
])  # fmt: skip
def test_a_mistake_is_told(
    words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is played; with what to do next."""
    code, out, err = said(capsys, *words)
    assert (code, out) == (2, "")
    assert says in err
    assert "Next: " in err
