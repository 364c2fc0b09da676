"""The certificate of a complete search, and the program that checks it and trusts nothing."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_worlds import Small

from testbed.checks import certificate
from testbed.choosers.complete import Complete
from testbed.errors import ScenarioError
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.world.scenario import Scenario, find, play_runs

Lines = list[dict[str, Any]]
CHECKER = Path(certificate.__file__)


def searched(scenario: Scenario, path: Path, **switches: str) -> Lines:
    """Search it whole and write the certificate; its lines."""
    chooser = Complete()
    play_runs(scenario, chooser, lambda _: True, runs_max=3_000, switches=switches, driver="direct")
    chooser.certificate(path)
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def write(path: Path, lines: Lines) -> None:
    """Write them with sums that are right, as anybody could who has edited them."""
    total, whole = 0, b""
    for line in lines:
        body = json.dumps({k: v for k, v in line.items() if k != "sum"}).encode()
        total = zlib.crc32(body, total)
        whole += b'%s,"sum":"%08x"}\n' % (body[:-1], total)
    path.write_bytes(whole)


def classes(lines: Lines) -> list[int]:
    """The places of the classes among the lines."""
    return [place for place, line in enumerate(lines) if "run" in line]


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


@pytest.mark.parametrize("guard", ["off", "on"])
@pytest.mark.parametrize("name", ["lost_update", "late_short_write", "double_bind"])
def test_a_certificate_is_accepted(
    name: str, guard: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a search writes is coherent and closed."""
    path = tmp_path / "classes.jsonl"
    searched(find(name), path, guard=guard)
    assert refusal(path, capsys) == ""


def test_one_with_faults_and_picks_is_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if a class had to be found for a fault that strikes, and does not."""
    path = tmp_path / "classes.jsonl"
    searched(SMALL.scenario(), path)
    assert certificate.main(str(path)) == 0
    said = capsys.readouterr().out
    assert "coherent and closed" in said


@pytest.mark.parametrize(
    ("scenario", "guard"),
    [(find("lost_update"), "on"), (find("late_short_write"), "off"), (SMALL.scenario(), "")],
)
def test_any_class_that_is_dropped_is_missed(
    scenario: Scenario, guard: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though the header is made to agree: some other class could have branched off to it."""
    path = tmp_path / "classes.jsonl"
    lines = searched(scenario, path, **({"guard": guard} if guard else {}))
    for place in classes(lines):
        fewer = lines[:place] + lines[place + 1 :]
        write(path, fewer)
        assert "the header speaks of" in refusal(path, capsys)
        write(path, [{**fewer[0], "classes": len(classes(fewer))}, *fewer[1:]])
        assert "no class" in refusal(path, capsys)


def unnoticed(small: Small, path: Path) -> tuple[Lines, list[int]]:
    """A certificate, and the places of the classes that may be dropped from it."""
    lines = searched(small.scenario(), path)
    assert certificate.main(str(path)) == 0
    dropped = []
    for place in classes(lines):
        fewer = lines[:place] + lines[place + 1 :]
        write(path, [{**fewer[0], "classes": len(classes(fewer))}, *fewer[1:]])
        if certificate.main(str(path)) == 0:
            dropped.append(place)
    return lines, dropped


TWO = ((("swap", "x"),), (("swap", "x"),))
LATER = tuple((("sleep", 5), *actions) for actions in TWO)
BESIDE = ((("update", "x"),), (("create", "y"),))


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
    lines, dropped = unnoticed(small, tmp_path / "classes.jsonl")
    assert (len(classes(lines)), len(dropped)) == (20, 2)
    words = {line["option"]: line["is"][0] for line in lines if "is" in line}
    said = {line["step"]: words[line["option"]] for line in lines if "step" in line}
    for place in dropped:
        kinds = [said[step] for step, _ in lines[place]["run"]]
        assert kinds[kinds.index("fault") - 1 : kinds.index("fault") + 2] == [
            "wake", "fault", "answer",
        ]  # fmt: skip


def test_a_class_that_stands_twice_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also under another number."""
    path = tmp_path / "classes.jsonl"
    lines = searched(find("lost_update"), path)
    again = {**lines[classes(lines)[1]], "class": 5}
    write(path, [{**lines[0], "classes": 5}, *lines[1:], again])
    assert "classes 2 and 5 are the same" in refusal(path, capsys)


def test_a_line_that_was_edited_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its sum, whatever was edited."""
    path = tmp_path / "classes.jsonl"
    searched(find("lost_update"), path)
    path.write_bytes(path.read_bytes().replace(b"log:notes", b"log:nodes", 1))
    assert "it was edited or cut" in refusal(path, capsys)


def edit_footprint(lines: Lines) -> None:
    """A write that was a read: two writes no longer clash with what was read before."""
    for line in lines:
        if "step" in line and any(key.startswith("notes/") for key in line["writes"]):
            line["writes"] = [key for key in line["writes"] if "note" not in key]


def edit_causes(lines: Lines) -> None:
    """An answer that comes of nothing."""
    run = lines[classes(lines)[0]]["run"]
    for step in run:
        step[1] = []


def edit_offer(lines: Lines) -> None:
    """A turn that nobody was offered."""
    next(line for line in lines if "offer" in line)["ready"].clear()


def edit_time(lines: Lines) -> None:
    """A turn before its time."""
    next(line for line in lines if "offer" in line)["due"] = 5


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (edit_footprint, "are the same|no class begins so"),
        (edit_causes, "class"),
        (edit_offer, "it was not offered"),
        (edit_time, "before it was due at 5 ms"),
    ],
)
def test_what_contradicts_itself_is_refused(
    edit: Callable[[Lines], None], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though every sum is right again."""
    path = tmp_path / "classes.jsonl"
    lines = searched(find("lost_update"), path)
    edit(lines)
    write(path, lines)
    said = refusal(path, capsys)
    assert any(part in said for part in why.split("|")), said


def test_only_a_search_that_is_complete_is_certified(tmp_path: Path) -> None:
    """Not one that was stopped, nor one that did not keep its classes."""
    for chooser in (Complete(runs_max=2), Complete(keeps=False)):
        play_runs(find("lost_update"), chooser, lambda _: True, runs_max=9, driver="direct")
        with pytest.raises(ScenarioError, match=r"there is nothing to certify[\s\S]*\nNext: "):
            chooser.certificate(tmp_path / "classes.jsonl")


def test_the_checker_is_a_program_that_needs_nothing_of_ours(tmp_path: Path) -> None:
    """It imports the standard library alone, and runs as a script without any of ours installed."""
    tree = ast.parse(CHECKER.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "testbed"]
            assert all(name.partition(".")[0] in sys.stdlib_module_names for name in names)
    path = tmp_path / "classes.jsonl"
    searched(find("lost_update"), path)
    command = [sys.executable, "-I", "-S", str(CHECKER), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "4 classes of lost_update: coherent and closed" in done.stdout
