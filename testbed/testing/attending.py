"""Attending: a test plays a scenario, or a race file, with real programs in place of its actors."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from testbed.attended.called import command_calling
from testbed.attended.casting import attended_by, check_names
from testbed.attended.steady import Steady
from testbed.attended.wall_times import WallTimes
from testbed.choosers.uniform import Uniform
from testbed.errors import HarnessError, ScenarioError
from testbed.races.playing import Played, play
from testbed.races.race import Race
from testbed.races.racefile import load, parse
from testbed.races.yaml_lines import quoted
from testbed.testing.attended import TRACE, Attended, AttendedPlay, ends_of_output
from testbed.testing.run import Recipe
from testbed.turns.trace import Trace
from testbed.world.scenario import Scenario, find, of
from testbed.world.users_code import in_file

Command = Callable[..., object] | Sequence[str]
"""What a test gives as a program: a function, or a command as one text or in its words."""
Words = tuple[str, ...]
ENDINGS = (".yaml", ".yml")
"""How the name of a race file ends."""
USUAL = WallTimes()


@attrs.frozen
class _How:
    """How each play is played."""

    switches: Mapping[str, Any]
    seed: int | None
    """Draws the order, a different one for each number; None: it is that of the race."""
    driver: str
    pace: WallTimes

    def played(self, race: Race, recipe: Scenario, number: int) -> Played:
        """One play, which has that number."""
        if self.seed is None:
            return play(race, recipe, switches=self.switches, driver=self.driver)
        world, trace = recipe.world(self.switches), Trace({}, keep=True)
        assert world.attendance is not None
        chooser = Steady(Uniform(self.seed), world.attendance)
        verdict = world.run(chooser, driver=self.driver, trace=trace, number=number)
        return Played(world, verdict, (), ())


class Attending:
    """Plays for one test; each play has a folder of its own below that of the test."""

    def __init__(
        self, beside: Path, folder: Path, scenario_of: Callable[[Race, Path], Scenario]
    ) -> None:
        self._beside = beside
        """The folder of the test's own file."""
        self._folder = folder
        self._scenario_of = scenario_of
        """Finds the scenario that a race file names."""
        self._plays = 0

    def __call__(
        self,
        what: Recipe,
        programs: Mapping[str, Command],
        *,
        times: int = 1,
        holds: Mapping[str, str] | None = None,
        seed: int | None = None,
        switches: Mapping[str, Any] | None = None,
        driver: str = "direct",
        speed: float = USUAL.speed,
        quiet_s: float = USUAL.quiet_s,
        silence_s: float = USUAL.silence_s,
        limit_s: float = USUAL.limit_s,
    ) -> Attended:
        """Play it that many times; see the fixture `testbed_attend`."""
        __tracebackhide__ = True
        pace = attrs.evolve(
            USUAL, speed=speed, quiet_s=quiet_s, silence_s=silence_s, limit_s=limit_s
        )
        try:
            race, recipe = self._race_and_recipe(what, holds or {})
            _check(race, times, seed)
            how = _How({**race.switches, **(switches or {})}, seed, driver, pace)
            commands = {name: _command(given) for name, given in programs.items()}
            check_names(commands, recipe.world(how.switches, without=race.without))
            plays = tuple(self._played(race, recipe, commands, how, times))
            return Attended(recipe, tuple(commands), plays)
        except HarnessError as error:
            # The text says it all, and no line of ours is to be mended.
            raise error.with_traceback(None) from None

    def _played(
        self, race: Race, recipe: Scenario, commands: Mapping[str, Words], how: _How, times: int
    ) -> Iterator[AttendedPlay]:
        for number in range(times):
            self._plays += 1
            folder = self._folder / f"play-{self._plays}"
            attended = attended_by(recipe, commands, partial(Path, folder), how.pace)
            try:
                done = how.played(race, attended, number)
            except HarnessError as error:
                for said in ends_of_output(folder, commands):
                    error.add_note(f"\n{said}")
                raise
            with (folder / TRACE).open("wb") as file:
                file.writelines(done.trace.lines())
            yield AttendedPlay(done, folder, how.pace.silence_s)

    def _race_and_recipe(self, what: Recipe, holds: Mapping[str, str]) -> tuple[Race, Scenario]:
        """The race to play, and the scenario that it is a race of."""
        if isinstance(what, str) and what.endswith(ENDINGS):
            path = self._beside / what
            race = load(str(path))
            if holds:
                raise ScenarioError(
                    f"{what} says what is held, and holds= does.\nNext: write all of it there."
                )
            return race, self._scenario_of(race, path)
        recipe = self._recipe(what)
        return parse(_text(recipe, holds), "holds="), recipe

    def _recipe(self, what: Recipe) -> Scenario:
        if isinstance(what, Scenario):
            return what
        if isinstance(what, str):
            return find(str(self._beside / what) if ".py:" in what else what)
        # By its file, as the line to paste will name it.
        try:
            return of(what, in_file(f"{inspect.getsourcefile(what)}:{what.__qualname__}")[1])
        except ScenarioError:
            return of(what)


def _text(recipe: Scenario, holds: Mapping[str, str]) -> str:
    """A race file that holds these, each until the other."""
    lines = [f"scenario: {quoted(recipe.name)}", *(["holds:"] if holds else [])]
    for what, until in holds.items():
        lines += [f"  - hold: {quoted(what)}", f"    until: {quoted(until)}"]
    return "\n".join(lines) + "\n"


def _command(given: Command) -> Words:
    if callable(given):
        return command_calling(given)
    return tuple(shlex.split(given) if isinstance(given, str) else given)


def _check(race: Race, times: int, seed: int | None) -> None:
    """ScenarioError if it cannot be played like that."""
    if seed is not None and len(race):
        raise ScenarioError(
            "seed= draws what is late, and a race says it.\nNext: leave one of them out."
        )
    if times < 1:
        raise ScenarioError(f"times={times} plays nothing.\nNext: say times=1 or more.")
