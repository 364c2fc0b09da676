"""Drawn Worlds: 240 of them are seen whole by `complete`; 500 use every public name.

`python -m pytest tests/choosers/test_drawn_worlds.py -n0 --world 17` plays World 17 alone;
`--world "Drawn(…)"` the one that a failure has printed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

import testbed.faults
from testbed.choosers.calm import Calm
from testbed.choosers.complete import Complete
from testbed.choosers.equivalence.orders import Keys, Touch
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.faults.restart import Restart
from testbed.store.footprint import NOTHING, Footprint
from testbed.world.scenario import play_runs
from tests.models.worlds import drawing
from tests.models.worlds.comparing import LONG, SHORT, Compared, Reach, compare, shrunk
from tests.models.worlds.drawn_claims import Claimed
from tests.models.worlds.drawn_world import Drawn, Program, words_of
from tests.models.worlds.name_spy import Spy
from tests.models.worlds.names_drawn import FACADE_MAKERS, spied, unused

WORLDS, WORLDS_NAMING, WORLDS_LONG = 240, 500, 20_000
"""How many are compared in the usual run, use every public name, and are compared at length."""
BATCH, BATCH_LONG = 20, 100


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The Worlds in batches, or the one that was asked for."""
    if "numbers" not in metafunc.fixturenames:
        return
    is_long = metafunc.function.__name__.startswith("test_many")
    first, last, step = (WORLDS, WORLDS_LONG, BATCH_LONG) if is_long else (0, WORLDS, BATCH)
    batches = [range(at, min(at + step, last)) for at in range(first, last, step)]
    if asked := metafunc.config.getoption("--world"):
        batches = [range(int(asked), int(asked) + 1)] if asked.isdecimal() else [range(0)]
    ids = [f"{batch.start}-{batch.stop - 1}" for batch in batches]
    metafunc.parametrize("numbers", batches, ids=ids)


@pytest.fixture
def asked(request: pytest.FixtureRequest) -> list[tuple[str, Drawn]]:
    """The World that a failure has printed, if that was asked for."""
    line = request.config.getoption("--world") or ""
    return [] if not line or line.isdecimal() else [("the World", pasted(line))]


def pasted(line: str) -> Drawn:
    """The World of which this is the repr."""
    known = {kind.__name__: kind for kind in (Drawn, Program, Claimed, *drawing.FAULTS)}
    found = eval(line, {"__builtins__": {}}, known)
    assert isinstance(found, Drawn)
    return found


def check(worlds: list[tuple[str, Drawn]], reach: Reach) -> list[Compared]:
    """No difference in any of them; the first is told with the smallest World that shows it."""
    found = []
    for title, drawn in worlds:
        compared = compare(drawn, reach)
        if compared.difference:
            pytest.fail(told(title, drawn, compared, reach), pytrace=False)
        found.append(compared)
    return found


def told(title: str, drawn: Drawn, compared: Compared, reach: Reach) -> str:
    """What differs, the World made small, and the line that plays it again."""
    kind = compared.difference.partition(":")[0]

    def fails(smaller: Drawn) -> bool:
        return compare(smaller, reach).difference.partition(":")[0] == kind

    small = shrunk(drawn, fails)
    return (
        f"{title}: {compare(small, reach).difference}\nNext: python -m pytest "
        f'tests/choosers/test_drawn_worlds.py -n0 -k numbers --world "{small}"'
    )


def summed_up(found: list[Compared]) -> str:
    """How much was compared."""
    compared = [each for each in found if not each.is_large]
    return (
        f"{len(found)} Worlds, {len(compared)} compared, "
        f"{sum(each.is_whole for each in found)} of them with every Run there is, "
        f"{sum(each.classes for each in found)} classes, {sum(each.runs for each in found)} Runs"
    )


def test_drawn_worlds_are_seen_whole(numbers: range, asked: list[tuple[str, Drawn]]) -> None:
    """Each Run in another order is of a class that `complete` has seen, and comes to the same: all
    that tasks have seen, what is stored, each verdict and what it says."""
    worlds = asked or [(f"World {number}", drawing.world(number)) for number in numbers]
    found = check(worlds, SHORT)
    sys.stdout.write(f"{summed_up(found)}\n")
    assert sum(not each.is_large for each in found) >= len(found) // 2


@pytest.mark.parametrize("number", [1010, 1171, 1410, 2813, 2834, 5412])
def test_worlds_that_once_differed_are_seen_whole(number: int) -> None:
    """Found beyond the first 500: a commit that a waiting watch hears touched more than one that it
    hears later; an actor was sent to another server, which does not end a watch that opens
    afterwards; what a watch heard was taken for what an earlier one of its path had heard; two
    commits of which one woke the other were taken to commute, where a third looked back."""
    assert not compare(drawing.world(number)).difference


@pytest.mark.long
@pytest.mark.parametrize("number", [2211, 6853, 7520, 8058, 13502, 13853, 15466])
def test_worlds_that_differed_at_length_are_seen_whole(number: int) -> None:
    """Found by the long run; `test_once_missed.py` has the smallest World of each and says why."""
    assert not compare(drawing.world(number), LONG).difference


def test_a_limit_of_virtual_time_hides_no_fault() -> None:
    """A fault may strike before the end at that limit, as it may at rest; and what is said of such
    a search names the limit."""
    drawn = Drawn(
        (Program((("sleep", {"ms": 10}),)), Program((("me", {}),))),
        faults=(Restart("*"),), limits={"virtual_ms_max": 6},
    )  # fmt: skip
    compared = compare(drawn)
    assert (compared.difference, compared.is_whole) == ("", True)
    search = Complete()
    play_runs(drawn.scenario(), search, lambda _: True, runs_max=100, driver="direct")
    assert search.summary.startswith("complete up to virtual_ms_max: ")


@pytest.mark.long
def test_many_drawn_worlds_are_seen_whole(numbers: range, asked: list[tuple[str, Drawn]]) -> None:
    """The same of 19,760 others, with up to 3,000 uniform Runs; `-rP` says what was compared."""
    worlds = asked or [(f"World {number}", drawing.world(number)) for number in numbers]
    sys.stdout.write(f"{summed_up(check(worlds, LONG))}\n")


# -- what is drawn ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def used() -> Iterator[set[str]]:
    """The public names, and their parameters, that the programs of the 500 Worlds use."""
    with pytest.MonkeyPatch.context() as patch:
        spy = Spy(patch)
        spied(spy)
        for number in range(WORLDS_NAMING):
            scenario = drawing.world(number).scenario()
            for chooser, runs in ((Calm(), 1), (Uniform(number), 2)):
                play_runs(scenario, chooser, lambda _: True, runs_max=runs, driver="direct")
        yield spy.used


def test_every_public_name_is_drawn(used: set[str]) -> None:
    """Client, Cache, tasks, waits, watches, what they give, claims, Endpoints, faults: each public
    name is used by some drawn World, and each parameter given. A name that is for the testbed alone
    stands in `names_drawn.py`, with the reason."""
    assert sorted(unused(used)) == []


def test_a_name_that_is_not_drawn_is_missed(
    used: set[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A new method, a new parameter, a new fault, a new claim: each is missed until it is drawn."""

    def whisper(self: Client, what: str) -> None:
        """Say it."""

    class Lean(Client):
        def sleep(self, ms: int, name: str = "sleep", *, deeply: bool = False) -> object:  # type: ignore[override]
            return super().sleep(ms, name)

    before = unused(used)
    monkeypatch.setattr(Client, "whisper", whisper, raising=False)
    monkeypatch.setattr(Client, "sleep", Lean.sleep)
    text = "class Sulk:\n    def __init__(self, for_ms: int = 1) -> None: ...\n"
    (tmp_path / "sulk.py").write_text(text)
    monkeypatch.setattr(testbed.faults, "__path__", [*testbed.faults.__path__, str(tmp_path)])
    monkeypatch.setitem(FACADE_MAKERS, "never", lambda claim: None)
    assert unused(used) - before == {
        "Client.whisper", "Client.whisper(what)", "Client.sleep(deeply)", "Sulk.__init__",
        "Sulk.__init__(for_ms)", "never", "never(claim)",
    }  # fmt: skip


def test_world_n_is_the_same_everywhere() -> None:
    """Another process with another hash seed draws the same Worlds."""
    program = (
        "import hashlib, sys; sys.path[:0] = sys.argv[1:]; "
        "from tests.models.worlds import drawing; "
        "print(hashlib.sha256(''.join(repr(drawing.world(n)) for n in range(60)).encode())"
        ".hexdigest())"
    )
    paths = [path for path in sys.path if path]
    digests = {
        subprocess.run(
            [sys.executable, "-c", program, *paths],
            env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(digests) == 1
    assert all(pasted(repr(drawing.world(number))) == drawing.world(number) for number in range(60))


# -- that a difference is found, and told ----------------------------------------------------------


class Blind(Keys):
    """Footprints without the keys of queues."""

    def touch(self, footprint: Footprint) -> Touch:
        reads, writes = (
            frozenset(key for key in keys if not key.startswith("queue:"))
            for keys in (footprint.reads, footprint.writes)
        )
        return super().touch(Footprint(reads, writes))


def test_a_difference_is_told_with_a_small_world(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that does not see who touches a queue differs in one of the first Worlds; what is
    told is a World of a few actions, and the line that plays it."""
    made = Complete.__init__

    def blind(self: Complete, *given: object, **named: object) -> None:
        made(self, *given, **named)  # type: ignore[arg-type]
        self._keys = Blind()

    monkeypatch.setattr(Complete, "__init__", blind)
    drawn = Drawn(
        (
            Program((
                ("spawn", {"name": "v", "actions": (("put", {}), ("me", {}))}),
                ("get", {}), ("now", {}), ("length", {}), ("get", {}), ("get", {}),
            ), True),
            Program((("get", {"name": "y"}),)),
        ),
    )  # fmt: skip
    compared = compare(drawn)
    assert compared.difference
    line = told("World 7", drawn, compared, SHORT)
    small = pasted(line.partition('--world "')[2].removesuffix('"'))
    actions = [word for program in small.programs for word in words_of(program.actions)]
    assert sorted(actions) == ["get", "length", "put", "spawn"]
    monkeypatch.setattr(Complete, "__init__", made)
    assert not compare(small).difference


def test_footprints_without_anything_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no clash at all, many Worlds differ."""
    touch = Keys.touch
    monkeypatch.setattr(Keys, "touch", lambda self, _: touch(self, NOTHING))
    differ = [compare(drawing.world(number)).difference for number in range(20)]
    assert sum(map(bool, differ)) >= 6


def test_a_world_too_large_is_no_difference() -> None:
    """It is counted apart."""
    reach = attrs.evolve(SHORT, complete=1)
    drawn = Drawn((Program((("swap", {}),)), Program((("swap", {}),))))
    compared = compare(drawn, reach)
    assert compared.is_large
    assert not compared.difference
