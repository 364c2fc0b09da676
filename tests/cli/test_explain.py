"""testbed explain: what it tells of a race file and of a trace, in each of its forms."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from testbed.choosers.uniform import Uniform
from testbed.cli import main
from testbed.races.playing import race_of
from testbed.races.racefile import parse
from testbed.turns.trace import Trace
from testbed.world.scenario import find

Told = Callable[..., tuple[int, str, str]]

RACE = """\
scenario: lost_update
holds:
  - hold: alpha update notes/default/list
    until: beta get notes/default/list
  - hold: start of beta
    until: alpha get notes/default/list
"""


@pytest.fixture
def told(own: Path, capsys: pytest.CaptureFixture[str]) -> Told:
    """Write a race file and explain it: exit code, output, errors."""
    (own / "race.yaml").write_text(RACE)

    def call(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["explain", *args])
        done = capsys.readouterr()
        return code, done.out, done.err

    return call


def test_a_race_file_is_played_and_told(told: Told) -> None:
    """The story, which deviations it takes, the verdict, a line to paste."""
    code, out, err = told("race.yaml")
    assert (code, err) == (1, "")
    assert "beta still knew rv 2 and updated it at rv 4, over rv 3" in out
    assert "  needed      hold alpha update notes/default/list until beta get notes/" in out
    assert "  not needed  hold start of beta until alpha get notes/default/list" in out
    assert "The chance" not in out
    assert out.splitlines()[-2].startswith("Violated: every_signature_is_kept: ")
    assert out.splitlines()[-1] == "Again: testbed explain race.yaml"


ORDER = """
from testbed import Actor, Client, Evidence, World, quiescent
import attrs


@attrs.frozen
class Runner(Actor):
    async def run(self, client: Client) -> None:
        client.record("came")
        await client.sleep(1, "rest")


def alpha_is_first(see: Evidence) -> str | None:
    first = see.records[0].path.partition("/")[0]
    return None if first == "alpha" else f"{first} came first"


def order(world: World) -> None:
    world.start(Runner("alpha"), Runner("beta"), Runner("gamma"))
    world.claim(quiescent(alpha_is_first))
"""
GAMMA_FIRST = """\
scenario: own:order
holds:
  - hold: start of alpha
    until: start of gamma
  - hold: start of beta
    until: start of gamma
"""


def test_a_line_is_needed_if_another_breach_shows_without_it(told: Told, own: Path) -> None:
    """Without the second line beta comes first: the same claim, and not what this race is about."""
    (own / "own.py").write_text(ORDER)
    (own / "own.yaml").write_text(GAMMA_FIRST)
    _, out, _ = told("own.yaml", "--scenario", "own:order")
    assert "gamma came first" in out
    assert "  needed      hold start of alpha until start of gamma" in out
    assert "  needed      hold start of beta until start of gamma" in out


def test_the_growth_says_after_which_step_it_was_lost(told: Told) -> None:
    """The same for ever, as it is a function of the seed; another seed may differ a little."""
    code, out, _ = told("race.yaml", "--growth")
    assert code == 1
    assert "The chance to fail along the run: " in out
    assert "beta get notes/default/list: " in out
    assert "→ 100 %" in out
    assert told("race.yaml", "--growth")[1] == out


def test_markdown_is_ready_for_an_issue(told: Told) -> None:
    """With the race file in it, which is the same Race."""
    code, out, _ = told("race.yaml", "--md")
    assert code == 1
    assert out.startswith("# lost\\_update: every\\_signature\\_is\\_kept\n")
    assert out.endswith("```\ntestbed explain race.yaml\n```\n")
    text = out.partition("```yaml\n")[2].partition("```")[0]
    assert parse(text, "issue") == parse(RACE, "race.yaml")


def test_json_has_all_of_it(told: Told) -> None:
    """One object on one line: the sentences with their Steps, the deviations, the growth."""
    code, out, _ = told("race.yaml", "--json", "--growth")
    assert (code, out.count("\n")) == (1, 1)
    content = json.loads(out)
    assert content["verdict"] == "violated"
    assert [each["needed"] for each in content["deviations"]] == [True, False]
    assert content["story"]["sentences"][-1]["said"].startswith("So every_signature_is_kept is")
    assert content["growth"][-1]["failed"] == content["growth"][-1]["runs"]
    assert content["again"] == "testbed explain race.yaml"


def test_a_recorded_run_is_told_as_its_race(told: Told, own: Path) -> None:
    """From its trace: what of it the calm run would not do, and what is needed of that."""
    assert main(["run", "lost_update", "--seed", "1", "--trace", "run.jsonl"]) == 1
    code, out, err = told("run.jsonl")
    assert (code, err) == (1, "")
    trace = Trace({}, keep=True)
    find("lost_update").world().run(Uniform(1), trace=trace)
    race = race_of(find("lost_update"), {}, trace.choices)
    assert len(race) > 0
    assert all(re.search(rf"needed +{re.escape(str(hold))}$", out, re.M) for hold in race.holds)
    assert out.splitlines()[-1] == "Again: testbed explain run.jsonl"


HALF = """
from contextlib import suppress

import attrs

from testbed import Actor, Client, World, confluent
from testbed.errors import AlreadyExists, Conflict
from testbed.objects import Map, Note


@attrs.frozen
class Alpha(Actor):
    async def run(self, client: Client) -> None:
        work = await client.get(Note, "work")
        if work.data.get("half") != "done":
            with suppress(Conflict):
                await client.update(attrs.evolve(work, data=Map(half="done")))
        elif any(item.meta.name == "b" for item in (await client.list(Note)).items):
            return
        with suppress(AlreadyExists):
            await client.create(Note("second"))


@attrs.frozen
class Beta(Actor):
    async def run(self, client: Client) -> None:
        await client.create(Note("b"))


def half(world: World) -> None:
    world.add(Note("work"))
    world.start(Alpha("alpha"), Beta("beta"))
    world.claim(confluent())
"""
SAID = (
    "the calm run with the same fault ends otherwise, so the fault alone does not decide: "
    "notes/default/second is only there"
)


def test_a_struck_run_stands_beside_the_calm_run_with_the_same_fault(
    told: Told, own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A search finds it; its race file and a trace of it are told, and replayed, with the same
    words."""
    (own / "half.py").write_text(HALF)
    line = ["search", "half.py:half", "--faults", "crash:alpha,restart=0s", "--out", "found"]
    assert main([*line, "--runs", "300"]) == 1
    assert SAID in capsys.readouterr().out
    file = own / "found/half-confluent.race.yaml"
    race = parse(file.read_text(), str(file))
    assert [len(race.faults), len(race.holds)] == [1, 1]
    for form in ([], ["--md"]):
        code, out, _ = told(str(file), "--scenario", "half.py:half", *form)
        assert code == 1
        assert re.search(r"the calm run with the same fault +this run\n", out)
        alpha = [row for row in out.splitlines() if "alpha create notes/default/second" in row]
        assert alpha
        assert all(row.index("alpha") < 40 for row in alpha)
    trace = ["--trace", "run.jsonl"]
    main(["replay", str(file), "--scenario", "half.py:half", *trace])
    capsys.readouterr()
    assert main(["replay", "run.jsonl", "--scenario", "half.py:half"]) == 1
    assert SAID in capsys.readouterr().out
    code, out, _ = told("run.jsonl", "--scenario", "half.py:half")
    assert code == 1
    assert re.search(r"the calm run with the same fault +this run\n", out)


def test_a_race_that_breaks_nothing_is_told_as_held(told: Told, own: Path) -> None:
    """No deviation is needed for nothing, and no chance grows."""
    (own / "calm.yaml").write_text("scenario: lost_update\nswitches: {guard: on}\n")
    code, out, _ = told("calm.yaml", "--growth")
    assert code == 0
    assert "needed" not in out
    assert "chance" not in out
    assert out.splitlines()[-2].startswith("Held. ")


def test_an_own_scenario_must_be_named(told: Told, own: Path) -> None:
    """A file alone imports nothing; and what is named must be what the file is of."""
    (own / "mine.py").write_text("raise SystemExit('imported')")
    (own / "own.yaml").write_text("scenario: mine:race\n")
    code, _, err = told("own.yaml")
    assert code == 2
    assert err.endswith("Next: if you trust that code, name it: testbed explain own.yaml "
                        "--scenario mine.py:race\n")  # fmt: skip
    code, _, err = told("race.yaml", "--scenario", "mine:race")
    assert (code, err.splitlines()[-1]) == (2, "Next: testbed explain race.yaml")


def test_what_is_no_file_is_told_so(told: Told, own: Path) -> None:
    """Missing, or neither a race nor a trace."""
    assert told("none.yaml")[0] == 2
    (own / "odd").write_text("{]")
    assert told("odd")[0] == 2
    (own / "empty").write_text("")
    code, _, err = told("empty")
    assert code == 2
    assert "Next: " in err


def test_a_race_nobody_has_shrunk_is_not_told_line_by_line(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says how many deviations there are."""
    monkeypatch.setattr("testbed.races.necessity.DEVIATIONS_MAX", 1)
    assert "It takes at most 2 deviations; they were not tried one by one." in told("race.yaml")[1]
