"""testbed search: what it prints, writes and returns, and every error a user can reach."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any
from xml.etree import ElementTree

import pytest

from testbed.cli import main
from testbed.cli.progress import Clock
from testbed.cli.searching.live import SearchProgress
from testbed.races.playing import play
from testbed.races.racefile import load
from testbed.search.planned_run import SearchTask
from testbed.world.scenario import find
from tests.shared.planned_runs import search_of

pytestmark = pytest.mark.usefixtures("own")

ENV = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
OWN = """
    from testbed import Actor, World, always, quiescent
    from testbed.choosers.uniform import Uniform
    from testbed.objects import Map, Note
    from testbed.turns.pending import Options
    import attrs

    @attrs.frozen
    class Restless(Actor):
        async def run(self, client):
            while True:
                await client.sleep(1000 + client.now() % 2, "nap")

    class Backwards(Uniform):
        def choose(self, options):
            return max(options.ready - 1, 0) if isinstance(options, Options) else 0

    @attrs.frozen
    class Signs(Actor):
        async def run(self, client):
            note = await client.get(Note, "list")
            signed = note.saying(signed=note.data["signed"] + self.name[0])
            await client.update(signed, whatever_it_was=True)

    def nothing_is_lost(see):
        signed = see.store.peek("notes/default/list").value.data["signed"]
        if len(signed) == 2:
            raise ValueError("one is lost")
        return None if len(signed) == 3 else "two are lost"

    def moody(world):
        "Its claim raises where it is breached a little."
        world.add(Note("list", data=Map(signed="")))
        world.start(Signs("alpha"), Signs("beta"), Signs("gamma"))
        world.claim(quiescent(nothing_is_lost, reads=()))

    def endless(world, *, guard=False):
        "Ends only at a limit."
        world.start(Restless("alpha"))
        world.limit(turns_max=20)
"""


def searched(capsys: pytest.CaptureFixture[str], line: str) -> tuple[int, str, str]:
    """What one command line does."""
    code = main(["search", *shlex.split(line)])
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys: pytest.CaptureFixture[str], line: str) -> dict[str, Any]:
    """What it prints with --json."""
    data: dict[str, Any] = json.loads(searched(capsys, f"{line} --json")[1])
    return data


def test_a_race_is_found_told_and_kept(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The story, the four figures, the file, the line to paste, the verdict, the shares."""
    code, out, _ = searched(capsys, "double_bind --runs 40")
    file = "races/double_bind-no_node_is_overcommitted.race.yaml"
    assert code == 1
    assert out.startswith("no_node_is_overcommitted: n1 has 1000m cpu, and its pods ask for 1600m")
    assert re.search(r"^step +alpha +beta$", out, re.MULTILINE)
    for word, said in (
        ("late", "hold alpha bind pods/default/c until beta bind pods/default/d"),
        ("window", "alpha bind pods/default/c is late by 1 ms or more"),
        ("found", r"run \d+ \(bounded\), after \d+ runs; complete up to 0 deviations, 0 faults"),
        ("file", file),
        ("again", f"testbed replay {file}"),
    ):
        assert re.search(rf"^  {word}: +{said}$", out, re.MULTILINE)
    verdict = (
        r"^Violated: no_node_is_overcommitted in \d+ runs\. Looked at: complete .*, 40 runs\.$"
    )
    assert re.search(verdict, out, re.MULTILINE)
    assert re.search(r"^Played by: bounded \d+, pct \d+ \(\d+ %\), ", out, re.MULTILINE)
    assert out.endswith("Again: testbed search double_bind --effort quick --runs 40\n")
    race = load(str(own / file))
    assert play(race, find("double_bind")).verdict.is_violated


def test_what_the_calm_run_violates_is_told_first(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the line that plays it; and it does violate it. Nothing is said of how far the search
    has looked, of shares and chances: that says nothing of a World that is broken anyway."""
    out = searched(capsys, "tug_of_war --runs 1")[1]
    said, line = out.splitlines()[1].split(": ")
    assert said == "The calm run violates this, so it takes no race"
    assert main(shlex.split(line)[1:]) == 1
    *_, verdict, last = out.splitlines()
    assert re.fullmatch(
        r"Violated: no_lasso in 1 run, also by the calm run\. Looked at: 1 run\.", verdict
    )
    again = "testbed search tug_of_war --effort quick --runs 1"
    assert last == f"Again, once that is mended: {again}"
    assert "  found:" not in out
    assert "chance" not in out


def test_the_line_to_paste_keeps_where_to_and_by_how_many(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unless that is what would be done anyway."""
    asked = "lost_update --effort quick --runs 3 --jobs 2 --out 'my races'"
    assert searched(capsys, asked)[1].endswith(f"Again: testbed search {asked}\n")
    assert as_json(capsys, asked)["again"] == f"testbed search {asked}"


def test_the_readme_shows_what_it_prints(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """To the letter."""
    readme = (Path(__file__).parent.parent.parent / "README.md").read_text(encoding="utf-8")
    line, _, shown = readme.partition("\n$ testbed search ")[2].partition("\n")
    _, out, _ = searched(capsys, line)
    assert shown.startswith(f"{out}```\n")


def test_nothing_found_says_how_far_it_looked(capsys: pytest.CaptureFixture[str]) -> None:
    """Held, and never more than that."""
    code, out, _ = searched(capsys, "double_bind --switch guard=on --runs 300")
    assert code == 0
    assert out.startswith("Held: complete up to 1 deviation, 0 faults, 300 runs.\n")
    assert re.search(
        r"shows something new: (about 1|likely under 3) in \d+\.$",
        out,
        re.MULTILINE,
    )


def test_faults_are_told_with_why_they_may_happen(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They stand in the race file; and they are in the line that searches again."""
    found = as_json(capsys, "double_bind --faults crash,lose_reply --faults lag --runs 30")
    assert found["again"] == (
        "testbed search double_bind --effort quick --faults crash --faults lose_reply "
        "--faults lag --runs 30"
    )
    none = as_json(capsys, "double_bind --faults none --runs 30")
    assert "--faults none" in none["again"]
    assert all(finding["faults"] == [] for finding in none["findings"])


def test_json_is_one_object(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With all that the text says, and more."""
    found = as_json(capsys, "double_bind --runs 40 --out mine --seed 3")
    assert (found["verdict"], found["runs"], found["seed"]) == ("violated", 40, 3)
    assert sum(found["played_by"].values()) == sum(found["verdicts"].values()) == 40
    assert sum(share["percent"] for share in found["shares"].values()) in range(98, 103)
    (first, *_) = found["findings"]
    assert Path(first["file"]).read_text(encoding="utf-8") == first["race"]
    assert first["file"].startswith("mine/double_bind-")
    assert first["reason"] == "too many"
    (node,) = first["about"]["keys"]
    assert node.startswith("nodes/n")


def test_junit_has_a_testcase_for_each_claim(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That which was breached fails with what was found; the properties say what was searched."""
    searched(capsys, "double_bind --runs 40 --junitxml found.xml")
    suite = ElementTree.parse(own / "found.xml").getroot()
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert (suite.get("tests"), suite.get("failures")) == (str(len(cases)), "1")
    assert {"no_node_is_overcommitted", "nobody_is_stuck"} < set(cases)
    failure = cases["no_node_is_overcommitted"].find("failure")
    assert failure is not None
    assert "again:   testbed replay races/double_bind-" in (failure.text or "")
    assert cases["nobody_is_stuck"].find("failure") is None
    broken = {item.get("name"): item.get("value") for item in
              cases["no_node_is_overcommitted"].iter("property")}  # fmt: skip
    assert broken["reason"] == "too many"
    assert (broken["about"] or "").startswith("nodes/n")
    properties = {item.get("name"): item.get("value") for item in suite.iter("property")}
    assert (properties["seed"], properties["runs"]) == ("0", "40")
    assert (properties["said"] or "").startswith("Violated: ")


@pytest.fixture
def mine(own: Path) -> Path:
    """A folder of one's own scenarios, which is not the current one."""
    folder = own / "lab"
    folder.mkdir()
    text = "\n".join(line[4:] for line in OWN.splitlines())
    (folder / "restless.py").write_text(text, encoding="utf-8")
    return own


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_ends_at_a_limit_is_undecided(
    mine: Path, capsys: pytest.CaptureFixture[str], jobs: int
) -> None:
    """A scenario of one's own, found in the folder that is named, also by the workers."""
    line = f"restless:endless --scenario-path lab --runs 12 --jobs {jobs} --junitxml found.xml"
    code, out, _ = searched(capsys, line)
    assert code == 3
    assert out.startswith("Undecided: 12 of 12 runs did not come to an end: turns_max")
    suite = ElementTree.parse(mine / "found.xml").getroot()
    assert suite.get("skipped") == suite.get("tests")
    (again,) = re.findall(r"^One that did not come to an end: testbed (.*)$", out, re.MULTILINE)
    assert again.split()[:2] == ["replay", "races/endless-undecided.jsonl"]
    assert main(shlex.split(again)) == 3
    assert "Undecided: turns_max: " in (said := capsys.readouterr().out)
    assert "; alpha would go on" in said


def test_a_search_that_is_cut_off_is_undecided(capsys: pytest.CaptureFixture[str]) -> None:
    """No time at all: nothing was breached, and nothing is said to hold."""
    code, out, _ = searched(capsys, "lost_update --seconds 0")
    assert code == 3
    assert out.startswith("Undecided: time is up after 1 run. Looked at: ")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("double_bound", "there is no scenario 'double_bound'"),
        ("double_bind --effort depe", "there is no effort 'depe'. Did you mean 'deep'?"),
        ("double_bind --chooser ctp", "there is no chooser 'ctp'. Did you mean 'pct'?"),
        ("double_bind --chooser nowhere:Own", "the module 'nowhere' cannot be imported"),
        (
            "double_bind --chooser scenarios.basics.lost_update:NAMES",
            "is no chooser: expected a class",
        ),
        ("double_bind --driver dirct", "there is no driver 'dirct'. Did you mean 'direct'?"),
        ("double_bind --faults crsh", "there is no fault 'crsh'. Did you mean 'crash'?"),
        ("double_bind --faults none,crash", "expected faults, or none of them"),
        ("double_bind --switch gard=on", "there is no switch of double_bind 'gard'"),
        ("double_bind --scenario-path nowhere", "--scenario-path nowhere: expected a folder"),
        ("double_bind --runs 0", "0 is not in the range"),
        ("double_bind --jobs 0", "0 is not in the range"),
        ("double_bind --ledger .", "cannot be opened"),
        ("double_bind --out /dev/null/x --runs 20", "--out /dev/null/x: "),
        ("lost_update --runs 2 --junitxml no/such/folder.xml", "--junitxml no/such/folder.xml: "),
    ],
)
def test_bad_use_is_told(
    own: Path, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    """What was expected, and what to do next."""
    code, _, err = searched(capsys, line)
    assert code == 2
    assert said in err
    assert "Next: " in err or "Try 'testbed search --help'" in err or "Usage: " in err


def test_one_chooser_may_play_alone(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Any that can be made from a seed; the bounded one until it has nothing left."""
    assert as_json(capsys, "lost_update --chooser surw --runs 9")["played_by"] == {"surw": 9}
    bounded = as_json(capsys, "lost_update --chooser bounded --switch guard=on")
    assert bounded["level"] == "complete up to 2 deviations, 1 fault"
    assert (bounded["verdict"], list(bounded["played_by"])) == ("held", ["bounded"])


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_chooser_of_ones_own_may_play(
    mine: Path, capsys: pytest.CaptureFixture[str], jobs: int
) -> None:
    """Named as module:Class, from the folder that is named, and in the workers, too."""
    own = "restless:endless --scenario-path lab --chooser restless:Backwards"
    found = as_json(capsys, f"{own} --runs 4 --jobs {jobs}")
    assert found["played_by"] == {"restless:Backwards": 4}
    assert "--chooser restless:Backwards" in found["again"]


@pytest.mark.parametrize("more", [[], ["--seed", "1", "--twice"]])
def test_one_run_is_found_in_the_folder_that_is_named(
    mine: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    """Each line that it prints is found again from there."""
    words = ["run", "restless:endless", "--scenario-path", "lab", *more]
    assert main(words) == 3
    again = capsys.readouterr().out.splitlines()[-1].removeprefix("Again: testbed ")
    assert again.startswith("run lab/restless.py:endless")
    assert main(shlex.split(again)) == 3
    assert main([*words, "--trace", "t.jsonl"]) == 3
    recorded = capsys.readouterr().out.splitlines()[-1].removeprefix("Recorded: testbed ")
    assert recorded == "replay t.jsonl --scenario lab/restless.py:endless"
    assert main(shlex.split(recorded)) == 3
    assert main(["run", "restless:endless", "--scenario-path", "nowhere"]) == 2
    assert "--scenario-path nowhere: expected a folder" in capsys.readouterr().err


def begun(line: str) -> subprocess.Popen[str]:
    """A search in a process of its own."""
    words = [sys.executable, "-m", "testbed", "search", *shlex.split(line)]
    return subprocess.Popen(
        words, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def refused(*_: object) -> None:
    """Stands for what must not be called."""
    raise AssertionError


def test_any_number_of_processes_finds_and_prints_the_same(
    own: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the letter, but for the number in the line to paste, if one was said."""
    monkeypatch.setattr("testbed.cli.jobs.ALONE_S", 0.01)
    monkeypatch.setattr("testbed.cli.jobs.ALONE_UNFORKED_S", 0.01)
    monkeypatch.setattr("testbed.cli.jobs.processors", lambda: 2)
    line = "lost_update --faults crash --runs 100"
    said = {
        jobs: [searched(capsys, f"{line}{jobs}{form}")[:2] for form in ("", " --json")]
        for jobs in (" --jobs 1", " --jobs 2", " --jobs 3", "")
    }
    expected = said.pop("")
    for jobs, found in said.items():
        assert [(code, out.replace(jobs, "")) for code, out in found] == expected, jobs


def test_a_search_that_is_soon_over_starts_no_process(
    own: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless a number is said."""
    monkeypatch.setattr("testbed.cli.jobs.processors", lambda: 2)
    monkeypatch.setattr("testbed.search.engines.processes.Processes._start", refused)
    assert searched(capsys, "lost_update --until-first")[0] == 1
    assert searched(capsys, "lost_update --until-first --jobs 2")[0] == 2


def test_a_chooser_of_ones_own_stays_in_one_process_unless_a_number_is_said(
    own: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its Runs may follow from each other, as those of the complete search always do."""
    monkeypatch.setattr("testbed.cli.jobs.processors", lambda: 2)
    monkeypatch.setattr("testbed.cli.jobs.alone_s", lambda: 0)
    monkeypatch.setattr("testbed.search.engines.processes.Processes.play", refused)
    line = "lost_update --runs 20 --chooser"
    assert searched(capsys, f"{line} testbed.choosers.uniform:Uniform")[0] == 1
    assert searched(capsys, f"{line} complete --jobs 2")[0] == 1
    assert searched(capsys, f"{line} testbed.choosers.uniform:Uniform --jobs 2")[0] == 2


def test_a_search_that_is_killed_goes_on(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Killed for real, with its workers at work; resumed, it ends as if it had not been."""
    line = "double_bind --faults crash --runs 60 --out found"
    search = begun(f"{line} --jobs 2 --ledger night.ledger")
    ledger = own / "night.ledger-wal"
    while not ledger.exists() or ledger.stat().st_size < 60_000:
        assert search.poll() is None, search.communicate()
    search.kill()
    search.communicate()
    again = as_json(capsys, f"{line} --ledger night.ledger --resume")
    assert again == as_json(capsys, line)


def test_what_was_stopped_goes_on_by_the_line_it_prints(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its ledger, and the folder of its race files; what is over begins anew."""
    line = "lost_update --runs 40 --ledger a.ledger --out mine"
    again = as_json(capsys, f"{line} --seconds 0")["again"]
    assert again.endswith("--runs 40 --out mine --ledger a.ledger --resume")
    whole = as_json(capsys, again.removeprefix("testbed search "))
    assert (whole["runs"], "--ledger" in whole["again"]) == (40, False)


def test_ctrl_c_while_shrinking_goes_on_by_the_line_it_prints(own: Path) -> None:
    """And leaves the race whole, in one file."""
    search = begun("double_bind --effort deep --ledger night.ledger")
    folder = own / "races"
    while not list(folder.glob("*.race.yaml")):
        assert search.poll() is None
    search.send_signal(signal.SIGINT)
    out, err = search.communicate()
    assert search.returncode == 130, err
    assert out.endswith("--effort deep --ledger night.ledger --resume\n")
    (file,) = folder.iterdir()
    assert file.name == "double_bind-no_node_is_overcommitted.race.yaml"
    assert play(load(str(file)), find("double_bind")).verdict.is_violated


def test_ctrl_c_ends_cleanly(own: Path) -> None:
    """What was found is told and kept; no worker is left, and the exit code says why it ended."""
    search = begun("double_bind --effort deep --jobs 2")
    assert search.stdout is not None
    while not search.stdout.readline().startswith("  again:"):
        assert search.poll() is None
    search.send_signal(signal.SIGINT)
    out, err = search.communicate()
    assert search.returncode == 130, err
    assert re.search(r"^Violated: .* runs, interrupted\.$", out, re.MULTILINE)
    assert "Traceback" not in err
    assert list((own / "races").glob("*.race.yaml"))


def test_a_ledger_that_is_there_is_refused_without_resume(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And with another seed; --resume alone keeps one beside the race files."""
    line = "lost_update --runs 5 --ledger a.ledger"
    assert searched(capsys, line)[0] == 1
    code, _, err = searched(capsys, line)
    assert (code, "say --resume to go on with it" in err) == (2, True)
    code, _, err = searched(capsys, f"{line} --resume --seed 1")
    assert (code, "it is of another search: seed was 0, and is 1 now" in err) == (2, True)
    assert searched(capsys, "lost_update --runs 5 --resume --out there")[0] == 1
    assert (own / "there/lost_update.ledger").exists()


class Wall(Clock):
    """A clock that a test sets."""

    now = 0.0

    @property
    def seconds(self) -> float:
        """As it was set."""
        return self.now


def test_progress_is_told_after_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing at first; then a line now and then, with all that a person wants to know."""
    monkeypatch.delenv("TESTBED_PROGRESS")
    clock, stream = Wall(), io.StringIO()
    progress = SearchProgress(clock, stream)
    search = search_of(SearchTask("double_bind"))
    progress.watch(search)
    search.play()
    for now in (0.5, 1.9, 2.1, 3.0, 7.2):
        clock.now = now
        progress.ran()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert re.fullmatch(
        r"80 runs · 38/s · complete up to 1 deviation, 0 faults · \d+ ways to meet · "
        r"\d+ violated, \d found · next new: about 1 in \d+",
        lines[0],
    )
    progress.shrinks(12, 3)
    clock.now = 20
    progress.shrinks(12, 3)
    assert stream.getvalue().splitlines()[-1].startswith("shrinking: 3 deviations after 12 ")
    clock.now = 40
    progress.shrinks(1, 1)
    assert stream.getvalue().splitlines()[-1].startswith("shrinking: 1 deviation after 1 run · ")


def test_help_is_light() -> None:
    """It loads no driver, no Hypothesis and no database: it is asked for in a hurry."""
    code = (
        "import sys; from testbed.cli import main; main(['search', '--help']);"
        "late = ('trio', 'hypothesis', 'sqlite3', 'testbed.world.world');"
        "print([m for m in late if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENV, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


SHARING = """
import attrs
from testbed import Actor

@attrs.frozen
class Adds(Actor):
    seen: list

    async def run(self, client):
        self.seen.append(client.name)
        await client.sleep(1)

def sharing(world):
    seen = []
    world.start(lambda: Adds("a", seen), lambda: Adds("b", seen))
"""


def test_a_search_that_is_refused_says_only_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has played nothing, so there is no verdict."""
    (tmp_path / "sharing.py").write_text(SHARING)
    line = f"{tmp_path}/sharing.py:sharing --effort complete"
    code, out, err = searched(capsys, line)
    assert (code, out) == (2, "")
    assert "a and b share" in err
    assert "Undecided" not in err
    assert as_json(capsys, line)["stopped"] == "stopped by ScenarioError"


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_was_found_is_told_before_what_went_wrong(
    mine: Path, capsys: pytest.CaptureFixture[str], jobs: int
) -> None:
    """A claim that raises in a later Run ends the search, with 2; the race it found before stands,
    is told and written, in every form that was asked for."""
    line = f"restless:moody --scenario-path lab --jobs {jobs} --junitxml found.xml"
    code, out, err = searched(capsys, line)
    assert code == 2
    assert out.startswith("nothing_is_lost: two are lost\n")
    assert re.search(r"^Violated: .* runs, stopped by ValueError\.$", out, re.MULTILINE)
    assert "nothing_is_lost raised ValueError: one is lost" in err
    assert (mine / "races/moody-nothing_is_lost.race.yaml").exists()
    assert ElementTree.parse(mine / "found.xml").getroot().get("failures") == "1"
    found = as_json(capsys, line)
    assert [each["said"] for each in found["findings"]] == ["two are lost"]


def test_a_race_file_that_was_edited_is_never_written_over(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is not to the byte what the search writes stays; the next free name is taken, again and
    again the same one, and that is said."""
    line = "double_bind --runs 40 --until-first"
    file = own / "races/double_bind-no_node_is_overcommitted.race.yaml"
    second = own / "races/double_bind-no_node_is_overcommitted-2.race.yaml"
    searched(capsys, line)
    searched(capsys, line)
    assert list(file.parent.iterdir()) == [file]
    text = file.read_bytes()
    edited = text + b"# alpha is too slow\r\n"
    file.write_bytes(edited)
    for _ in range(2):
        out = searched(capsys, line)[1]
        assert f"  kept:    {file.relative_to(own)} was there, and is another race\n" in out
        assert f"  file:    {second.relative_to(own)}\n" in out
        assert (file.read_bytes(), second.read_bytes()) == (edited, text)
        assert sorted(file.parent.iterdir()) == [second, file]
    (found,) = as_json(capsys, line)["findings"]
    assert (found["file"], found["kept"]) == tuple(
        str(each.relative_to(own)) for each in (second, file)
    )


def test_a_race_that_cannot_be_written_is_told(
    own: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In full, and the rest of the search as well; then the error. As of a folder that is gone
    since the search began, or of a full disk."""
    monkeypatch.setattr("testbed.cli.searching.folder.Races.check", lambda _: None)
    code, out, err = searched(capsys, "double_bind --out /dev/null/x --runs 20")
    assert (code, "scenario: double_bind\n" in out) == (2, True)
    assert re.search(r"^Violated: .* 20 runs\.$", out, re.MULTILINE)
    assert "--out /dev/null/x: double_bind-no_node_is_overcommitted.race.yaml cannot" in err


def test_a_fault_is_allowed_with_its_settings(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A crashed actor starts again, as its race file says; the line to paste says so, too."""
    line = "lost_update --runs 60 --faults crash,restart=2s,lose_reply --switch guard=on"
    found = as_json(capsys, line)
    assert found["again"] == (
        "testbed search lost_update --effort quick --switch guard=on "
        "--faults crash,restart=2s --faults lose_reply --runs 60"
    )
    text = as_json(capsys, "tug_of_war --faults crash,restart=2s --runs 40")
    races = [each["race"] for each in text["findings"] if "crash" in each["race"]]
    assert all("restart: 2s" in race for race in races)
    code, _, err = searched(capsys, "lost_update --faults crash,restat=2s")
    assert (code, "Did you mean 'restart'?" in err) == (2, True)


def test_a_ledger_is_refused_when_an_actor_was_edited(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In whichever module of one's own it stands; another scenario of one's own matters not."""
    text = "from restless import endless as other\n\ndef far(world):\n    other(world)\n"
    (mine / "lab/far.py").write_text(text, encoding="utf-8")
    (mine / "lab/apart.py").write_text("", encoding="utf-8")
    line = "far:far --scenario-path lab --runs 4 --ledger a.ledger"
    assert searched(capsys, line)[0] == 3
    (mine / "lab/apart.py").write_text("# edited", encoding="utf-8")
    assert searched(capsys, f"{line} --resume")[0] == 3
    with (mine / "lab/restless.py").open("a", encoding="utf-8") as file:
        file.write("# edited\n")
    code, _, err = searched(capsys, f"{line} --resume")
    assert (code, "of another search: the source of restless was " in err) == (2, True)


GAP = """
    from testbed import Actor, Unavailable, World, confluent
    from testbed.objects import Note
    import attrs

    @attrs.frozen
    class Fills(Actor):
        async def run(self, client):
            await client.create(Note("x"))

    @attrs.frozen
    class Gapes(Actor):
        async def run(self, client):
            try:
                if not (await client.list(Note)).items:
                    await client.create(Note("gap"))
            except Unavailable:
                pass

    def gap(world):
        "In calm order there is no gap, so what is lost there is lost nowhere else."
        world.start(Fills("alpha"), Gapes("beta"))
        world.claim(confluent(ignoring=["notes"]))
"""


@pytest.mark.parametrize(
    ("effort", "line", "code"),
    [
        (
            "quick",
            "Held: complete up to .*, 100 runs, confluent compared ",
            0,
        ),
        ("complete", "Undecided: confluent compared ", 3),
    ],
)
def test_what_confluent_did_not_compare_is_counted(
    own: Path, capsys: pytest.CaptureFixture[str], effort: str, line: str, code: int
) -> None:
    """With the reason; and a search that was to be complete is undecided, and certifies nothing."""
    (own / "mind.py").write_text(dedent(GAP))
    words = ["search", "mind:gap", "--effort", effort, "--faults", "lose_request:beta"]
    assert main([*words, *(["--runs", "100"] if effort == "quick" else []), "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    (why,) = found["not_compared"]
    counts = f"{found['compared']} of {found['compared'] + found['not_compared'][why]} runs"
    assert re.match(rf"{line}{counts} \({found['not_compared'][why]} not: {why}\)", found["said"])
    assert why == (
        "the calm run does not come to the points of work at which the same faults can strike"
    )
    assert found["compared"] > found["not_compared"][why] > 0
    assert found.get("certificate") is None


SEEN = """
    from scenarios.basics.lost_update import lost_update
    from testbed import Invariant


    class Lenient(Invariant):
        name = "lenient"
        allowed = ""

        def end(self, evidence):
            self.allowed = "late_write"


    def seen(world, *, guard=False):
        lost_update(world, guard=True)
        world.claim(Lenient())
"""


def test_what_a_claim_allows_is_counted(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A search shows no note of a Run; else nobody would hear of what was seen."""
    (own / "lenient.py").write_text(dedent(SEEN))
    words = ["search", "lenient:seen", "--runs", "6"]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["allowed"] == {"late_write": 6}
    assert main(words) == 0
    assert "\nSeen, and no violation: late_write in 6 runs.\n" in capsys.readouterr().out
    assert main(["search", "lost_update", "--switch", "guard=on", "--runs", "6"]) == 0
    assert "Seen, and" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--seconds nan", "--seconds nan: expected a number."),
        ("--out FILE", "is a file; expected a folder.\nNext: --out "),
        ("--out FILE/races", "is a file; expected a folder.\nNext: --out "),
    ],
)
def test_what_cannot_be_is_said_before_a_run_is_played(
    options: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not after all of them."""
    file = tmp_path / "a.race.yaml"
    file.write_text("")
    code = main(["search", "lost_update", *options.replace("FILE", str(file)).split()])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert said in err
