"""testbed attach: real programs under a race file, from the command line."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from testbed.attended.frequency import Frequency
from testbed.cli import main
from testbed.cli.attaching.places import Places
from testbed.errors import ScenarioError
from tests.each_row import each_row
from tests.models.worlds.shelved import file_of

HERE = Path(__file__).parent
RACE = str(file_of("double_bind"))
PROGRAM = shlex.join([sys.executable, str(HERE / "clients" / "binder.py"), "{name}", "{pool}"])
AS = f"alpha,beta={PROGRAM}"


def test_a_race_file_breaks_real_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The story, the verdict, what was expected, what is kept, and how to see it again."""
    monkeypatch.chdir(tmp_path)
    assert main(["attach", RACE, "--as", AS, "--quiet", "0.2"]) == 1
    said = capsys.readouterr().out
    assert "alpha bound pods/default/c to n1" in said
    assert "(a race of 1 deviation), attended by alpha and beta" in said
    assert "Expected of it: violates no_node_is_overcommitted; so it was." in said
    assert (tmp_path / "attached" / "double_bind" / "1" / "alpha.log").exists()
    last, again = said.splitlines()[-2:]
    assert main(shlex.split(last.partition("testbed ")[2])) == 1
    assert shlex.split(again.partition("testbed ")[2]) == [
        "attach", RACE, "--as", AS, "--quiet", "0.2",
    ]  # fmt: skip


def test_the_story_shows_what_a_program_has_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At the time at which it did, also when it is told again without the programs."""
    assert main(["attach", RACE, "--as", AS, "--quiet", "0.2", "--out", str(tmp_path)]) == 1
    assert main(["replay", str(tmp_path / "1" / "trace.jsonl")]) == 1
    for told in capsys.readouterr().out.split("So no_node_is_overcommitted")[:2]:
        said, held, bound = (
            next(n for n, line in enumerate(told.splitlines()) if text in line)
            for text in ("» c goes to n1", "◌ its bind of pods/default/c", "● bind pods/default/d")
        )
        assert said < held < bound


def test_a_hold_whose_end_never_comes_ends_with_the_silence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The verdict says how long that was, and the line what it has waited for."""
    file = tmp_path / "late.race.yaml"
    file.write_text(
        "scenario: double_bind\nholds:\n"
        "  - hold: alpha bind pods/default/c\n    until: beta delete pods/default/d\n"
    )
    words = ["--as", AS, "--quiet", "0.2", "--silence", "0.3", "--out", str(tmp_path / "out")]
    assert main(["attach", str(file), *words]) == 1
    said = capsys.readouterr().out
    assert "1 hold expired after 0.3 s of silence." in said
    until = "the programs fell silent before beta delete pods/default/d"
    assert f"late.race.yaml, line 3: hold expired: {until}." in said


def test_many_plays_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the guard on none of them is violated; each has a folder; a line that the guard leaves
    without a request is named."""
    words = ["--as", AS, "--quiet", "0.2", "--times", "2", "--switch", "guard=on"]
    assert main(["attach", RACE, *words, "--out", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["violated"], told["of"], told["interval"]) == (0, 2, [0.0, 0.8419])
    assert [play["attended"] for play in told["plays"]] == [["alpha", "beta"]] * 2
    assert [play["as_expected"] for play in told["plays"]] == [True, True]
    assert [Path(play["trace"]).parent.name for play in told["plays"]] == ["1", "2"]
    assert all(play["seconds"] > 0 for play in told["plays"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no program is named.\nNext: say --as ACTOR='COMMAND'"),
        (["--as", "alpha"], "--as alpha: expected ACTOR=COMMAND."),
        (["--as", "alpha='x"], "No closing quotation in the command."),
        (["--as", "a=x", "--as", "a=y"], "--as a=y: a has a command already."),
        (["--as", "gamma=x"], "there is no actor 'gamma'. Did you mean 'alpha'?"),
        (["--as", "api=x"], "--as api: it serves the others"),
        (["--as", "alpha=x {color}"], "its command speaks of {color}"),
    ],
)
def test_what_cannot_be_played_is_refused(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what is wrong, and what to do."""
    assert main(["attach", RACE, "--out", str(tmp_path), *words]) == 2
    refused = capsys.readouterr().err
    assert said in refused
    assert "\nNext: " in refused


def test_no_folder_of_an_earlier_play_is_written_over(tmp_path: Path) -> None:
    """The next number that is free; a file in the way is refused."""
    (tmp_path / "2").mkdir()
    places = Places(tmp_path)
    assert [places.next().name for _ in range(3)] == ["1", "3", "4"]
    assert places.here() == tmp_path / "4"
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(ScenarioError, match="Next: name a folder"):
        Places(file).next()


@each_row(
    ("hits", "plays", "low", "high"),
    # By R: binom.test(5, 10)$conf.int, and so on.
    [(5, 10, 0.18709, 0.81291), (0, 100, 0, 0.03622), (100, 100, 0.96378, 1), (1, 1, 0.025, 1),
     (370, 370, 0.99008, 1), (3, 1000, 0.00062, 0.00874), (9, 20, 0.23058, 0.68472)],
)  # fmt: skip
def test_the_interval_is_exact(hits: int, plays: int, low: float, high: float) -> None:
    """That of Clopper and Pearson."""
    assert Frequency(hits, plays).interval == pytest.approx((low, high), abs=2e-5)


ASKS = (
    "import json, os, urllib.error, urllib.request; "
    "at = json.load(open(os.environ['KUBECONFIG']))['clusters'][0]['cluster']['server']; "
    "pods = at + '/api/v1/namespaces/default/pods'; "
)
REFUSED = """{"metadata": {"name": "No Name"}, "spec": {"containers": []}}"""
IDLE = {
    "only looks": f"{ASKS} urllib.request.urlopen(pods).read()",
    "is refused everything": (
        f"{ASKS} asked = urllib.request.Request(pods, {REFUSED.encode()!r}, "
        "{'content-type': 'application/json'})\n"
        "for _ in range(3):\n"
        "    try: urllib.request.urlopen(asked)\n"
        "    except urllib.error.HTTPError: pass\n"
    ),
}


@pytest.mark.parametrize("script", IDLE.values(), ids=IDLE)
def test_a_program_that_writes_nothing_is_never_held(
    script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing was tried, though an actor does its part; also without the program. One that ends at
    once, or asks nothing, is refused before."""
    idle = shlex.join([sys.executable, "-c", script])
    programs = ["--as", f"alpha={idle}"]
    waits = ["--quiet", "0.2", "--silence", "0.5", "--out", str(tmp_path)]
    assert main(["attach", "double_bind", *programs, *waits, "--json"]) == 3
    (play,) = json.loads(capsys.readouterr().out)["plays"]
    assert play["nothing_tried"].startswith("no write of alpha was served")
    assert dict(play["tried"]["wrote"])["alpha"] == 0 < dict(play["tried"]["wrote"])["beta"]
    assert main(["replay", str(tmp_path / "1" / "trace.jsonl")]) == 3
    assert "Undecided: nothing was tried: no write of alpha was served" in capsys.readouterr().out
