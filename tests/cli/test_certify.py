"""testbed certify: what it accepts, what it refuses, and what it says of files that are none."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from testbed.checks.certificate.lines import OLDER
from testbed.cli import main
from tests.models.forged import Forged, lines_of, write_lines

MINE = """
    from testbed import Actor
    from testbed.objects import Note
    import attrs

    @attrs.frozen
    class Writer(Actor):
        name: str

        async def run(self, client):
            old = await client.get(Note, "n")
            await client.update(old.saying(by=self.name), whatever_it_was=True)

    def build(world):
        world.add(Note("n"))
        world.start(Writer("a"), Writer("b"))
"""


@pytest.fixture
def proof(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A certificate of `lost_update`, with its guard on."""
    out = str(tmp_path / "proof")
    words = ["search", "lost_update", "--switch", "guard=on", "--effort", "complete", "--out", out]
    assert main(words) == 0
    said = capsys.readouterr().out
    path = tmp_path / "proof" / "lost_update.certificate.jsonl"
    assert f"\nCertificate: testbed certify {path}\n" in said
    return path


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A scenario of the user's own, `my_race:build`, in a folder of its own."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "my_race.py").write_text(dedent(MINE))
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    yield folder / "my_race.py"
    sys.modules.pop("my_race", None)


def test_three_lines_say_what_was_checked_and_what_is_trusted(
    proof: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it proves; what was checked; what is not, and the line that checks more of it."""
    assert main(["certify", str(proof)]) == 0
    what, checked, trusted = capsys.readouterr().out.splitlines()
    searched = "held, in 4 classes of lost_update (guard=on, writers=2), ≤ 0 faults, no delays"
    assert re.fullmatch(rf"{re.escape(f'{proof}: {searched}')}, \d+ other orders\.", what)
    assert checked == (
        "Checked: coherent and closed, 23 ways to branch off were tried; it is of this code, and "
        "no class was played again."
    )
    assert trusted == (
        "On trust: what each turn touched, what caused it, what was offered, how each class was "
        "judged, in how many other orders; that footprints are true in all orders that were not "
        "played, and nobody looks by gc, frames, private names or a C extension at what others do; "
        f"a fault whose occasion passes (docs/search.md). Next: testbed certify {proof} --replay 4"
    )


def test_what_was_played_again_need_not_be_trusted(
    proof: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Some of its classes, spread evenly, or all if more are asked for; then less is left."""
    assert main(["certify", str(proof), "--replay", "3"]) == 0
    assert "3 of 4 classes played again are alike." in capsys.readouterr().out
    assert main(["certify", str(proof), "--replay", "99"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert re.search(r"4 of 4 classes played again are alike, in \d+ other orders as well", out[1])
    assert out[2].startswith(
        "On trust: that footprints are true in all orders that were not played"
    )


def test_json_says_the_same(proof: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One object, if it is accepted and if it is not."""
    assert main(["certify", str(proof), "--replay", "2", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["code"], said["verdict"], said["classes"], said["played"]) == (0, "held", 4, 2)
    proof.write_bytes(b"")
    assert main(["certify", str(proof), "--json"]) == 2
    said = json.loads(capsys.readouterr().out)
    assert (said["code"], said["refused"][:17]) == (2, "the file is empty")


def test_an_erased_footprint_is_found_by_playing_again(
    proof: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The check alone takes it on trust; the Run that is played says otherwise."""
    forged = Forged.of(proof)
    for each in forged.classes:
        each["turns"][0]["reads"] = each["turns"][0]["writes"] = []
    forged.write(proof)
    assert main(["certify", str(proof)]) == 0
    capsys.readouterr()
    assert main(["certify", str(proof), "--replay", "1"]) == 1
    refused, following = capsys.readouterr().out.splitlines()
    assert "refused: class 1, played again, is another one: turn 1 (start " in refused
    assert following.startswith("Next: ")


def test_a_certificate_of_other_code_is_refused(
    mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One character of the user's own module is enough, and it is named; so is the module of a
    scenario that nobody has said to trust, which is not imported."""
    path = tmp_path / "proof" / "build.certificate.jsonl"
    folder = ["--scenario-path", str(mine.parent)]
    words = ["search", "my_race:build", *folder, "--effort", "complete", "--out", "proof"]
    assert main(words) == 0
    capsys.readouterr()
    assert main(["certify", str(path), *folder, "--replay", "9"]) == 0
    assert " of my_race:build, ≤ 0 faults, no delays, " in capsys.readouterr().out
    mine.write_text(mine.read_text() + "\n")
    assert main(["certify", str(path), *folder]) == 1
    assert "what has changed since is my_race" in capsys.readouterr().out
    del sys.modules["my_race"]
    sys.path.remove(str(mine.parent))
    assert main(["certify", str(path)]) == 2
    said = capsys.readouterr().err
    assert "which is not one of `testbed list`" in said
    assert f"Next: if you trust that code, name it: testbed certify {path} --scenario" in said
    named = re.search(r"--scenario (.*)$", said)
    assert named is not None
    assert "my_race" not in sys.modules
    by_hand = named[1].replace("FOLDER", str(mine.parent))
    assert by_hand.endswith("my_race.py:build")
    assert main(["certify", str(path), "--scenario", by_hand]) == 1  # of other code, as above


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "the file is empty"),
        (b"\n", "expected a header with format"),
        (b"\x00\xff\xfe" * 100, "expected a header with format"),
        (b"lost_update: {}\n", "expected a header with format"),
        (b'{"format":"testbed-certificate/3"', "it was edited or cut"),
        (b'{"a":' * 100_000, "it was edited or cut"),
        (b"{" + b" " * 2_000_000, "it was edited or cut"),
    ],
)
def test_what_is_no_certificate_is_told_so(
    content: bytes, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a traceback; exit 2, and what to do."""
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    assert main(["certify", str(path)]) == 2
    out, err = capsys.readouterr()
    assert why in out
    assert "\nNext: search again" in out
    assert err == ""


def deep() -> object:
    """Lists in lists, more than any program reads."""
    whole: object = []
    for _ in range(900):
        whole = [whole]
    return whole


@pytest.mark.parametrize(
    "line",
    [
        {"format": "testbed-certificate/1", "classes": 1},
        {"format": "testbed-certificate/3"},
        {"format": ["testbed-certificate/3"]},
        {"format": "testbed-certificate/3", "claims": deep()},
        {"format": "testbed-certificate/3", "faults_max": 10**4000},
        {"format": "testbed-certificate/3", "faults_max": -1, "classes": 1.5, "verdict": None},
        {"format": "testbed-certificate/3", "scenario": "\x1b[2J\ud800"},
    ],
)
def test_a_hostile_header_is_told_so(
    line: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of another format, with too little, with what is not of its type, or that nothing prints."""
    path = tmp_path / "bad.jsonl"
    write_lines(path, [line])
    assert main(["certify", str(path)]) == 2
    out, err = capsys.readouterr()
    assert "refused: line 1: " in out
    assert "\x1b" not in out
    assert err == ""


@pytest.mark.parametrize(("older", "why"), OLDER.items())
def test_a_certificate_of_before_is_refused(
    older: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says what such a file does not say, and to search again; exit 2."""
    path = tmp_path / "older.jsonl"
    write_lines(path, [{"format": older, "classes": 1}])
    assert main(["certify", str(path)]) == 2
    out = capsys.readouterr().out
    assert f"it is of {older!r}, which {why}" in out
    assert "\nNext: search again" in out


def test_a_certificate_with_other_orders_is_refused(
    proof: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """If all of its classes are played, so are the orders that it speaks of."""
    first, *rest = lines_of(proof)
    tested = first["tested"]
    assert tested["orders"] > 4
    for change, why in (
        ({"orders": tested["orders"] + 1}, f"came to the same in {tested['orders']}, not in"),
        ({"seed": "none"}, "no orders are drawn from the seed 'none'"),
    ):
        other = proof.with_name("other.jsonl")
        write_lines(other, [{**first, "tested": {**tested, **change}}, *rest])
        assert main(["certify", str(other), "--replay", "99"]) == 1
        assert why in capsys.readouterr().out


def test_a_folder_or_nothing_at_all_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says why; exit 2."""
    for path in (tmp_path, tmp_path / "none.jsonl"):
        assert main(["certify", str(path)]) == 2
        assert "refused: it cannot be read: " in capsys.readouterr().out


def test_a_name_in_the_file_runs_nothing(proof: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even one that is no name; nor a fault or a switch that there is not."""
    for change in (
        {"scenario": "os:system"}, {"scenario": "../x:y"}, {"scenario": "no_such"},
        {"added": ["explode"]}, {"switches": {"gard": "on"}},
    ):  # fmt: skip
        lines = lines_of(proof)
        write_lines(proof.with_name("other.jsonl"), [{**lines[0], **change}, *lines[1:]])
        assert main(["certify", str(proof.with_name("other.jsonl"))]) == 2
        assert "\nNext: " in capsys.readouterr().err


def test_a_search_that_reached_a_limit_writes_none(
    tmp_path: Path, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says so, and why."""
    mine.write_text(mine.read_text() + "    world.limit(turns_max=5)\n")
    folder = ["--scenario-path", str(mine.parent)]
    words = ["search", "my_race:build", *folder, "--effort", "complete", "--out", "proof"]
    assert main(words) == 3
    said = capsys.readouterr().out
    assert "there is nothing to certify, since what comes after a limit was not seen" in said
    assert not [*(tmp_path / "proof").glob("*.jsonl")]


def test_why_there_is_no_certificate_is_told(
    mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a note, or as a field of --json; null if there is one."""
    text = mine.read_text().replace("world.start(", "world.limit(turns_max=6)\n    world.start(")
    mine.write_text(text)
    words = ["search", f"{mine}:build", "--effort", "complete", "--out", str(tmp_path / "proof")]
    main(words)
    assert re.search(
        r"^Note: .*nothing to certify.*\nNext: raise turns_max",
        capsys.readouterr().out,
        re.MULTILINE,
    )
    main([*words, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["certificate"] is None
    assert "turns_max" in told["not_certified"]
    main(["search", "lost_update", *words[2:], "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["certificate"].endswith("lost_update.certificate.jsonl")
    assert told["not_certified"] is None
