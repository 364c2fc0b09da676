"""The certificate of a complete search, and the program that checks it and trusts nothing."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from testbed import World, always
from testbed.checks import certificate
from testbed.checks.certificate import checked
from testbed.checks.certificate.certificate import Certificate
from testbed.checks.certificate.lines import CertificateRefused
from testbed.choosers.complete import Complete
from testbed.choosers.equivalence.certificate import write
from testbed.cli.commands.certify import hold_against, play_again
from testbed.errors import ScenarioError
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.search.terms import terms_of
from testbed.world.scenario import Scenario, find, of, play_runs
from tests.models.forged import Forged, lines_of, write_lines
from tests.models.forgeries import KINDS
from tests.models.worlds.drawing import world
from tests.models.worlds.drawn_world import Drawn
from tests.models.worlds.small_worlds import Small

ROOM = Path(certificate.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "search.md"


def searched(scenario: Scenario, path: Path, **switches: str) -> Forged:
    """Search it whole and write the certificate; what it says."""
    chooser = Complete()
    play_runs(scenario, chooser, lambda _: True, runs_max=3_000, switches=switches, driver="direct")
    chooser.certificate(path, terms_of(scenario, switches))
    return Forged.of(path)


def refusal(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Why it is refused, in a line; empty if it is not."""
    refused = certificate.main(str(path))
    said = capsys.readouterr().out
    assert said.startswith(f"{path}: ")
    if refused:
        assert said.splitlines()[1].startswith("Next: ")
        return said.splitlines()[0]
    return ""


SMALL = Small(((("update", "x"), ("pick",)), (("get", "x"),)), faults=(LoseReply("b"),))
TWO = ((("swap", "x"),), (("swap", "x"),))
LATER = tuple((("sleep", 5), *actions) for actions in TWO)
BESIDE = ((("update", "x"),), (("create", "y"),))
SHORT = Small(TWO, turns_max=5)


@pytest.mark.parametrize("guard", ["off", "on"])
@pytest.mark.parametrize("name", ["lost_update", "late_short_write", "double_bind"])
def test_a_certificate_is_accepted(
    name: str, guard: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a search writes is coherent and closed, and each of its classes can be played again."""
    path = tmp_path / "classes.jsonl"
    searched(find(name), path, guard=guard)
    assert refusal(path, capsys) == ""
    read = checked(str(path))
    assert read.header["verdict"] == ("held" if guard == "on" else "violated")
    assert play_again(read, find(name), 1_000) == len(read.runs)


# Two commits that a watch hears, or that a watch opened on the past hears; one that is there only
# if its request was not lost. What a commit touches depends on it, and not on the commit's past.
HEARD = Small(((("cache",), ("die",)), (("join",), ("delete", "x"), ("delete", "x"))))
LOST = Small(
    (
        (("spawn", "w", (("update", "x"),)), ("die",), ("spawn", "w", (("swap", "y"),))),
        (("cache",), ("delete", "x"), ("set",), ("die",)),
    ),
    (True, True, False),
    faults=(LoseRequest(),),
)


DRAWN = 394
"""A drawn World in which a commit is heard by a watch that was told, or not yet, from where."""


ONCE_REFUSED = {
    "a server fell behind twice, and by two commits at once": 1603,
    "an actor is connected elsewhere after a request that opens no watch, or before": 809,
    "two faults of one sentence, with different settings": 817,
}
"""Drawn Worlds of which true certificates were refused, or could not be written."""


@pytest.mark.parametrize(
    "small", [SMALL, HEARD, LOST, world(DRAWN), *map(world, ONCE_REFUSED.values())]
)
def test_one_of_faults_picks_and_watches_is_accepted(
    small: Small | Drawn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if a class had to be found for a fault that strikes, and does not."""
    path = tmp_path / "classes.jsonl"
    searched(small.scenario(), path)
    assert certificate.main(str(path)) == 0
    said = capsys.readouterr().out
    assert "coherent and closed" in said
    read = checked(str(path))
    assert play_again(read, small.scenario(), 1_000) == len(read.runs)


@pytest.mark.parametrize(
    ("scenario", "guard"),
    [(find("lost_update"), "on"), (find("late_short_write"), "off"), (SMALL.scenario(), "")],
)
def test_any_class_that_is_dropped_is_missed(
    scenario: Scenario, guard: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though the header is made to agree: some other class could have branched off to it."""
    path = tmp_path / "classes.jsonl"
    whole = searched(scenario, path, **({"guard": guard} if guard else {}))
    for place in range(len(whole.classes)):
        fewer = whole.copy()
        del fewer.classes[place]
        fewer.write(path)
        assert "the header speaks of" in refusal(path, capsys)
        fewer.judged().write(path)
        assert "no class" in refusal(path, capsys)


def unnoticed(small: Small, path: Path) -> tuple[Forged, list[int]]:
    """A certificate, and the classes that may be dropped from it."""
    whole = searched(small.scenario(), path)
    assert certificate.main(str(path)) == 0
    dropped = []
    for place in range(len(whole.classes)):
        fewer = whole.copy()
        del fewer.classes[place]
        fewer.judged().write(path)
        if certificate.main(str(path)) == 0:
            dropped.append(place)
    return whole, dropped


@pytest.mark.parametrize(
    "small",
    [
        Small(((("update", "x"),), (("get", "x"),)), faults=(LoseRequest(),)),
        Small(TWO, faults=(LoseReply(),)),
        Small(TWO, faults=(Crash("*"),)),
        Small(BESIDE, faults=(Crash("store"),)),
    ],
)
def test_with_a_fault_too_a_dropped_class_is_missed(small: Small, tmp_path: Path) -> None:
    """Be it one in which the fault strikes, at rest or before, or one that is spared of it."""
    assert unnoticed(small, tmp_path / "classes.jsonl")[1] == []


def test_a_fault_whose_occasion_passes_may_be_dropped(tmp_path: Path) -> None:
    """Of 20 classes two are not noticed: a reply is lost after time has woken somebody else. Where
    it is not lost, the answer stands before that in the file, so nowhere is it said that the reply
    could still have been lost; were it impossible, the file would be the same."""
    small = Small(LATER, faults=(LoseReply(),))
    whole, dropped = unnoticed(small, tmp_path / "classes.jsonl")
    assert (len(whole.classes), len(dropped)) == (20, 2)
    for place in dropped:
        kinds = [turn["is"][0] for turn in whole.classes[place]["turns"]]
        assert kinds[kinds.index("fault") - 1 : kinds.index("fault") + 2] == [
            "wake", "fault", "answer",
        ]  # fmt: skip


# -- tampering -------------------------------------------------------------------------------------


def told() -> Scenario:
    """A World with a claim that may read anything, so that turns turn out to touch it later."""

    def build(world: World) -> None:
        Small(((("create", "y"),), (("create", "z"),)), (True, True)).build(world)
        world.claim(always(lambda _: None))

    return of(build, "told")


def short() -> Scenario:
    """A World whose Runs are ended by a limit."""
    return SHORT.scenario()


SEARCHED = {
    "faults and picks": SMALL.scenario,
    "a Violation": lambda: find("lost_update"),
    "a crash": Small((BESIDE[0],), faults=(Crash("store"),)).scenario,
    "a claim that reads all": told,
    "a limit": short,
}


def proof(name: str, path: Path) -> tuple[Forged, dict[str, Any]]:
    """What its certificate says, and its terms; of a search that has reached a limit and would say
    so, too."""
    scenario, chooser = SEARCHED[name](), Complete()
    play_runs(scenario, chooser, lambda _: True, runs_max=3_000, driver="direct")
    ends = [seen.end for seen in chooser.seen]
    whole = [attrs.evolve(seen, end="quiet") for seen in chooser.seen]
    faults_max = sum(fault.times_max for fault in scenario.world().allowed)
    found = {"faults_max": faults_max, "tested": chooser.tested.as_dict()}
    write(path, chooser.header, {**terms_of(scenario), **found}, whole)
    true = Forged.of(path)
    for each, end in zip(true.classes, ends, strict=True):
        each["end"] = end
    return true, terms_of(scenario)


def tampered(name: str, folder: Path) -> Counter[tuple[str, str]]:
    """How many forgeries of each kind were refused, by what: the check, the code, the replay."""
    found: Counter[tuple[str, str]] = Counter()
    scenario, path = SEARCHED[name](), folder / "forged.jsonl"
    true, terms = proof(name, path)
    for kind, forging in KINDS.items():
        for other in forging(true):
            other.write(path)
            found[kind, refused_by(path, scenario, terms)] += 1
    return found


def refused_by(path: Path, scenario: Scenario, terms: dict[str, Any]) -> str:
    """Who refuses it first; nobody if it is accepted."""
    by: tuple[tuple[str, Callable[[Certificate], Any]], ...] = (
        ("code", lambda read: hold_against(read, terms)),
        ("replay", lambda read: play_again(read, scenario, 10_000)),
    )
    try:
        read = checked(str(path))
    except CertificateRefused:
        return "check"
    for name, refuse in by:
        try:
            refuse(read)
        except CertificateRefused:
            return name
    return "nobody"


def test_no_forgery_is_accepted_if_all_is_played_again(tmp_path: Path) -> None:
    """However the sums, the numbers and the verdict were made to agree, of hundreds of forgeries of
    every kind. docs/search.md lists just those kinds that only a replay finds, and those that only
    the code as it is now finds; what it lists is not found otherwise."""
    found: Counter[tuple[str, str]] = Counter()
    for name in SEARCHED:
        forged = tampered(name, tmp_path)
        assert {kind for kind, by in forged if by == "nobody"} == set(), name
        found += forged
    assert found.total() >= 800
    assert {kind for kind, _ in found} == set(KINDS)
    listed = re.findall(r"^\| (.+?) \| (code|replay) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert dict(listed) == {kind: by for kind, by in sorted(found) if by in ("code", "replay")}


def test_what_names_and_orders_say_the_same_is_the_same(tmp_path: Path) -> None:
    """A class may be shown by any Run of it, and classes stand in any order: it says no less."""
    path = tmp_path / "classes.jsonl"
    whole = searched(find("lost_update"), path)
    whole.classes.reverse()
    whole.write(path)
    assert refused_by(path, find("lost_update"), terms_of(find("lost_update"))) == "nobody"


# -- files that are none ---------------------------------------------------------------------------


def test_a_line_that_was_edited_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its sum, whatever was edited; and so is a file that was cut anywhere."""
    path = tmp_path / "classes.jsonl"
    searched(find("lost_update"), path)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"log:notes", b"log:nodes", 1))
    assert "it was edited or cut" in refusal(path, capsys)
    for end in range(0, len(whole) - 1, 997):
        path.write_bytes(whole[:end])
        assert refusal(path, capsys)


def renumber(lines: list[dict[str, Any]]) -> None:
    """A number that is not the next."""
    next(line for line in lines if "offer" in line)["offer"] += 1


def repeat(lines: list[dict[str, Any]]) -> None:
    """A line that nothing names."""
    step = next(line for line in lines if "step" in line)
    lines.append({**step, "step": max(line.get("step", 0) for line in lines) + 1})


def say_more(lines: list[dict[str, Any]]) -> None:
    """A key that says nothing to anybody."""
    lines[-1]["because"] = "I say so"


def say_less(lines: list[dict[str, Any]]) -> None:
    """A line without one of its keys."""
    del lines[-1]["end"]


def lie_ahead(lines: list[dict[str, Any]]) -> None:
    """A line that is named before it stands there."""
    lines.append(lines.pop(1))


def another_header(lines: list[dict[str, Any]]) -> None:
    """Two headers."""
    lines.append(lines[0])


def of_another_type(lines: list[dict[str, Any]]) -> None:
    """A time that is true."""
    next(line for line in lines if "step" in line)["at"] = True


def below_nothing(lines: list[dict[str, Any]]) -> None:
    """A number below zero."""
    lines[-1]["run"][0][1] = -1


def beyond_all(lines: list[dict[str, Any]]) -> None:
    """A number that not every program reads alike."""
    lines[0]["faults_max"] = 10**30


@pytest.mark.parametrize(
    "edit",
    [
        renumber, repeat, say_more, say_less, lie_ahead, another_header, of_another_type,
        below_nothing, beyond_all,
    ],
)  # fmt: skip
def test_what_no_search_writes_is_no_certificate(
    edit: Callable[[list[dict[str, Any]]], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though every sum is right; and it is told apart from one that proves nothing."""
    path = tmp_path / "classes.jsonl"
    searched(find("lost_update"), path)
    lines = lines_of(path)
    edit(lines)
    write_lines(path, lines)
    assert certificate.main(str(path)) == certificate.BAD_FILE
    capsys.readouterr()


def test_only_a_search_that_is_complete_is_certified(tmp_path: Path) -> None:
    """Not one that was stopped, nor one that did not keep its classes, nor one that reached a
    limit; nor under the terms of another search."""
    path, terms = tmp_path / "classes.jsonl", terms_of(find("lost_update"))
    for chooser in (Complete(runs_max=2), Complete(keeps=False)):
        play_runs(find("lost_update"), chooser, lambda _: True, runs_max=9, driver="direct")
        with pytest.raises(ScenarioError, match=r"there is nothing to certify[\s\S]*\nNext: "):
            chooser.certificate(path, terms)
    chooser = Complete()
    play_runs(short(), chooser, lambda _: True, runs_max=900, driver="direct")
    with pytest.raises(
        ScenarioError, match=r"after a limit was not seen[\s\S]*\nNext: raise turns"
    ):
        chooser.certificate(path, terms_of(short()))
    chooser = Complete()
    play_runs(find("lost_update"), chooser, lambda _: True, runs_max=900, driver="direct")
    with pytest.raises(ScenarioError, match="these are not the terms of this search"):
        chooser.certificate(path, terms_of(find("lost_update"), {"guard": "on"}))


def test_the_checker_needs_nothing_of_ours(tmp_path: Path) -> None:
    """It imports the standard library and itself, and runs where nothing else of ours is."""
    for file in ROOM.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or "testbed"]
            for name in names:
                is_own = f"{name}.".startswith("testbed.checks.certificate.")
                assert is_own or name.partition(".")[0] in sys.stdlib_module_names
    path, alone = tmp_path / "classes.jsonl", tmp_path / "alone"
    searched(find("lost_update"), path)
    shutil.copytree(ROOM, alone / "testbed" / "checks" / "certificate")
    run = f"import runpy, sys; sys.path.insert(0, {str(alone)!r}); sys.argv[1:] = [{str(path)!r}]; "
    run += "runpy.run_module('testbed.checks.certificate', run_name='__main__')"
    command = [sys.executable, "-I", "-S", "-c", run]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "violated, in 4 classes of lost_update" in done.stdout
    assert json.loads(path.read_bytes().splitlines()[0])["format"] == "testbed-certificate/3"


def test_faults_of_one_sentence_are_told_apart_by_their_settings(tmp_path: Path) -> None:
    """Both are in the file. If it is said that the other one struck, a replay finds it."""

    def two_settings(world: World) -> None:
        find("lost_update").build(world, writers=1)
        world.allow(Crash("alpha", restart_after_ms=100), Crash("alpha", restart_after_ms=200))

    path, scenario = tmp_path / "classes.jsonl", of(two_settings)
    whole = searched(scenario, path)
    turns = [turn for each in whole.classes for turn in each["turns"]]
    struck = {turn["is"][-1] for turn in turns if turn["is"][0] == "fault"}
    assert len(struck) == 2
    assert refused_by(path, scenario, terms_of(scenario)) == "nobody"
    lines = lines_of(path)
    for option in (line["is"] for line in lines if "is" in line):
        if option[-1]:
            (option[-1],) = struck - {option[-1]}
    write_lines(path, lines)
    assert refused_by(path, scenario, terms_of(scenario)) == "replay"
