"""The command `testbed learn`: what it writes, prints and returns, and that nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import webbrowser
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs
import pytest

from testbed import Actor
from testbed.cli import main
from testbed.cli import wrong_answers as wrong
from testbed.cli.commands import learn as command
from testbed.cli.commands.learn import page_of
from testbed.maps import mapping
from testbed.teaching.beats import break_line
from testbed.teaching.checking import careless_race
from testbed.teaching.ladder import level_of, levels, wrong_answers
from testbed.teaching.record import VARIABLE
from testbed.world.scenario import find
from tests.each_row import each_row

MENDED = ", whatever_it_was=True"
RIGHT = """
from scenarios.levels.lost_count import Clerk
from testbed import Client, Conflict, Unavailable
from testbed.objects import Note


class MyClerk(Clerk):
    async def run(self, client: Client) -> None:
        while True:
            try:
                note = await client.get(Note, self.stock)
                count = int(note.data["count"]) + self.deliveries
                await client.update(note.saying(count=str(count)))
                return
            except (Conflict, Unavailable):
                continue
"""

DIES = """
from scenarios.levels.lost_count import Clerk
from testbed import Client
from testbed.objects import Note


class MyClerk(Clerk):
    async def run(self, client: Client) -> None:
        for _ in range(self.deliveries):
            note = await client.get(Note, self.stock)
            await client.update(note.saying(count=str(int(note.data["count"]) + 1)))
"""
PASSED = {"passed": True, "checks": 1, "checks_to_pass": 1, "hints": 0}


@attrs.frozen
class Said:
    """What a command has said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Its one JSON object."""
        return json.loads(self.out)


Learn = Callable[..., Said]


@pytest.fixture
def learn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Learn:
    """Runs `testbed learn` in an empty folder, with a record of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "record" / "learn.json"))

    def call(*words: object) -> Said:
        capsys.readouterr()
        code = main(["learn", *map(str, words)])
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return call


def test_it_lists_the_levels_and_which_are_passed(learn: Learn) -> None:
    """With the command to go on with."""
    done = learn()
    assert (done.code, done.err) == (0, "")
    for level in levels():
        assert f"{level.number:>2}  {level.title}" in done.out
    assert done.out.endswith("\nNext: testbed learn 1\n")
    data = learn("--json").data
    assert [each["level"] for each in data["levels"]] == [each.number for each in levels()]
    assert not any(each["passed"] for each in data["levels"])


def test_a_level_has_five_beats_and_writes_its_file_once(learn: Learn) -> None:
    """What a student has written is never overwritten, unless it is asked for."""
    done, file = learn(1, "--no-page"), Path("level_1.py")
    beats = [line for line in done.out.splitlines() if line[:2] in ("1 ", "2 ", "3 ", "4 ", "5 ")]
    assert beats == ["1 Guess", "2 Break", "3 Read", "4 Fix", "5 Prove"]
    assert done.out.endswith("Wrote level_1.py.\n")
    assert max(map(len, done.out.splitlines())) <= 80
    assert file.read_text(encoding="utf-8") == level_of(1).starter()
    file.write_text("mine", encoding="utf-8")
    assert "was left as it is" in learn(1, "--no-page").out
    assert not learn(1, "--json", "--no-page").data["written"]
    assert file.read_text(encoding="utf-8") == "mine"
    assert learn(1, "--again", "--no-page").out.endswith("Wrote level_1.py.\n")
    assert file.read_text(encoding="utf-8") == level_of(1).starter()


def test_the_commands_of_the_beats_can_be_pasted(learn: Learn) -> None:
    """In the order in which they stand; each does what it is said to do."""
    learn(1, "--no-page")
    assert main(["run", "lost_count"]) == 0
    assert main(["search", "lost_count", "--until-first"]) == 1
    assert main(break_line(level_of(2), careless_race(level_of(2)).name).split()[1:]) == 1
    assert learn(1, "--check", "level_1.py").code == 1
    assert main(["explain", "level_1.race.yaml", "--policy", "level_1.py"]) == 1


def test_a_refusal_leaves_a_race_that_can_be_played_again(learn: Learn) -> None:
    """The reason and the story are told first, and the last lines play the same Run."""
    learn(1, "--no-page")
    done = learn(1, "--check", "level_1.py")
    assert done.code == 1
    assert done.out.startswith("✗ two clerks, two deliveries each\n    run 2 of the search")
    assert "Refused: every_delivery_is_counted: stock had 7, 4 came, and it says 10" in done.out
    assert "● update notes/default/stock" in done.out
    again = "Again: testbed replay level_1.race.yaml --policy level_1.py"
    page = "Next: testbed explain level_1.race.yaml --policy level_1.py --page race.html"
    assert done.out.endswith(f"\n\n· 4 not played\n\nRace: level_1.race.yaml\n{again}\n{page}\n")
    assert main(again.split()[2:]) == 1
    assert main(page.split()[2:]) == 1
    assert Path("race.html").exists()
    data = learn(1, "--check", "level_1.py", "--json").data
    assert data["again"] == again.removeprefix("Again: ")
    assert data["trials"][0]["race"] == Path("level_1.race.yaml").read_text(encoding="utf-8")
    assert not data["passed"]


def test_what_held_before_a_refusal_stands_in_one_line_behind_the_story(learn: Learn) -> None:
    """What a student has to mend comes first."""
    learn(2, "--no-page")
    done = learn(2, "--check", "level_2.py")
    assert done.out.startswith(f"✗ {level_of(2).trials[1].name}\n")
    story, others = done.out.split("\nSo every_pod_comes_back is broken: ")
    assert "web-2 and web-3 are gone, and nothing brings them back" in story
    assert f"\n✓ held: {level_of(2).trials[0].name}\n· 4 not played\n\nRace: " in others


def test_a_claim_of_every_world_is_not_named(learn: Learn) -> None:
    """The sentence says it, and the level does not speak of that claim; the data has its name."""
    Path("mine.py").write_text(DIES, encoding="utf-8")
    assert "\nRefused: beta/main died of Conflict: " in learn(1, "--check", "mine.py").out
    tried = learn(1, "--check", "mine.py", "--json").data["trials"][0]
    assert tried["claim"] == "no_actor_dies"


def test_what_comes_next_goes_by_the_record(learn: Learn) -> None:
    """The first level that is not passed yet; none if each is."""
    Path("mine.py").write_text(RIGHT, encoding="utf-8")
    assert learn(1, "--check", "mine.py", "--quick").out.endswith("\nNext: testbed learn 2\n")
    others = {str(level.number): PASSED for level in levels() if level.number > 1}
    record = Path("others.json")
    record.write_text(json.dumps({"testbed_learn": 1, "levels": others}), encoding="utf-8")
    done = learn(1, "--check", "mine.py", "--quick", "--progress", record)
    assert done.out.endswith("\nEvery level is passed.\n")


def test_what_is_passed_is_recorded(learn: Learn) -> None:
    """With the checks and the hints that it took; and where it has happened is told then."""
    Path("mine.py").write_text(RIGHT, encoding="utf-8")
    assert learn(1, "--hint").out.startswith("Hint 1 of 4: ")
    for number in (2, 3, 4, 4):
        assert learn(1, "--hint", "--json").data["hint"] == number
    done = learn(1, "--check", "mine.py", "--quick")
    assert done.code == 0
    assert done.out.count("✓ ") == len(level_of(1).trials)
    assert "complete: every order, " in done.out
    assert level_of(1).incident.link in done.out
    marked = [line.split()[:2] for line in learn().out.splitlines() if "✓" in line]
    assert marked == [["✓", "1"]]
    first = learn("--json").data["levels"][0]
    assert [first[name] for name in ("passed", "checks", "hints")] == [True, 1, 4]
    assert learn("--progress", "other.json", "--json").data["progress"] == "other.json"


def test_a_check_that_passes_is_checked_itself(
    learn: Learn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It plays the wrong answers; one that it lets pass is named. Here the level has one trial."""
    Path("mine.py").write_text(RIGHT, encoding="utf-8")
    short = attrs.evolve(level_of(1), trials=level_of(1).trials[:1])
    monkeypatch.setattr(command, "level_of", lambda number: short)
    few = wrong_answers(short)[:3]
    monkeypatch.setattr(wrong, "wrong_answers", lambda level: few)
    done = learn(1, "--check", "mine.py")
    assert "✓ the check itself: it refuses 3 wrong answers of 3\n" in done.out
    right: type[Actor] = import_module("tests.teaching.right.lost_count").ReadsAgain
    monkeypatch.setattr(wrong, "wrong_answers", lambda level: [*few, right])
    done = learn(1, "--check", "mine.py")
    assert f"✗ the check itself: it lets {right.__name__} pass" in done.out
    data = learn(1, "--check", "mine.py", "--json").data
    assert data["wrong"] == {"played": 4, "passing": [right.__name__]}


def test_a_damaged_record_is_told_before_anything_is_checked(learn: Learn, tmp_path: Path) -> None:
    """It is left as it is; another can be named."""
    Path("learn.json").write_text("{", encoding="utf-8")
    done = learn(1, "--hint", "--progress", "learn.json")
    assert done.code == 2
    assert "learn.json: this is no record of `testbed learn`, or it is damaged" in done.err
    assert Path("learn.json").read_text(encoding="utf-8") == "{"


def test_a_guess_is_answered_with_why(learn: Learn) -> None:
    """Also a wrong one; and one that is no choice is refused."""
    level = level_of(1)
    assert learn(1, "--guess", level.guess.answer).out.startswith("Right. ")
    wrong = learn(1, "--guess", 1, "--json").data
    assert (wrong["right"], wrong["answer"]) == (False, level.guess.answer)
    assert learn(1, "--guess", 9).code == 2


def test_words_are_shown(learn: Learn) -> None:
    """Each with its sentence."""
    done = learn(2, "--words")
    assert all(word in done.out for word in level_of(2).words)
    assert learn(2, "--words", "--json").data["words"] == dict(level_of(2).words)


@each_row(
    ("words", "said"),
    [
        (["99"], "there is no level '99'"),
        (["--hint"], "--hint: of which level?\nNext: testbed learn 1 --hint"),
        (["1", "--hint", "--words"], "--hint and --words cannot be said at once."),
        (["1", "--check", "nothing.py"], "expected a Python file with an answer to level 1"),
        (["1", "--page", "nowhere/out.html"], "cannot be written"),
    ],
)
def test_a_wrong_call_says_what_to_do(words: list[str], said: str, learn: Learn) -> None:
    """Exit code 2, on standard error."""
    done = learn(*words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "\nNext: " in done.err


def test_a_level_writes_its_page_beside_it(
    learn: Learn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older page is replaced. On a terminal it is opened, unless JSON is asked for."""
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    page = Path("level_4.html")
    page.write_text("an older one", encoding="utf-8")
    assert learn(4).out.endswith("Wrote level_4.py.\nPage: level_4.html\n")
    assert level_of(4).guess.question in page.read_text(encoding="utf-8")
    assert opened == []
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert learn(4, "--json").data["page"] == "level_4.html"
    assert opened == []
    learn(4)
    assert opened == [(tmp_path / page).as_uri()]
    page.unlink()
    assert learn(4, "--no-page", "--json").data["page"] is None
    assert not page.exists()


def test_a_page_has_the_level_and_its_map(learn: Learn) -> None:
    """One file; the race of the code to mend is told on it."""
    done = learn(2, "--page", "out.html")
    assert (done.code, done.out) == (0, "Page: out.html\n")
    page = Path("out.html").read_text(encoding="utf-8")
    assert "every_pod_comes_back" in page
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    level, shown = level_of(2), data["level"]
    assert (shown["question"], shown["answer"]) == (level.guess.question, level.guess.answer)
    assert (shown["hints"], shown["why"]) == ([*level.hints], level.guess.why)
    assert shown["check"] == "testbed learn 2 --check level_2.py"
    assert {end["outcome"] for end in data["map"]["ends"]} == {"held", "violated"}


def test_a_level_whose_world_is_too_large_has_no_map(monkeypatch: pytest.MonkeyPatch) -> None:
    """None is looked for, which would take a while."""
    told: list[str] = []
    monkeypatch.setattr(mapping, "play_all", lambda *_, **__: told.append("played"))
    assert not level_of(8).has_map
    assert page_of(level_of(8), careless_race(level_of(8)))["map"] is None
    assert told == []


def test_a_level_that_is_called_like_another_scenario_is_refused(tmp_path: Path) -> None:
    """The other one would be played instead."""
    text = Path(find("lost_count").build.__code__.co_filename).read_text(encoding="utf-8")
    for was, now in (("lost_count", "lawful_theft"), ("number=1,", "number=11,")):
        assert was in text
        text = text.replace(was, now)
    (tmp_path / "own").mkdir()
    (tmp_path / "own/lawful_theft.py").write_text(text, encoding="utf-8")
    words = [sys.executable, "-m", "testbed", "learn", "11", "--no-page"]
    env = {**os.environ, "TESTBED_LEVELS": "own", VARIABLE: str(tmp_path / "learn.json")}
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "lawful_theft.py: there is another scenario that is called lawful_theft" in done.stderr


def test_a_check_is_the_same_in_every_process(tmp_path: Path) -> None:
    """Byte for byte, with another hash seed; under another seed, other names are drawn."""
    (tmp_path / "mine.py").write_text(level_of(1).starter(), encoding="utf-8")
    words = [sys.executable, "-m", "testbed", "learn", "1", "--check", "mine.py", "--json"]
    said = []
    for hash_seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed, VARIABLE: str(tmp_path / "learn.json")}
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, check=False)
        assert done.returncode == 1, done.stderr
        said.append(done.stdout)
    assert said[0] == said[1]
    draws = [level_of(1).drawn(seed) for seed in range(20)]
    assert draws[0] == level_of(1).drawn(0)
    assert len({str(draw) for draw in draws}) > 10
