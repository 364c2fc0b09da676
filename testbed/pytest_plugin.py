"""The pytest door: race files and scenarios as tests, and fixtures to play, search and replay.

    my.race.yaml                       one test for each entry of its `expect:`, in any folder
    @pytest.mark.testbed(runs=1000)    above `def my_scenario(world, *, guard=False)`: searched
    testbed_play, testbed_search, testbed_replay, testbed_attend      fixtures

Nothing of the testbed is imported before one of these is used.
"""

# pytest loads this plugin in every project of an environment in which the testbed is installed,
# also where nobody uses it: `import trio` alone would add a tenth of a second to each test run. So
# this file imports the testbed only inside functions, and annotations alone name its types.

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from testbed.races.race import Expectation, Race
    from testbed.testing.attending import Attending
    from testbed.testing.run import Run
    from testbed.testing.seek import Sought
    from testbed.turns.verdict import Violation
    from testbed.world.scenario import Scenario

MARK = "testbed"
OPTIONS = ("effort", "runs", "seed", "faults", "switches", "violates")
SUFFIX = ".race.yaml"


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line(
        "markers",
        f"{MARK}({', '.join(f'{name}=…' for name in OPTIONS)}): search this scenario, a function "
        "of a World; it fails if a claim is breached, or, given `violates`, if that one is not",
    )


# -- race files -------------------------------------------------------------------------------


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> RaceFile | None:
    """Collect each file that ends in `.race.yaml`, in whatever folder it is."""
    if not file_path.name.endswith(SUFFIX):
        return None
    return RaceFile.from_parent(parent, path=file_path)


class RaceFile(pytest.File):
    """A race file: one test for each entry of its `expect:`."""

    def collect(self) -> Iterator[RaceItem]:
        """Read it, and find its scenario. A mistake in it is reported with its line, not with a
        traceback through this plugin."""
        from testbed.errors import HarnessError
        from testbed.races.expecting import check_switches
        from testbed.races.racefile import load

        shown = _shown(self)
        try:
            race = load(shown)
            recipe = self.scenario_of(race, shown)
            check_switches(race, recipe, shown)
        except HarnessError as error:
            text = str(error) if shown in str(error) else f"{shown}: {error}"
            raise self.CollectError(f"{type(error).__name__}: {text}") from None
        if not race.expect:
            raise self.CollectError(
                f"{shown}: it says nothing of what is expected, so nothing can be tested.\n"
                "Next: end it with `expect: {violates: …}`, or with `expect: {holds: […]}`."
            )
        for expectation in race.expect:
            name = _title(expectation)
            yield RaceItem.from_parent(
                self, name=name, race=race, expectation=expectation, recipe=recipe
            )

    def scenario_of(self, race: Race, shown: str) -> Scenario:
        """The scenario it names, which must be installed or lie in the tree under test."""
        # To import a module is to run it, and a race file may come from a stranger's bug report. So
        # merely collecting it must not import what it names from anywhere: `allowed` looks up where
        # the module would come from first, and refuses all but these folders and what is installed.
        from testbed.errors import RaceRefused
        from testbed.races.trust import Named, Trust, allowed

        root = self.config.rootpath
        folders = dict.fromkeys((*self.path.parents, *map(Path, sys.path), root))
        ours = [str(folder) for folder in folders if folder.is_relative_to(root)]
        where, advice = (
            f"{shown}, line {race.line}",
            "run pytest from a folder that holds both, or ",
        )
        again = "mend `scenario:`."
        named = Named(race.scenario, where, f"{where} names", again, RaceRefused, advice)
        return allowed(named, Trust(folders=tuple(ours)))


def _shown(node: pytest.File | pytest.Item) -> str:
    """The path of its file, from the folder in which pytest was called."""
    return os.path.relpath(node.path, node.config.invocation_params.dir)


def _title(expectation: Expectation) -> str:
    """`violates-no_name_is_lost`, `holds[guard=on]`."""
    if expectation.violates:
        title = f"violates-{expectation.violates}"
    else:
        title = "-".join(["holds", *expectation.holds])
    return title + _under(expectation.switches)


def _under(switches: Mapping[str, Any], nth: int = 1) -> str:
    parts = [f"{name}={value}" for name, value in switches.items()]
    parts += [str(nth)] if nth > 1 else []
    return f"[{','.join(parts)}]" if parts else ""


class _Item(pytest.Item):
    """What both kinds of test share: a failure shows its own text, and no line of the testbed."""

    @property
    def obj(self) -> Callable[[], None]:
        """Other plugins, such as pytest-trio, read this of every test."""
        return self.runtest

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The text alone for our own errors. What a scenario raises keeps its traceback."""
        from testbed.errors import HarnessError

        if isinstance(excinfo.value, HarnessError):
            return f"{type(excinfo.value).__name__}: {excinfo.value}"
        if isinstance(excinfo.value, AssertionError | pytest.fail.Exception | UnmatchedLine):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


def _note(item: pytest.Item, searched: Sought) -> None:
    """Note the figures of a search for a JUnit report."""
    item.user_properties.append(("runs", searched.runs))
    if searched.shrunk is not None:
        _note_race(item, searched.shrunk.race, searched.recipe, searched.shrunk.violation)


def _note_race(
    item: pytest.Item, race: Race, recipe: Scenario, violation: Violation | None
) -> None:
    item.user_properties.append(("level", len(race)))
    if violation is None:
        return
    item.user_properties.append(("invariant", violation.invariant))
    item.user_properties.append(("about", str(violation.about)))
    if violation.reason:
        item.user_properties.append(("reason", violation.reason))
    # Measuring the window takes many Runs, so only do it if a report is written.
    if item.config.getoption("xmlpath", None):
        from testbed.errors import ScenarioError
        from testbed.races.window import narrowest, windows

        window = None
        with suppress(ScenarioError):  # of too many holds it is not measured
            window = narrowest(windows(race, recipe, violation))
        if window is not None and window.width_ms is not None:
            item.user_properties.append(("window_ms", window.width_ms))


class UnmatchedLine(pytest.PytestWarning):
    """A line of a race file matched nothing, though the result is as expected."""


class RaceItem(_Item):
    """One entry of a race file's `expect:`, as a test."""

    def __init__(
        self, *, race: Race, expectation: Expectation, recipe: Scenario, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._race = race
        self._expectation = expectation
        self._recipe = recipe
        self._shown = _shown(self)

    def runtest(self) -> None:
        """Play the race, and compare the result with what is expected."""
        from testbed.races.expecting import expect
        from testbed.races.shrink import breach_of
        from testbed.testing.failure import pytest_line, side_text

        side = expect(self._race, self._recipe, self._expectation, self._shown)
        self.user_properties.append(("runs", 1))
        _note_race(self, self._race, self._recipe, breach_of(side.played.verdict))
        if not side.is_as_expected:
            pytest.fail(side_text(side, pytest_line(self.nodeid)), pytrace=False)
        for line in side.gone:
            self.warn(UnmatchedLine(f"{self._shown}, {line}"))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Its file, line and name, for the report."""
        return self.path, 0, f"{self.path.name}: {self.name}"


# -- scenarios --------------------------------------------------------------------------------


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[ScenarioItem] | None:
    """Collect each mark of a function as a test, whatever the function is called."""
    made: dict[str, ScenarioItem] = {}
    for mark in _marks(collector, obj):
        switches = mark.kwargs.get("switches", {})
        # Two marks may have the same switches, and differ in their seed. These get numbers.
        names = (name + _under(switches, nth) for nth in count(1))
        own = next(each for each in names if each not in made)
        made[own] = ScenarioItem.from_parent(collector, name=own, build=obj, mark=mark)
    return [*made.values()] or None


def _marks(collector: pytest.Collector, obj: object) -> list[pytest.Mark]:
    """The marks of a function, in the order in which they are written. None if the module only
    imports the function: it is a test where it is defined, and not a second time."""
    module = collector.getparent(pytest.Module)
    if not inspect.isfunction(obj) or module is None or obj.__module__ != module.obj.__name__:
        return []
    return [mark for mark in reversed(getattr(obj, "pytestmark", ())) if mark.name == MARK]


class ScenarioItem(_Item):
    """One mark of a scenario, as a test: the scenario is searched."""

    def __init__(self, *, build: Callable[..., None], mark: pytest.Mark, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._build = build
        self._options = dict(mark.kwargs)
        self._violates = self._options.pop("violates", "")
        self.own_markers.extend(m for m in getattr(build, "pytestmark", ()) if m.name != MARK)
        self.own_markers.append(mark)
        self._check(mark)

    def _check(self, mark: pytest.Mark) -> None:
        """Report a mistake in the mark, or in the function, while pytest collects."""
        from testbed.errors import HarnessError, ScenarioError, UnknownName
        from testbed.testing.run import faults_of, recipe_of
        from testbed.testing.seek import runs_of

        try:
            for name in mark.kwargs:
                if name not in OPTIONS:
                    raise UnknownName(f"option of @pytest.mark.{MARK}", name, OPTIONS, see=KNOWN)
            if mark.args or self.get_closest_marker("parametrize") is not None:
                raise ScenarioError(
                    f"@pytest.mark.{MARK} takes options by name, and no parametrize.\nNext: {KNOWN}"
                )
            recipe_of(self._build).check(self._options.get("switches", {}))
            faults_of(self._options.get("faults", ()))
            runs_of(self._options.get("effort", "quick"))
        except HarnessError as error:
            text = f"{_place(self._build)}: {type(error).__name__}: {error}"
            raise pytest.Collector.CollectError(text) from None

    def runtest(self) -> None:
        """Search. A race that is found is left in `.testbed/` under the name of this test."""
        from testbed.testing.seek import seek

        searched = seek(self._build, **self._options)
        _note(self, searched)
        shrunk = searched.shrunk
        if shrunk is None:
            self.add_report_section("call", "search", searched.looked)
            if self._violates:
                pytest.fail(f"expected a breach of {self._violates}.\n{searched.looked}\n"
                            f"Next: more `runs=`, or another `seed=`.", pytrace=False)  # fmt: skip
            searched.must_hold()
            return
        if shrunk.violation.invariant != self._violates:
            pytest.fail(searched.failure_text(self.name), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Its file, line and name, for the report."""
        return self.path, self._build.__code__.co_firstlineno - 1, self.name


KNOWN = f"write @pytest.mark.{MARK}(runs=1000, faults=['crash'], switches={{'guard': 'on'}})"


def _place(build: object) -> str:
    """The file and line of a function."""
    code = inspect.unwrap(build).__code__  # type: ignore[arg-type]
    shown = os.path.relpath(code.co_filename)
    return f"{shown}, line {code.co_firstlineno}"


# -- fixtures ---------------------------------------------------------------------------------


@pytest.fixture
def testbed_play() -> Callable[..., Run]:
    """Play a Run: `testbed_play(my_scenario, seed=1, switches={"guard": "on"}).must_hold()`.

    The scenario is a function, a short name or `module:function`. Without `seed` or `chooser` the
    Run is the calm one; `faults=["crash:alpha"]` may strike beside the scenario's own.
    """
    from testbed.choosers.calm import Calm
    from testbed.choosers.uniform import Uniform
    from testbed.testing.run import play

    def played(
        scenario: Any, *, seed: int | None = None, chooser: Any = None, **options: Any
    ) -> Run:
        decides = chooser or (Calm() if seed is None else Uniform(seed))
        return play(scenario, decides, **options)

    return played


@pytest.fixture
def testbed_search(request: pytest.FixtureRequest) -> Callable[..., Sought]:
    """Search a scenario: `testbed_search(my_scenario, runs=1000).must_hold()`.

    Takes `effort` or `runs`, `seed`, `switches` and `faults`. `.shrunk` is the race that was
    found, or None.
    """
    from testbed.testing.seek import seek

    def searched(scenario: Any, **options: Any) -> Sought:
        done = seek(scenario, **options)
        _note(request.node, done)
        return done

    return searched


@pytest.fixture
def testbed_replay(request: pytest.FixtureRequest) -> Callable[..., Run]:
    """Play a race file: `testbed_replay("my.race.yaml", switches={"guard": "on"}).verdict`.

    The path starts at the folder of the test. Pass a scenario of your own as `scenario=`.
    """
    from testbed.races.playing import play
    from testbed.races.racefile import load
    from testbed.testing.run import Run, recipe_of

    def replayed(path: str, *, scenario: Any = None, **options: Any) -> Run:
        file = request.path.parent / path
        race = load(str(file))
        if scenario is None:
            beside = RaceFile.from_parent(request.session, path=file)
            recipe = beside.scenario_of(race, str(path))
        else:
            recipe = recipe_of(scenario)
        world = play(race, recipe, **options).world
        faults = tuple(strike.fault for strike in race.faults)
        return Run(recipe, {**race.switches, **options.get("switches", {})}, faults, world)

    return replayed


@pytest.fixture
def testbed_attend(request: pytest.FixtureRequest, tmp_path: Path) -> Attending:
    """Play with real programs: `testbed_attend("my.race.yaml", {"alpha": work}).must_hold()`.

    In place of the actor `alpha` stands `work`, a function that is called in a process of its own
    with KUBECONFIG set, or a command. Played is a race file, told from the folder of the test, or a
    scenario: in calm order, with `holds={"alpha bind pods/default/p": "beta bind pods/default/p"}`,
    or as a `seed=` draws it. Takes `times`, `switches`, `driver`; `speed`, `quiet_s`, `silence_s`
    and `limit_s`, as WallTimes has them. All that is written stays in `tmp_path`.
    """
    from testbed.errors import ScenarioError

    try:
        from testbed.testing.attending import Attending
    except ScenarioError as error:  # a package of the extra `attach` is not installed
        pytest.fail(f"testbed_attend: {error}", pytrace=False)

    def scenario_of(race: Race, path: Path) -> Scenario:
        return RaceFile.from_parent(request.session, path=path).scenario_of(race, str(path))

    return Attending(request.path.parent, tmp_path, scenario_of)
