"""What a command says of Runs in which nothing was tried, and of what never happened in others."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from textwrap import dedent
from typing import Any

import attrs
import pytest

from testbed import Calm
from testbed.cli import main
from testbed.testing.run import NotHeld, play
from testbed.testing.seek import seek
from testbed.world.scenario import find
from tests.each_row import each_row

OWN = '''
    from testbed import Actor, ApiError, World, always
    from testbed.faults.crash import Crash
    from testbed.objects import Pod
    from actors.apiserver import ApiServer
    import attrs

    @attrs.frozen
    class Tenant(Actor):
        """Looks, and does nothing."""

        async def run(self, client):
            await client.get(Pod, "p")
            await client.sleep(1000, "nap")

    @attrs.frozen
    class Recreator(Actor):
        """Is refused whatever it asks for."""

        async def run(self, client):
            for _ in range(15):
                try:
                    await client.create(Pod.of("web", priority=5))
                except ApiError:
                    pass
                await client.sleep(1000)

    @attrs.frozen
    class Maker(Actor):
        async def run(self, client):
            await client.create(Pod.of("q"))

    ACTORS = {"tenant": Tenant, "recreator": Recreator, "maker": Maker}

    def few_pods(see):
        return "too many" if len(see.store.snapshot("pods/")) > 2 else None

    def no_strangers(see):
        return "a node" if see.store.snapshot("nodes/") else None

    def of(*names):
        def build(world):
            world.serve(ApiServer)
            world.add(Pod.of("p"))
            world.start(*(ACTORS[name](name) for name in names))
            world.claim(always(few_pods), always(no_strangers))
            world.allow(Crash(names[-1]))
        return build

    def lazy(world):
        of("tenant")(world)

    def refused(world):
        of("recreator")(world)

    def mixed(world):
        of("recreator", "maker", "tenant")(world)
'''
RACE = """\
scenario: own:{name}
holds:
- hold: tenant get pods/default/p
  until: 500ms
expect: {{holds: [few_pods]}}
"""
NO_WRITE = "nothing was tried: no write of tenant was served"
PRIORITY = "the integer value of priority (5) must not be provided in pod spec"

pytestmark = pytest.mark.usefixtures("own")


@pytest.fixture(autouse=True)
def file(own: Path) -> None:
    """The scenarios above."""
    (own / "own.py").write_text(dedent(OWN), encoding="utf-8")


def done(capsys: pytest.CaptureFixture[str], line: str) -> tuple[int, str]:
    """What one command line does."""
    code = main(shlex.split(line))
    return code, capsys.readouterr().out


def as_json(capsys: pytest.CaptureFixture[str], line: str) -> dict[str, Any]:
    """What it prints with --json."""
    data: dict[str, Any] = json.loads(done(capsys, f"{line} --json")[1])
    return data


@each_row(
    "line",
    [
        "run own.py:lazy",
        "run own.py:lazy --seed 1 --faults none",
        "search own.py:lazy --runs 20 --jobs 1",
        "search own.py:lazy --runs 20 --jobs 1 --faults none --ledger my.ledger",
        "search own.py:lazy --effort complete --faults none",
        "sweep own.py:lazy --fault crash",
    ],
)
def test_who_does_nothing_is_undecided(capsys: pytest.CaptureFixture[str], line: str) -> None:
    """In a Run, in a search with faults and without, in a complete one, in a sweep."""
    code, out = done(capsys, line)
    assert code == 3
    assert f"Undecided: {NO_WRITE}." in out


def test_no_certificate_says_that_it_holds(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A complete search of nothing proves nothing."""
    line = "search own.py:lazy --effort complete --faults none --out races"
    assert f"Note: no certificate: {NO_WRITE}.\n" in done(capsys, line)[1]
    assert not [*own.glob("races/*.jsonl")]


def test_a_race_file_of_nothing_is_not_as_expected(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though the claim that it names is not breached, and its line has matched."""
    (own / "lazy.race.yaml").write_text(RACE.format(name="lazy"), encoding="utf-8")
    code, out = done(capsys, "check lazy.race.yaml --scenario own.py:lazy")
    assert code == 1
    assert out.startswith("NOT EXPECTED  lazy.race.yaml: holds few_pods\n")
    assert f"Undecided: {NO_WRITE}." in out


def test_a_test_of_nothing_fails() -> None:
    """What a mark and `testbed_seek` call."""
    with pytest.raises(NotHeld, match=NO_WRITE):
        seek(find("own:lazy"), runs=10).must_hold()
    seek(find("own:mixed"), runs=10).must_hold()


def test_who_is_refused_everything_is_told(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what it was refused; also in a JUnit file, where no claim passes."""
    code, out = done(capsys, "search own.py:refused --runs 20 --jobs 1 --junitxml out.xml")
    assert code == 3
    assert f"recreator was refused 15 × 403 {PRIORITY}" in out
    junit = (own / "out.xml").read_text(encoding="utf-8")
    assert 'failures="0" errors="0" skipped="7"' in junit
    found = as_json(capsys, "search own.py:refused --runs 20 --jobs 1 --faults none")
    assert (found["verdict"], found["verdicts"]) == ("undecided", {"undecided": 20})
    assert found["tried"]["refused"][0][:3] == ["recreator", "403", "Forbidden"]
    assert found["tried"]["refused"][0][-1] == 20 * 15


def test_a_drawn_run_of_nothing_is_no_failure() -> None:
    """Hypothesis draws Worlds in which there is nothing to do; among others, that is no news."""
    run = play(find("own:lazy"), Calm())
    with pytest.raises(NotHeld, match=NO_WRITE):
        run.must_hold()
    attrs.evolve(run, is_one_of_many=True).must_hold()


def test_a_search_says_what_never_happened(capsys: pytest.CaptureFixture[str]) -> None:
    """It is Held, since somebody got something done; and the same for any number of jobs."""
    code, out = done(capsys, "search own.py:mixed --runs 20 --jobs 1")
    assert code == 0
    _, *told = out.splitlines()
    assert told[0] == "recreator and tenant never had a write served in 20 runs."
    assert told[1].startswith(f'recreator: 300 × 403 "{PRIORITY}')
    assert told[2] == "no_strangers never had anything to judge in 20 runs: no nodes."
    assert told[3].startswith("Played by")
    jobs = [as_json(capsys, f"search own.py:mixed --runs 20 --jobs {jobs}") for jobs in (1, 2)]
    assert jobs[0]["tried"] == jobs[1]["tried"]


def test_a_ledger_keeps_what_was_tried(capsys: pytest.CaptureFixture[str]) -> None:
    """A search that is taken from it says the same."""
    line = "search own.py:mixed --runs 20 --jobs 1 --ledger my.ledger"
    assert as_json(capsys, line)["tried"] == as_json(capsys, f"{line} --resume")["tried"]


def test_a_run_has_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    """With `--stats` as lines, and with `--json`. Without, only what is notable is told."""
    out = done(capsys, "run own.py:mixed --stats")[1]
    for line in (
        "  maker: 1 write and 0 reads served",
        "  recreator: 0 writes and 0 reads served",
        "  recreator/main: 15 timers ended",
        "  few_pods: something to judge in 1 run",
        "  no_strangers: something to judge in 0 runs",
        "  crash:tenant: struck 0 ×",
    ):
        assert f"{line}\n" in out
    assert as_json(capsys, "run own.py:mixed")["tried"]["wrote"] == [
        ["maker", 1], ["recreator", 0], ["tenant", 0],
    ]  # fmt: skip
    assert len(done(capsys, "run lost_update --seed 1 --switch guard=on")[1].splitlines()) == 2
