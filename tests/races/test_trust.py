"""Allowed: code that a file alone names is never imported; what the user has named is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from testbed.errors import RaceRefused, ScenarioError
from testbed.races.trust import Named, Trust, allowed, folders_of, is_installed, line_for, trust_in
from testbed.world.scenario import known
from tests.each_row import each_row

MARK = """
from pathlib import Path
Path({mark!r}).touch()

def race(world, *, guard=False):
    "Nobody asked for it."
"""
NOTHING = Trust()


def named(name: str) -> Named:
    """As a race file names it."""
    return Named(name, "a.race.yaml, line 2", "a.race.yaml, line 2 names", "do it", RaceRefused)


@pytest.fixture
def mark(own: Path) -> Path:
    """Where a module leaves a mark when it is imported; it lies about in several folders."""
    mark = own / "imported"
    text = MARK.format(mark=str(mark))
    for folder in (".", "mine", "mine/deep", "other"):
        (own / folder).mkdir(exist_ok=True)
        (own / folder / "marker.py").write_text(text)
    return mark


def test_what_is_installed_may_be_run() -> None:
    """By its short name, and by its place."""
    for scenario in known():
        for name in (scenario.name, f"{scenario.build.__module__}:{scenario.name}"):
            assert is_installed(name)
            assert allowed(named(name), NOTHING).build is scenario.build


@each_row(
    "name",
    [
        "marker:race", "mine.marker:race", "os:system", "scenarios.marker:race", "subprocess:run",
        "scenarios:lost_update", "scenarios.basics.lost_update.deep:race",
        "x.scenarios.basics.lost_update:race",
    ],
)  # fmt: skip
def test_what_a_file_alone_names_is_refused(name: str, mark: Path) -> None:
    """With the line, and the line to paste if it is trusted; and nothing was imported."""
    before = set(sys.modules)
    with pytest.raises(ScenarioError, match=r"a\.race\.yaml, line 2 names .* not one of") as caught:
        allowed(named(name), NOTHING)
    assert str(caught.value).endswith("Next: if you trust that code, name it: do it")
    assert not mark.exists()
    assert set(sys.modules) == before


@each_row("name", ["", "../marker:race", "marker:race()", "a b", "marker:", "/etc"])
def test_what_is_no_name_is_refused(name: str, mark: Path) -> None:
    """Whoever vouches for it."""
    with pytest.raises(RaceRefused, match=r"line 2: .* is no name of a scenario"):
        allowed(named(name), Trust(name, (".",)))
    assert not mark.exists()


def test_a_short_name_that_is_unknown_is_told_the_nearest(mark: Path) -> None:
    """And the module of that name in the current folder is not imported."""
    with pytest.raises(RaceRefused, match="Did you mean 'lost_update'"):
        allowed(named("lost_updat"), Trust(None, (".",)))
    with pytest.raises(RaceRefused, match="line 2: there is no scenario 'marker'"):
        allowed(named("marker"), Trust(None, (".",)))
    assert not mark.exists()


def test_what_the_user_has_named_may_be_run(mark: Path) -> None:
    """It is in the current folder, or installed."""
    assert allowed(named("marker:race"), Trust("marker:race")).name == "marker:race"
    assert mark.exists()


def test_another_name_than_the_users_is_refused(mark: Path) -> None:
    """Not even the one he has named is run in its place."""
    with pytest.raises(ScenarioError, match=r"--scenario other:race: a\.race\.yaml, line 2 names"):
        allowed(named("marker:race"), Trust("other:race"))
    assert not mark.exists()


def test_what_lies_in_a_folder_of_the_users_may_be_run(mark: Path, own: Path) -> None:
    """The module in that folder, and not the one of the same name in the current one."""
    (own / "marker.py").write_text("raise SystemExit('the wrong one')")
    found = allowed(named("marker:race"), Trust(None, ("other", "mine")))
    assert Path(found.build.__code__.co_filename) == own / "other/marker.py"
    assert mark.exists()


def test_a_package_in_a_folder_may_be_run(mark: Path, own: Path) -> None:
    """Down to a module of it, also where another package of that name is in the current folder."""
    (own / "deep").mkdir()
    (own / "deep/__init__.py").touch()
    with pytest.raises(ScenarioError, match="another module 'deep' comes first"):
        allowed(named("deep.marker:race"), Trust(None, ("mine",)))
    assert not mark.exists()
    (own / "mine/deep/__init__.py").touch()
    found = allowed(named("deep.marker:race"), Trust(None, ("mine",)))
    assert Path(found.build.__code__.co_filename) == own / "mine/deep/marker.py"


def test_what_lies_elsewhere_is_refused(mark: Path, own: Path) -> None:
    """Beside the folder, or behind a link that leads out of it."""
    (own / "empty").mkdir()
    with pytest.raises(ScenarioError, match="and does not lie in empty"):
        allowed(named("marker:race"), Trust(None, ("empty",)))
    (own / "empty/marker.py").symlink_to(own / "marker.py")
    with pytest.raises(ScenarioError, match="and does not lie in empty"):
        allowed(named("marker:race"), Trust(None, ("empty",)))
    assert not mark.exists()


def test_a_module_that_is_loaded_already_is_not_taken_for_it(own: Path) -> None:
    """A file of its name in the user's folder does not change what the name means."""
    (own / "json.py").write_text("def race(world): pass")
    with pytest.raises(ScenarioError, match="another module 'json' comes first"):
        allowed(named("json:race"), Trust(None, (".",)))


def test_scenarios_in_the_current_folder_do_not_pass_for_the_installed(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder `scenarios` from elsewhere that would come first is refused, and not imported."""
    package = own / "scenarios"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    (package / "lost_update.py").write_text("raise SystemExit('imported')")
    for module in [name for name in sys.modules if name.partition(".")[0] == "scenarios"]:
        monkeypatch.delitem(sys.modules, module)
    sys.path.insert(0, str(own))
    with pytest.raises(ScenarioError, match=r"stands before .* and would be run in its place"):
        allowed(named("lost_update"), NOTHING)


def test_a_folder_that_is_none_is_refused(own: Path) -> None:
    """Before any file is read."""
    with pytest.raises(ScenarioError, match="--scenario-path nowhere: expected a folder"):
        folders_of(["nowhere"])
    assert folders_of([str(own), "."]) == (str(own), ".")


@each_row(
    ("trust", "said"),
    [
        (trust_in("lost_update"), "testbed replay 'a b.race.yaml' --twice"),
        (trust_in("m:race"), "testbed replay 'a b.race.yaml' --scenario m:race --twice"),
        (trust_in("m:race", ["x", "y"]),
         "testbed replay 'a b.race.yaml' --scenario-path x --scenario-path y --twice"),
        (Trust("m:race").naming("lost_update"), "testbed replay 'a b.race.yaml' --twice"),
        (Trust("m:race", ("x",)).naming("m:other"),
         "testbed replay 'a b.race.yaml' --scenario m:other --scenario-path x --twice"),
    ],
)  # fmt: skip
def test_the_line_to_paste_says_what_it_takes_to_run_it(trust: Trust, said: str) -> None:
    """What is installed needs no word; one's own is named, or the folders it was found in are."""
    assert line_for("replay", "a b.race.yaml", trust, "--twice") == said
