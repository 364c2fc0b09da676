"""The commands for race files: replay, check, keep, init; and every error a user can reach."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import attrs
import pytest

from testbed.cli import main
from testbed.cli.commands.init import FILES, TRY
from testbed.races.racefile import load, parse
from testbed.world.scenario import find, known
from tests.models.worlds.shelved import file_of

ROOT = Path(__file__).parent.parent.parent
LOST = file_of("lost_update").read_text(encoding="utf-8")
LATE = LOST.partition("expect:")[0]
VIOLATES = "expect: {violates: every_signature_is_kept}\n"
HOLDS = "expect: {holds: [every_signature_is_kept]}\n"


@attrs.frozen
class Done:
    """What a command has printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line of it."""
        return self.out.splitlines()[-1]

    @property
    def json(self) -> Any:
        """The one object it printed."""
        assert self.out.count("\n") == 1
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def run(own: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Call the command line in a folder of the user's own."""

    def call(*args: str) -> Done:
        capsys.readouterr()
        code = main(list(args))
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return call


def written(text: str, name: str = "a.race.yaml") -> str:
    """A race file in the current folder."""
    Path(name).write_text(text, encoding="utf-8")
    return name


# -- replay ---------------------------------------------------------------------------------------


def test_a_race_is_replayed_and_told(run: Run) -> None:
    """The cause, the story, the verdict, and whether it is as expected, with the line to paste;
    exit code 1."""
    done = run("replay", written(LOST))
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith("beta updated notes/default/list (step ")
    assert done.out.splitlines()[3].split() == ["step", "alpha", "beta"]
    assert "\nViolated: every_signature_is_kept: alpha was told" in done.out
    assert done.last == "As expected. Again: testbed replay a.race.yaml"


def test_the_other_side_of_a_pair_is_asked_for_by_its_switches(run: Run) -> None:
    """Exit code 0: it holds, as expected."""
    done = run("replay", written(LOST), "--switch", "guard=on", "--driver", "direct")
    assert done.code == 0
    assert done.out.startswith("Held. Looked at: 1 run (a race of 1 deviation)")
    again = "testbed replay a.race.yaml --driver direct --switch guard=on"
    assert done.last == f"As expected. Again: {again}"
    assert run(*again.split()[1:]) == done


def test_under_switches_of_no_side_a_line_that_matches_nothing_is_told(run: Run) -> None:
    """And no more: the file says what is to come of its own switches only. The exit code is the
    verdict's."""
    written(LATE.replace("alpha update", "alfa update") + VIOLATES)
    assert run("replay", "a.race.yaml").code == 2
    done = run("replay", "a.race.yaml", "--switch", "guard=on")
    assert (done.code, done.err) == (0, "")
    assert "matched nothing; there is no actor 'alfa'. Did you mean 'alpha'?" in done.out
    assert done.last.startswith("Nothing is expected. Again: testbed replay a.race.yaml --switch")


@pytest.mark.parametrize(
    ("expect", "code", "said"),
    [
        (VIOLATES, 1, "As expected. "),
        (HOLDS, 1, "Not as expected, which is: holds every_signature_is_kept. "),
        ("expect: {switches: {guard: on}, holds: []}", 0, "As expected. "),
        (
            "expect: {switches: {guard: on}, violates: every_signature_is_kept}", 0,
            "Not as expected, which is: violates every_signature_is_kept. ",
        ),
        ("", 1, "Nothing is expected. "),
    ],
)  # fmt: skip
def test_the_exit_code_is_the_verdict_and_the_last_line_the_expectation(
    expect: str, code: int, said: str, run: Run
) -> None:
    """Two things: 0 held, 1 violated, whatever was expected."""
    done = run("replay", written(LATE + expect))
    assert (done.code, done.err) == (code, "")
    assert done.last.startswith(said)


def test_each_line_says_what_it_matched(run: Run) -> None:
    """With --match; by the task, as a race file says it."""
    said = run("replay", written(LOST), "--match").out
    assert (
        "line 4: hold alpha update notes/default/list until beta get notes/default/list\n"
        "    matched alpha/main update notes/default/list\n"
    ) in said


def test_a_line_that_matched_nothing_is_an_error_where_a_breach_is_expected(run: Run) -> None:
    """Exit code 2, with its line and what came closest."""
    done = run("replay", written(LATE.replace("alpha update", "alpha updaet") + VIOLATES))
    assert done.code == 2
    assert done.err == (
        "RaceRefused: a.race.yaml, line 4: hold alpha updaet notes/default/list until beta get "
        "notes/default/list matched nothing; closest: alpha update notes/default/list.\n"
        "Next: mend the line, or look for it: testbed replay a.race.yaml --heal\n"
    )


def test_a_line_that_matched_nothing_is_a_warning_where_a_claim_is_to_hold(run: Run) -> None:
    """With the guard on, what is held may rightly never come."""
    done = run("replay", written(LATE.replace("alpha update", "alpha updaet") + HOLDS), "--match")
    assert (done.code, done.err) == (0, "")
    assert "\n    matched nothing; closest: alpha update notes/default/list\n" in done.out
    assert "\nNext, for what matched nothing: testbed replay a.race.yaml --heal\n" in done.out
    assert done.last.startswith("As expected. ")
    plain = run("replay", "a.race.yaml")
    assert (plain.code, plain.last) == (0, done.last)
    assert plain.out.startswith("a.race.yaml, line 4: hold alpha updaet")


@pytest.mark.parametrize("asked", [(), ("--match",)])
@pytest.mark.parametrize("expected", ["violates", "holds"])
def test_a_line_that_matched_nothing_is_told_once(
    run: Run, asked: tuple[str, ...], expected: str
) -> None:
    """By the list of all lines, by the error, or by a note."""
    text = LATE.replace("alpha update", "alpha updaet")
    done = run("replay", written(text + {"violates": VIOLATES, "holds": HOLDS}[expected]), *asked)
    assert (done.out + done.err).count("hold alpha updaet") == 1
    assert done.code == {"violates": 2, "holds": 0}[expected]


def test_a_hold_that_expired_is_told(run: Run) -> None:
    """It is no error: what it waits for may rightly never come."""
    done = run("replay", written(LATE.replace("beta get", "gamma get") + VIOLATES))
    assert (done.code, done.err) == (1, "")
    said = "a.race.yaml, line 4: hold expired: nothing else could happen before gamma get notes/"
    assert said in done.out
    quiet = LATE.replace("until: beta get notes/default/list", "until: quiet") + VIOLATES
    assert "expired" not in run("replay", written(quiet)).out


TWINS = """
import attrs
from testbed import Actor, World
from testbed.objects import Map, Note

@attrs.frozen
class Twins(Actor):
    async def run(self, client):
        tasks = [client.spawn(name, self.one, client) for name in ("one", "two")]
        for task in tasks:
            await client.join(task)

    async def one(self, client):
        await client.get(Note, "n")

def twins(world, *, guard=False):
    "Two tasks ask for the same."
    world.add(Note("n", data=Map()))
    world.start(Twins("alpha"))
"""


def test_a_line_that_leaves_out_the_task_is_told_if_that_is_ambiguous(run: Run) -> None:
    """Two tasks ask for the same; it counts both, and that should be written."""
    Path("own.py").write_text(TWINS)
    text = "scenario: own:twins\nholds:\n  - hold: {}get notes/default/n\n    until: quiet\n"
    said = run("replay", written(text.format("alpha ")), "--scenario", "own:twins").out
    assert (
        "a.race.yaml, line 3: `alpha get notes/default/n` is said of alpha/one and of alpha/two; "
        "write the task.\n"
    ) in said
    written(text.format("alpha/two "))
    assert "write the task" not in run("replay", "a.race.yaml", "--scenario", "own:twins").out


def test_a_race_is_told_to_programs(run: Run) -> None:
    """One object: the verdict, the expectation, and each line."""
    done = run("replay", written(LOST), "--json")
    assert done.code == 1
    assert done.json["verdict"] == "violated"
    assert done.json["expected"] == "violates every_signature_is_kept"
    assert done.json["as_expected"] is True
    (line,) = done.json["lines"]
    assert line == {
        "line": 4,
        "says": "hold alpha update notes/default/list until beta get notes/default/list",
        "matched": "alpha/main update notes/default/list",
        "times": 1,
        "expired": False,
        "closest": "",
    }
    assert done.json["again"] == "testbed replay a.race.yaml"


def test_a_race_is_played_twice_and_recorded(run: Run) -> None:
    """The same in other processes; what is recorded can be replayed from its choices."""
    assert run("replay", written(LOST), "--twice", "--trace", "race.jsonl").code == 1
    done = run("replay", "race.jsonl")
    assert (done.code, done.err) == (1, "")
    assert done.last.startswith("The same to the byte as recorded. ")


@pytest.mark.parametrize(
    "expect", ["violates: every_signature_is_keept", "holds: [every_signature_is_keept]"]
)
def test_a_claim_that_nobody_makes_is_an_error(expect: str, run: Run) -> None:
    """With the nearest name."""
    done = run("replay", written(f"{LATE}expect:\n  {expect}\n"))
    assert (done.code, done.out) == (2, "")
    assert "a.race.yaml, line 7: there is no claim of lost_update" in done.err
    assert "Did you mean 'every_signature_is_kept'?" in done.err


def test_a_race_file_may_have_any_name_that_says_yaml_or_json(run: Run) -> None:
    """For every command that is given one; the new ones are named as pytest finds them."""
    text = json.dumps({"scenario": "lost_update", "expect": {"holds": []}})
    for name in ("a.yaml", "b.race.json"):
        assert run("replay", written(text, name)).code == 0
        assert run("explain", name).code == 0
    Path("tests").mkdir()
    assert run("keep", written(LATE + VIOLATES, "a.yaml")).code == 0
    assert Path("tests/a.race.yaml").read_text() == LOST
    assert run("replay", "a.yaml", "--shrink").code == 0
    assert Path("a.shrunk.race.yaml").exists()


# -- shrink ---------------------------------------------------------------------------------------


def test_a_trace_is_shrunk_into_a_race_file(run: Run) -> None:
    """Beside the trace; with what it breaches as its first line; and it is as expected."""
    run("run", "lost_update", "--seed", "1", "--trace", "race.jsonl")
    done = run("replay", "race.jsonl", "--shrink")
    assert (done.code, done.err) == (0, "")
    text = Path("race.race.yaml").read_text()
    assert text.startswith("# every_signature_is_kept: alpha was told")
    assert text in done.out
    assert done.last.startswith("Shrunk to 1 deviation in ")
    assert done.last.endswith(" runs. Again: testbed replay race.race.yaml")
    assert run("replay", "race.race.yaml").last.startswith("As expected. ")
    assert run("check", "race.race.yaml").code == 0


def test_nothing_is_written_over_by_a_shrink(run: Run) -> None:
    """Another name is asked for."""
    run("run", "lost_update", "--seed", "1", "--trace", "race.jsonl")
    Path("race.race.yaml").write_text("mine")
    done = run("replay", "race.jsonl", "--shrink")
    assert (done.code, done.err.splitlines()[0]) == (
        2, "ScenarioError: race.race.yaml: is there already."
    )  # fmt: skip
    assert Path("race.race.yaml").read_text() == "mine"
    assert run("replay", "race.jsonl", "--shrink", "--out", "b.race.yaml", "--json").code == 0
    assert len(load("b.race.yaml")) == 1


def test_a_race_file_is_shrunk_too(run: Run) -> None:
    """To the lines that it takes, in a file of its own."""
    more = "  - hold: answer to beta get notes/default/list\n    until: 5ms\n"
    written(LATE + more + VIOLATES, "long.race.yaml")
    assert run("replay", "long.race.yaml", "--shrink").code == 0
    assert len(load("long.shrunk.race.yaml")) == 1
    assert len(load("long.race.yaml")) == 2


BESIDE = """\
from scenarios.basics.lost_update import lost_update
from testbed.objects import Note


def beside(world):
    lost_update(world)
    world.add(Note("other"))
"""
KEEPS = """
from testbed import World, scenario
from testbed.objects import Note


@scenario(keep="notes/default/luck")
def keeps(world: World) -> None:
    world.add(Note("lock"))
"""


def test_what_a_shrink_leaves_out_is_told(run: Run) -> None:
    """By the shrink itself, by a search and by what explains the race."""
    written(
        "scenario: crash_and_resync\nfaults:\n  - crash: default-scheduler\n"
        "    after: default-scheduler delete pods/default/db\n    restart: 2s\n"
    )
    done = run("replay", "a.race.yaml", "--shrink")
    assert done.last.startswith("Shrunk to 1 deviation, without kubelet-n2, in ")
    assert "\nLeft out of the scenario: kubelet-n2.\n" in run("explain", "a.shrunk.race.yaml").out
    Path("own.py").write_text(BESIDE)
    found = run("search", "own:beside", "--until-first").out
    assert re.search(r"^  without: notes/default/other\n  late:    hold ", found, re.MULTILINE)


def test_a_shrink_says_what_a_scenario_keeps_and_does_not_have(run: Run) -> None:
    """An error, with the nearest name, before anything is played."""
    Path("own.py").write_text(KEEPS)
    for command in ("run", "search"):
        done = run(command, "own:keeps")
        assert done.code == 2
        assert "keeps: 'notes/default/luck'. Did you mean 'notes/default/lock'?" in done.err


def test_what_holds_is_not_shrunk(run: Run) -> None:
    """There is nothing to shrink."""
    run("run", "lost_update", "--trace", "calm.jsonl")
    done = run("replay", "calm.jsonl", "--shrink")
    assert done.code == 2
    assert "there is nothing to shrink" in done.err
    assert not Path("calm.race.yaml").exists()


# -- heal -----------------------------------------------------------------------------------------


def test_a_race_that_no_longer_applies_is_healed_and_shown(run: Run) -> None:
    """As a diff; the comment is still there; then it is as expected."""
    written(LOST.replace("alpha update", "alfa update"))
    done = run("replay", "a.race.yaml", "--heal")
    assert (done.code, done.err) == (0, "")
    assert "\n-  - hold: alfa update notes/default/list\n+  - hold: alpha update no" in done.out
    assert Path("a.race.yaml").read_text() == LOST
    assert run("check", "a.race.yaml").code == 0


def test_a_healed_race_may_go_elsewhere(run: Run) -> None:
    """The one that was given stays as it is."""
    text = LOST.replace("alpha update", "alfa update")
    done = run("replay", written(text), "--heal", "--out", "b.race.yaml", "--json")
    assert (done.code, done.json["file"]) == (0, "b.race.yaml")
    assert Path("a.race.yaml").read_text() == text
    assert Path("b.race.yaml").read_text() == LOST


def test_a_race_is_not_healed_into_one_of_no_line(run: Run) -> None:
    """It would hold for ever, and test nothing."""
    text = "scenario: lost_update\nswitches: {guard: on}\npicks:\n  - zoe size: big\n" + HOLDS
    done = run("replay", written(text), "--heal")
    assert (done.code, "nothing is written" in done.out) == (1, True)
    assert Path("a.race.yaml").read_text() == text


def test_what_cannot_be_healed_is_left_alone(run: Run) -> None:
    """Exit code 1: nothing shows what is expected, or it is the code that is wrong."""
    text = LATE + "expect: {switches: {guard: on}, violates: every_signature_is_kept}\n"
    done = run("replay", written(text), "--heal")
    assert (done.code, done.err) == (1, "")
    assert "nothing is written" in done.out
    assert Path("a.race.yaml").read_text() == text
    done = run("replay", written(LATE + HOLDS), "--heal")
    assert done.code == 1
    assert "it is the code that must be mended" in done.out
    done = run("replay", written(LOST), "--heal")
    assert (done.code, "it applies as it is" in done.out) == (0, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["race.jsonl", "--match"], "--match: a trace has no lines"),
        (["race.jsonl", "--heal"], "--heal: a trace has no lines"),
        (["race.jsonl", "--switch", "guard=on"], "--switch: a trace has no lines"),
        (["a.race.yaml", "--out", "b"], "--out: nothing is written"),
        (["a.race.yaml", "--shrink", "--heal"], "--shrink and --heal at once"),
        (["a.race.yaml", "--switch", "guard"], "--switch guard: expected NAME=VALUE"),
        (["a.race.yaml", "--switch", "gaurd=on"], "Did you mean 'guard'?"),
        (["b.race.yaml"], "b.race.yaml: cannot be read"),
        (["a.race.yaml", "--scenario", "x:y"], "--scenario x:y: a.race.yaml, line 2 names lost_up"),
        (["a.race.yaml", "--scenario-path", "no"], "--scenario-path no: expected a folder"),
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str], said: str, run: Run) -> None:
    """With what to do instead."""
    written(LOST)
    run("run", "lost_update", "--seed", "1", "--trace", "race.jsonl")
    done = run("replay", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "\nNext: " in done.err or "Known: " in done.err


# -- whose code -----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["replay", "check", "keep"])
def test_code_that_a_file_alone_names_is_not_imported(command: str, run: Run) -> None:
    """Refused with the line and the reason; a module that leaves a mark leaves none."""
    Path("marker.py").write_text("open('imported', 'w')\ndef race(world): 'x'\n")
    written("# mine\nscenario: marker:race\nexpect: {violates: x}\n")
    done = run(command, "a.race.yaml")
    assert done.code == 2
    said = "a.race.yaml, line 2 names marker:race, which is not one of `testbed list`."
    assert said in done.out + done.err
    assert (
        f"name it: testbed {command} a.race.yaml --scenario marker.py:race" in done.out + done.err
    )
    assert not Path("imported").exists()


# -- check ----------------------------------------------------------------------------------------


def test_the_races_that_come_with_the_testbed_are_as_expected(run: Run) -> None:
    """Each on both sides of its pair, and each with a line for its story."""
    done = run("check", str(file_of("double_bind").parent), str(file_of("lost_update").parent))
    assert (done.code, done.err) == (0, "")
    assert done.last.startswith("All as expected: ")
    for name in ("double_bind", "late_short_write", "lost_update"):
        assert f"{name}.race.yaml (guard=off): violates " in done.out
        assert f"{name}.race.yaml (guard=on): holds " in done.out
        text = file_of(name).read_text(encoding="utf-8")
        assert text.startswith("# ")
        assert len(parse(text, name)) == 1


@pytest.mark.parametrize("given", [[], ["--scenario", "other:race"], ["--scenario-path", "lab"]])
def test_the_line_that_looks_closer_finds_the_scenario(run: Run, given: list[str]) -> None:
    """One of one's own, whatever was said of it on the command line, or not."""
    Path("lab").mkdir()
    text = LATE.replace("scenario: lost_update", "scenario: late:race")
    assert text != LATE
    lab = "from scenarios.basics.lost_update import lost_update as race\n"
    Path("lab/late.py").write_text(lab, encoding="utf-8")
    Path("late.py").write_text(lab, encoding="utf-8")
    written(text + HOLDS, "red.race.yaml")
    done = run("check", "red.race.yaml", *given)
    assert done.code in (1, 2)
    line = done.last.partition("Next: testbed ")[2].split()
    own = ["--scenario", "lab/late.py:race" if "lab" in given else "late:race"]
    assert line == ["replay", "red.race.yaml", *own, "--match"]
    assert run(*line).code == 1


def test_what_is_not_as_expected_is_1_and_a_bad_file_2(run: Run) -> None:
    """The worst of all; every file is played, whatever the others are."""
    written(LATE + HOLDS, "red.race.yaml")
    done = run("check", "red.race.yaml", str(file_of("double_bind")))
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith("NOT EXPECTED  red.race.yaml: holds every_signature_is_kept\n")
    assert "\n    Violated: every_signature_is_kept: " in done.out
    assert done.last == "As expected: 2 of 3. Next: testbed replay red.race.yaml --match"
    done = run("check", "red.race.yaml", "--scenario-path", ".")
    assert done.last.endswith("Next: testbed replay red.race.yaml --scenario-path . --match")
    written("scenario: [x]\n", "bad.race.yaml")
    done = run("check", ".", "--json")
    assert (done.code, [result["code"] for result in done.json["checked"]]) == (2, [2, 1])
    assert "expected the name of a scenario" in done.json["checked"][0]["error"]


OWN = """
from testbed import always
from scenarios.basics.lost_update import lost_update

def dies(world):
    raise {raised}

def claims(world):
    lost_update(world)
    world.claim(always(spoiled, reads=()))

def spoiled(view):
    return [][0]
"""


@pytest.mark.parametrize(
    ("raised", "said"),
    [("ValueError('of its own')", "ValueError: of its own"), ("SystemExit(0)", "SystemExit: 0")],
)
def test_what_one_scenario_raises_keeps_no_other_file_from_being_told(
    raised: str, said: str, run: Run
) -> None:
    """Its line says where and what, as does that of a claim; exit code 2."""
    Path("wild.py").write_text(OWN.replace("{raised}", raised), encoding="utf-8")
    written("scenario: wild:dies\nexpect: {holds: []}\n", "1.race.yaml")
    written("scenario: wild:claims\nexpect: {holds: []}\n", "2.race.yaml")
    written(LOST, "3.race.yaml")
    done = run("check", ".", "--scenario-path", ".")
    assert (done.code, done.err) == (2, "")
    first, second, *rest = done.out.splitlines()
    wild = Path("wild.py").absolute()
    assert first == f"bad           1.race.yaml: {wild}, line 6: dies raised {said}"
    claim = "spoiled raised IndexError: list index out of range"
    assert second == f"bad           2.race.yaml: {wild}, line 13: {claim}"
    assert [line.split(" ")[0] for line in rest] == ["as", "as", "As"]
    assert rest[-1].startswith("As expected: 2 of 4. Next: testbed replay 1.race.yaml ")


def test_a_bug_of_ours_ends_a_check(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says nothing of any file: exit code 4, and the whole traceback."""
    monkeypatch.setattr("testbed.cli.commands.check.both_sides", None)
    done = run("check", written(LOST))
    assert (done.code, done.out) == (4, "")
    assert "HarnessBug: TypeError: " in done.err


def test_a_stale_file_is_a_bad_one(run: Run) -> None:
    """It says what nobody does any more, so it shows nothing."""
    done = run("check", written(LATE.replace("alpha update", "alpha updaet") + VIOLATES))
    assert done.code == 2
    said = "bad           a.race.yaml: violates every_signature_is_kept; matched nothing: line 4\n"
    assert done.out.startswith(said)
    assert "matched nothing; closest: alpha update notes/default/list." in done.out


def test_a_line_of_a_side_that_holds_is_named_if_it_matched_nothing(run: Run) -> None:
    """In the line of that side; below it, what came closest."""
    more = "  - hold: alpha update notes/default/lst\n    until: quiet\n"
    done = run("check", written(LATE + more + "switches: {guard: on}\n" + HOLDS))
    line = (LATE + more).splitlines().index(more.splitlines()[0]) + 1
    assert done.code == 0
    first, note, last = done.out.splitlines()
    assert first.endswith(f": holds every_signature_is_kept; matched nothing: line {line}")
    assert note.endswith("matched nothing; closest: alpha update notes/default/list.")
    assert last.endswith("Next, for what matched nothing: testbed replay a.race.yaml --heal")
    assert run("check", "a.race.yaml", "--json").json["checked"][0]["unmatched"] == [line]


def test_a_guard_that_renames_what_a_line_names_is_told(run: Run) -> None:
    """Which line, on which side, and why; and what mends it, which is not to heal the file: it is
    as it should be for the other side."""
    Path("renames.py").write_text(
        "from scenarios.basics.lost_update import Map, Note, Writer\n"
        "from scenarios.basics.lost_update import every_signature_is_kept, quiescent\n"
        "def renames(world, *, guard=False):\n"
        "    world.add(Note('list', data=Map(signed='')))\n"
        "    for name in ('alpha', 'beta'):\n"
        "        world.start(Writer(f'safe-{name}' if guard else name, guard=guard))\n"
        "    world.claim(quiescent(every_signature_is_kept, reads=()))\n"
    )
    text = LOST.replace("scenario: lost_update", "scenario: renames:renames")
    named = ("--scenario", "renames.py:renames")
    done = run("check", written(text), *named)
    assert (done.code, done.err) == (0, "")
    *_, line, why, what, to_do, last = done.out.splitlines()
    assert line.endswith("(guard=on): holds every_signature_is_kept; matched nothing: line 4")
    assert "there is no actor 'alpha'. Did you mean 'safe-alpha'? There are: safe-alpha" in why
    assert what == "    line 4 did nothing under guard=on. It is the calm run that holds."
    assert "write a glob that fits both" in to_do
    looks = f"testbed replay a.race.yaml {' '.join(named)} --switch guard=on --match"
    assert last == f"All as expected: 2 of 2. Next, for what matched nothing: {looks}"
    globs = text.replace("hold: alpha", 'hold: "*alpha').replace("until: beta", 'until: "*beta')
    globs = globs.replace("notes/default/list\n", 'notes/default/list"\n')
    assert "matched nothing" not in run("check", written(globs), *named).out
    Path("a.race.yaml").write_text(text)
    assert "no actor 'alpha'" in run("keep", "a.race.yaml", *named).out


def test_a_file_of_which_no_line_matches_is_as_expected_if_what_is_to_hold_does(run: Run) -> None:
    """What mends the code may do away with all that it spoke of; and a file may have no line."""
    gone = LATE.replace("alpha update", "alpha updaet")
    done = run("check", written(gone + "switches: {guard: on}\n" + HOLDS))
    assert done.code == 0
    assert "; matched nothing: line 4\n" in done.out
    assert done.last.endswith(" testbed replay a.race.yaml --heal")
    healed = run("replay", "a.race.yaml", "--heal")
    assert (healed.code, "+  - hold: alpha update notes" in healed.out) == (0, True)
    one = "expect:\n- switches: {writers: 1}\n  holds: []\n- switches: {guard: on}\n  holds: []\n"
    done = run("check", written(LATE.replace("alpha update", "beta update") + one))
    assert (done.code, done.out.count("; matched nothing: line ")) == (0, 1)
    assert run("check", written("scenario: lost_update\n" + HOLDS, "calm.race.yaml")).code == 0


def test_what_cannot_be_read_is_checked_again_when_it_is_mended(run: Run) -> None:
    """No replay shows more of it."""
    done = run("check", written("scenario: lost_update\nhodl: []\n"))
    assert (done.code, done.last) == (2, "As expected: 0 of 1. Next: testbed check a.race.yaml")


def test_a_line_that_speaks_of_nobody_says_who_there_is(run: Run) -> None:
    """As an error, or as a note if it is what is waited for."""
    said = "there is no actor 'alfa'. Did you mean 'alpha'? There are: alpha, beta, store.\n"
    done = run("check", written(LATE.replace("alpha update", "alfa update") + VIOLATES))
    assert (done.code, said in done.out) == (2, True)
    done = run("replay", written(LATE.replace("beta get", "alfa get") + VIOLATES))
    assert (done.code, f"a.race.yaml, line 4: {said}" in done.out) == (1, True)


def test_a_file_that_expects_nothing_cannot_be_checked(run: Run) -> None:
    """It would always be green."""
    done = run("check", written(LATE))
    assert (done.code, "nothing is expected of it" in done.out) == (2, True)


def test_a_folder_without_race_files_is_an_error(run: Run) -> None:
    """A check of nothing is not green."""
    Path("empty").mkdir()
    done = run("check", "empty")
    assert (done.code, "no race file is in it" in done.err) == (2, True)


# -- keep -----------------------------------------------------------------------------------------


def test_a_found_race_is_kept_as_a_pair(run: Run) -> None:
    """Beside the tests; its comment is kept; both sides are said, and they are as expected."""
    Path("tests").mkdir()
    done = run("keep", written(LATE + VIOLATES))
    assert (done.code, done.err) == (0, "")
    assert Path("tests/a.race.yaml").read_text() == LOST
    assert done.out.splitlines() == [
        "Kept as tests/a.race.yaml: green, and red when either side changes.",
        "    guard=off: violates every_signature_is_kept, as expected",
        "    guard=on: holds every_signature_is_kept, as expected",
        "pytest collects it with your tests (`pytest tests/a.race.yaml`). By hand: "
        "testbed check tests/a.race.yaml",
    ]
    assert run("check", "tests").code == 0


def test_a_green_pair_says_which_side_its_lines_do_not_reach(run: Run) -> None:
    """Behind this guard one of another name writes, so the lines of alpha and beta are idle."""
    Path("lone.py").write_text(
        "from scenarios.basics.lost_update import Writer, every_signature_is_kept, lost_update\n"
        "from testbed import quiescent\n"
        "from testbed.objects import Map, Note\n"
        "def lone(world, *, guard=False):\n"
        "    if not guard:\n"
        "        return lost_update(world)\n"
        "    world.add(Note('list', data=Map(signed='')))\n"
        "    world.start(Writer('one'))\n"
        "    world.claim(quiescent(every_signature_is_kept, reads=()))\n"
    )
    text = LATE.replace("scenario: lost_update", "scenario: lone:lone")
    done = run("keep", written(text + VIOLATES), "--scenario", "lone:lone")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0].endswith(
        ": green, but guard=on may change unnoticed: lines of the file match nothing there."
    )


def test_a_race_without_a_guard_is_kept_as_a_test_that_is_red(run: Run) -> None:
    """There is no other side, so the code is to be mended, and the claim to hold."""
    Path("bare.py").write_text(
        "from scenarios.basics.lost_update import lost_update\n"
        "def bare(world, *, safe=False):\n    lost_update(world, guard=safe)\n"
    )
    text = LATE.replace("scenario: lost_update", "scenario: bare:bare")
    done = run("keep", written(text + VIOLATES), "--scenario", "bare:bare")
    assert (done.code, done.err) == (1, "")
    assert Path("tests/a.race.yaml").read_text() == text + HOLDS
    assert "Kept as tests/a.race.yaml: red, the code is to be mended.\n" in done.out
    assert "a.race.yaml expects the breach still: remove it before" in done.out
    assert run("check", "tests", "--scenario", "bare:bare").code == 1


def guarded_by(when: str, more: str = "") -> str:
    """A scenario like lost_update whose guard works only when that is so, and its race; `more` is
    another line of the scenario."""
    # Two texts of one length within one second: Python would take the bytecode of the first.
    Path(cache_from_source(str(Path.cwd() / "own_guard.py"))).unlink(missing_ok=True)
    sys.modules.pop("own_guard", None)
    Path("own_guard.py").write_text(
        "from scenarios.basics.lost_update import lost_update\n"
        "def own_guard(world, *, guard=False):\n"
        f"    lost_update(world, guard={when})\n{more}"
    )
    return LATE.replace("scenario: lost_update", "scenario: own_guard:own_guard")


NAMED = ("--scenario", "own_guard:own_guard")


@pytest.mark.parametrize("found_under", ["", "switches: {guard: on}, "])
def test_a_guard_that_does_not_hold_makes_a_pair_that_is_red(run: Run, found_under: str) -> None:
    """Wherever the race was found: the guard is what is to be mended."""
    text = guarded_by("False")
    found = f"expect: {{{found_under}violates: every_signature_is_kept}}\n"
    done = run("keep", written(text + found), *NAMED, "--json")
    assert (done.code, done.err, done.json["is_green"]) == (1, "", False)
    told = [(side["switches"], side["as_expected"]) for side in done.json["sides"]]
    assert told == [({"guard": "off"}, True), ({"guard": "on"}, False)]
    assert run("check", "tests", *NAMED).code == 1
    shutil.rmtree("tests")
    done = run("keep", "a.race.yaml", *NAMED)
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith("Kept as tests/a.race.yaml: red, the guard does not hold.\n")
    pasted = done.out.splitlines()[-1].partition(": testbed ")[2].split()
    assert (pasted[-1], run(*pasted).code) == ("guard=on", 1)
    guarded_by("guard")
    assert run("check", "tests", *NAMED).code == 0


def test_a_guard_that_comes_to_no_end_is_not_told_as_broken(run: Run) -> None:
    """Undecided is no breach: the pair is red, and says at which limit the Run was cut off."""
    text = guarded_by("guard", "    if guard:\n        world.limit(turns_max=3)\n")
    done = run("keep", written(text + VIOLATES), *NAMED)
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith("Kept as tests/a.race.yaml: red, it comes to no end.\n")
    assert "guard=on: holds every_signature_is_kept, NOT as expected: Undecided: turns" in done.out
    assert "\nNext: see why it comes to no end: testbed replay tests/a.race.yaml" in done.out


def test_a_pair_is_red_when_either_side_changes(run: Run) -> None:
    """The race is gone with the guard off, or is there with it on."""
    text = guarded_by("guard")
    assert run("keep", written(text + VIOLATES), *NAMED).code == 0
    assert run("check", "tests", *NAMED).code == 0
    for when in ("True", "False", "not guard"):
        guarded_by(when)
        assert run("check", "tests", *NAMED).code == 1


def test_a_race_that_only_the_guard_makes_has_one_side(run: Run) -> None:
    """With the guard off it does not happen; so no file can expect that."""
    text = guarded_by("not guard")
    found = "expect: {switches: {guard: on}, violates: every_signature_is_kept}\n"
    done = run("keep", written(text + found), *NAMED)
    assert (done.code, done.err) == (1, "")
    assert "    guard=on: holds every_signature_is_kept, NOT as expected\n" in done.out
    assert "guard=off" not in done.out


def test_a_race_that_does_not_happen_any_more_makes_no_pair(run: Run) -> None:
    """Its side with the guard off would be red from the start, and show no guard."""
    text = guarded_by("True")
    done = run("keep", written(text + VIOLATES), *NAMED)
    assert (done.code, Path("tests").exists()) == (2, False)
    assert "guard=off: violates every_signature_is_kept, NOT as expected" in done.err
    assert done.err.endswith(
        "Next: testbed replay a.race.yaml --scenario own_guard:own_guard --switch guard=off\n"
    )


def test_a_pair_is_kept_as_it_is(run: Run) -> None:
    """To the letter, whatever else its sides say."""
    text = LOST.replace("{guard: off}", "{guard: 'false'}  # today") + "# end\n"
    assert run("keep", written(text)).code == 0
    assert Path("tests/a.race.yaml").read_text() == text


def test_a_kept_race_of_mended_code_is_green(run: Run) -> None:
    """And said to be so; with the guard off it happens, so that is expected as well."""
    text = LATE + "expect: {switches: {guard: on}, violates: every_signature_is_kept}\n"
    Path("kept").mkdir()
    done = run("keep", written(text), "--out", "kept", "--json")
    assert (done.code, done.json["is_green"]) == (0, True)
    assert Path("kept/a.race.yaml").read_text() == LOST
    assert run("check", "kept").code == 0


def test_a_race_is_kept_in_tests_which_is_made(run: Run) -> None:
    """The file itself stays as it was."""
    done = run("keep", written(LATE + VIOLATES))
    assert (done.code, done.err) == (0, "")
    assert Path("a.race.yaml").read_text() == LATE + VIOLATES
    assert Path("tests/a.race.yaml").read_text() == LOST


def test_nothing_is_kept_over_what_is_there(run: Run) -> None:
    """Least of all the file itself: another name is found, unless a folder is named, or what is
    there is the same already."""
    Path("tests").mkdir()
    written(LATE + VIOLATES, "tests/a.race.yaml")
    Path("tests/a-2.race.yaml").write_text("mine")
    done = run("keep", "tests/a.race.yaml")
    assert (done.code, "Kept as tests/a-3.race.yaml: green" in done.out) == (0, True)
    assert Path("tests/a.race.yaml").read_text() == LATE + VIOLATES
    assert Path("tests/a-2.race.yaml").read_text() == "mine"
    assert Path("tests/a-3.race.yaml").read_text() == LOST
    again = run("keep", "tests/a.race.yaml")
    assert (again.code, again.err) == (
        2,
        "ScenarioError: tests/a-3.race.yaml: is there already, and the same.\n"
        "Next: testbed check tests/a-3.race.yaml\n",
    )
    named = run("keep", "tests/a.race.yaml", "--out", "tests")
    assert (named.code, named.err) == (
        2,
        "ScenarioError: tests/a.race.yaml: is there already.\n"
        "Next: testbed keep tests/a.race.yaml\n",
    )
    Path("taken").touch()
    assert "taken: cannot be made" in run("keep", "tests/a.race.yaml", "--out", "taken").err


def test_what_expects_no_breach_is_not_kept(run: Run) -> None:
    """It is a test already."""
    done = run("keep", written(LATE + HOLDS))
    assert (done.code, "expects no breach" in done.err) == (2, True)
    assert done.err.endswith("Next: testbed check a.race.yaml\n")


def test_a_stale_race_is_not_kept(run: Run) -> None:
    """It would be green for ever, and prove nothing."""
    Path("tests").mkdir()
    done = run("keep", written(LATE.replace("alpha update", "alpha updaet") + VIOLATES))
    assert (done.code, "matched nothing" in done.err) == (2, True)
    assert not Path("tests/a.race.yaml").exists()


# -- init -----------------------------------------------------------------------------------------


def test_what_init_writes_runs_as_it_says(
    run: Run, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command it names, in the folder it made: held, violated, shrunk, as expected, passed."""
    monkeypatch.setenv("PYTEST_PLUGINS", "testbed.pytest_plugin")
    done = run("init", "shop")
    assert (done.code, done.err) == (0, "")
    assert sorted(path.name for path in (own / "shop").iterdir()) == sorted(FILES)
    assert [line.strip() for line in done.out.splitlines()[1:]] == ["cd shop", *TRY]
    codes = []
    for line in TRY:
        words = line.replace("testbed", f"{sys.executable} -m testbed", 1).split()
        words[0] = sys.executable
        ran = subprocess.run(words, cwd=own / "shop", capture_output=True, text=True, timeout=300)
        codes.append(ran.returncode)
    assert codes == [0, 1, 0, 0, 0]
    assert len(load(str(own / "shop/race.race.yaml"))) == 1
    keep = ["-m", "testbed", "keep", "race.race.yaml", "--scenario", "my_scenario:last_one"]
    test = ["-m", "pytest", "tests/race.race.yaml"]
    for words, code in ((keep, 0), (test, 0)):
        asked = [sys.executable, *words]
        ran = subprocess.run(asked, cwd=own / "shop", capture_output=True, text=True)
        assert ran.returncode == code


PAIRS = [scenario.name for scenario in known() if scenario.has_guard]


def test_a_race_is_played_as_each_generation_has_its_components(run: Run) -> None:
    """What each comes to, which are affected, and the line that looks at one of them."""
    race = str(file_of("stolen_slot"))
    done = run("replay", race, "--profiles", "all")
    assert done.code == 0
    said = dict(re.findall(r"^(\S+) +(held|violated)\b", done.out, re.MULTILINE))
    assert said == {
        "alpha": "held", "k8s-1.26": "violated", "k8s-modern": "violated", "seed": "held",
    }  # fmt: skip
    assert "\nAffected: k8s-1.26, k8s-modern.\n" in done.out
    assert run(*shlex.split(done.last.removeprefix("Next: testbed "))).code in (0, 1)
    found = run("replay", race, "--profiles", "alpha,k8s-1.26", "--json").json
    assert found["affected"] == ["k8s-1.26"]
    assert found["profiles"]["k8s-1.26"]["violates"] == ["no_room_is_stolen"]
    assert found["profiles"]["alpha"]["lines"] >= found["profiles"]["alpha"]["matched"]
    guarded = run("replay", race, "--profiles", "all", "--switch", "guard=on", "--json").json
    assert guarded["affected"] == []
    refused = run("replay", race, "--profiles", "all", "--match")
    assert (refused.code, "does nothing else" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "profiles", "said"),
    [
        ("stolen_slot", "k8s-1.27", "there is no profile 'k8s-1.27'"),
        ("lost_update", "all", "nothing in lost_update has profiles"),
        ("", "all", "--profiles: a trace has no lines"),
    ],
)
def test_what_has_no_such_profile_is_told(run: Run, name: str, profiles: str, said: str) -> None:
    """With those that there are, or with what to do instead."""
    done = run("replay", str(file_of(name)) if name else "a.jsonl", "--profiles", profiles)
    assert (done.code, said in done.err) == (2, True)


QUICK_PAIRS = ("late_bind", "lost_update", "tug_of_war")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n in QUICK_PAIRS else pytest.mark.long) for n in PAIRS],
)
def test_what_init_copies_shows_its_race_as_its_own(run: Run, own: Path, name: str) -> None:
    """The file to the letter; its race, if it needs one, as expected on both sides; and its test
    passes, which finds the race by itself."""
    done = run("init", "--from", name, "mine", "--json")
    assert done.code == 0
    (scenario, test, *races) = done.json["files"]
    (there,) = ROOT.glob(f"scenarios/*/{name}.py")
    assert (own / "mine" / scenario).read_text() == there.read_text()
    for words in (
        ["-m", "testbed", "check", *races, "--scenario-path", "."],
        ["-m", "pytest", test],
    ):
        asked = [sys.executable, *words]
        ran = subprocess.run(asked, cwd=own / "mine", capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout
    again = run("init", "--from", name, "mine")
    assert (again.code, "are there already" in again.err) == (2, True)
    assert again.err.splitlines()[-1] == f"Next: testbed init --from {name} another-folder"


def test_only_what_comes_along_is_copied(run: Run, own: Path) -> None:
    """One's own may import its neighbours; and what is unknown is said to be."""
    (own / "calm_one.py").write_text("def calm_one(world):\n    pass\n", encoding="utf-8")
    done = run("init", "--from", "calm_one.py:calm_one", "mine")
    assert (done.code, "it is your own already" in done.err) == (2, True)
    assert run("init", "--from", "lost_updat", "mine").code == 2
    assert not (own / "mine").exists()


def test_the_test_of_init_tells_the_race_when_the_guard_is_off(run: Run, own: Path) -> None:
    """As it says itself: the story, and the race in a file that breaches the claim."""
    run("init")
    test = own / "test_my_scenario.py"
    test.write_text(test.read_text().replace('{"guard": "on"}', '{"guard": "off"}'))
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(test)],
        cwd=own, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert ran.returncode == 1
    assert "nothing_is_sold_twice: one thing, sold to " in ran.stdout
    assert re.search(r"alpha +beta", ran.stdout)
    (file,) = (own / ".testbed").glob("*.race.yaml")
    done = run("replay", str(file), "--scenario", "my_scenario:last_one")
    assert (done.code, done.last.startswith("As expected. ")) == (1, True)


def test_init_writes_over_nothing(run: Run, own: Path) -> None:
    """Into the current folder, unless something there has one of its names."""
    (own / "README.md").touch()
    assert run("init", "--json").json["files"] == [*FILES]
    done = run("init")
    assert (done.code, done.out) == (2, "")
    assert "my_actor.py, my_scenario.py, my_race.race.yaml, test_my_scenario.py are th" in done.err
    (own / "file").touch()
    assert "cannot be made" in run("init", "file/there").err


def test_the_scenario_of_init_is_a_pair(own: Path, run: Run) -> None:
    """Commented, and with a title."""
    run("init")
    sys.path.insert(0, str(own))
    assert find("my_scenario:last_one").title == "Two buyers reach for the last thing on a shelf."
    for name, text in FILES.items():
        assert "# " in text or '"""' in text, name


STRUCK = """\
scenario: lost_update
without: [notes/default/other]
faults:
  - crash: alpha
    after: alpha get notes/default/list
    restart: 50ms
  - lose_reply: beta get notes/default/list
  - stall: beta
    after: start of beta
    by: 20ms
"""


def test_the_trace_of_a_race_is_replayed_with_the_faults_of_the_race(run: Run) -> None:
    """The scenario allows none of them. The header says what was allowed beside the scenario, and
    what was left out: replay, explain and shrink make the same World."""
    written(STRUCK)
    code = run("replay", "a.race.yaml", "--trace", "race.jsonl").code
    header = json.loads(Path("race.jsonl").read_bytes().partition(b"\n")[0])
    assert header["without"] == ["notes/default/other"]
    assert [(told["word"], told["target"]) for told in header["faults"]] == [
        ("crash", "alpha"), ("lose_reply", "beta"), ("stall", "beta"),
    ]  # fmt: skip
    done = run("replay", "race.jsonl", "--trace", "again.jsonl")
    assert (done.code, done.err) == (code, "")
    assert done.last == "The same to the byte as recorded. Again: testbed replay race.jsonl"
    assert Path("again.jsonl").read_bytes() == Path("race.jsonl").read_bytes()
    assert run("replay", "race.jsonl", "--twice").code == code
    assert run("explain", "race.jsonl").err == ""


def test_the_trace_of_a_violated_race_is_shrunk_with_its_faults(run: Run) -> None:
    """And the race that is left is one again."""
    stalled = "faults:\n  - stall: alpha\n    by: 20ms\nexpect:"
    written(LOST.replace("expect:", stalled))
    assert run("replay", "a.race.yaml", "--trace", "race.jsonl").code == 1
    assert run("replay", "race.jsonl", "--shrink", "--out", "small.race.yaml").code == 0
    assert run("replay", "small.race.yaml").code == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"faults":[{', b'"faults":[7,{'),
        (b'"word":"crash"', b'"word":7'),
        (b'"target":"alpha"', b'"target":null'),
        (b'"restart_after_ms":50', b'"restart_after_ms":"50"'),
        (b'"without":["', b'"without":[7,"'),
        (b'"word":"crash"', b'"word":"crush"'),
        (b'"restart_after_ms":50', b'"restart_soon_ms":50'),
    ],
)
def test_a_header_that_allows_what_there_is_not_is_refused(
    old: bytes, new: bytes, run: Run
) -> None:
    """With what was expected, and no traceback."""
    written(STRUCK)
    run("replay", "a.race.yaml", "--trace", "race.jsonl")
    raw = Path("race.jsonl").read_bytes()
    assert old in raw
    total, lines = 0, []
    for line in raw.replace(old, new, 1).splitlines():
        body, _, _ = line.rpartition(b',"sum":"')
        total = zlib.crc32(body + b"}", total)
        lines.append(b'%s,"sum":"%08x"}\n' % (body, total))
    Path("race.jsonl").write_bytes(b"".join(lines))
    done = run("replay", "race.jsonl")
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err
