"""Healing: repairs a race file that no longer applies, by a search for a similar Race that does.

The least change is tried first, because it is most likely what the author of the file meant:

1. Renamed words: names that no longer come up, such as that of an actor that was renamed, are
   replaced by names that do, in all lines at once.
2. One line changes, then two: to a similar sentence, another number, no task, another `until`.
3. The lines that match nothing are left out.
4. If all that fails: every Run with as many deviations is played, fewest first, and the first one
   that breaches the claim is shrunk.

Each candidate is played on every side of the pair, and must show on each what is expected there: a
Race that breaches the claim behind its guard, too, is another bug. If a claim that must hold is
breached by the file as it is (`is_red`), nothing may be healed: the code is wrong, not the file.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, islice, product
from typing import Any

import attrs

from testbed.choosers.bounded import Bounded
from testbed.errors import HarnessError
from testbed.fault import Fault
from testbed.races.expecting import Side, both_sides
from testbed.races.pattern import EVERY, Pattern, parse_pattern
from testbed.races.playing import race_of
from testbed.races.race import Deviation, Hold, Picked, Race, Strike
from testbed.races.rewriting import Change
from testbed.races.shrink import shrink
from testbed.world.fault_kinds import is_aimed
from testbed.world.scenario import Scenario, play_runs
from testbed.world.world import World

RUNS_MAX = 2000
"""How many Runs one healing may take."""
NEAR = 6
"""How many similar sentences are tried for one."""


@attrs.frozen
class Healed:
    """A Race that applies again, and how it differs from the one in the file."""

    race: Race
    changes: tuple[Change, ...]
    added: tuple[Deviation, ...]
    runs: int


class Healer:
    """Searches for a Race that is similar to one that no longer applies."""

    def __init__(
        self,
        race: Race,
        recipe: Scenario,
        path: str,
        *,
        runs_max: int = RUNS_MAX,
        on_run: Callable[[int], None] = lambda runs: None,
    ) -> None:
        self.race = race
        self.recipe = recipe
        self.path = path
        self.runs = 0
        self.runs_max = runs_max
        self._on_run = on_run
        self.sides = both_sides(race, recipe, path, keep=False)
        self._seen = list(dict.fromkeys(seen for side in self.sides for seen in side.played.seen))
        self._lines: list[Deviation] = [*race.holds, *race.faults, *race.picks]
        self._tried: set[str] = set()

    @property
    def is_well(self) -> bool:
        """Whether there is nothing to heal."""
        return applies(self.sides)

    @property
    def is_red(self) -> bool:
        """Whether a claim that must hold is breached; a weaker race would only hide that."""
        return any(
            side.expected is not None
            and not side.expected.violates
            and side.played.verdict.is_violated
            for side in self.sides
        )

    def heal(self) -> Healed | None:
        """Return the first similar Race that shows what is expected; None if there is none."""
        candidates = (self._renamed, self._nearby, self._without_idle)
        for changes in (change for each in candidates for change in each()):
            if self.runs >= self.runs_max:
                break
            if (race := self._fits(changes)) is not None:
                return Healed(race, changes, (), self.runs)
        return self._searched()

    def _fits(self, changes: tuple[Change, ...]) -> Race | None:
        race = _with(self.race, changes)
        text = race.text()
        if text in self._tried:
            return None
        self._tried.add(text)
        return race if self._applies(race) else None

    def _applies(self, race: Race) -> bool:
        self.runs += 1
        self._on_run(self.runs)
        try:
            return applies(both_sides(race, self.recipe, self.path, keep=False))
        except HarnessError:
            return False

    # -- words that are gone --------------------------------------------------------------------

    def _renamed(self) -> Iterator[tuple[Change, ...]]:
        """Replace each word that no longer comes up by one that does, the same in every line; the
        most similar words first."""
        current = {word for sentence in self._seen for word in _words(sentence)}
        used = dict.fromkeys(word for line in self._lines for word in _words(_sentences(line)))
        gone = [word for word in used if word not in current]
        # The candidates are the product of the words for each, so more than a few are hopeless.
        if not gone or len(gone) > 4:
            return
        near = [_close(word, current)[: 24 // len(gone)] for word in gone]
        for words in islice(product(*near), RUNS_MAX // 4):
            renamed = dict(zip(gone, words, strict=True))
            yield tuple(
                (line, new) for line in self._lines if (new := _reworded(line, renamed)) != line
            )

    # -- lines nearby ---------------------------------------------------------------------------

    def _nearby(self) -> Iterator[tuple[Change, ...]]:
        """Change one line, then two; those that matched nothing first."""
        idle = {fate.deviation.line for side in self.sides for fate in side.unmatched}
        lines = sorted(self._lines, key=lambda line: line.line not in idle)
        near = [(line, list(dict.fromkeys(self._near(line)))) for line in lines]
        for line, others in near:
            for other in others:
                yield ((line, other),)
        for (one, ones), (two, twos) in combinations(near, 2):
            for pair in product(ones[:NEAR], twos[:NEAR]):
                yield ((one, pair[0]), (two, pair[1]))

    def _near(self, line: Deviation) -> Iterator[Deviation]:
        if isinstance(line, Hold):
            for what in self._like(line.what):
                yield attrs.evolve(line, what=what)
            until = line.until
            ends: list[Pattern | None] = [None]
            if isinstance(until, Pattern):
                ends = [*self._like(until), *self._neighbours(until), None]
            for end in ends:
                yield attrs.evolve(line, until=end)
        elif isinstance(line, Strike):
            if line.operation is not None:
                for operation in self._like(line.operation):
                    yield attrs.evolve(line, operation=operation, target=str(operation))
            if isinstance(line.moment, Pattern):
                for moment in [*self._like(line.moment), *self._neighbours(line.moment)]:
                    yield attrs.evolve(line, moment=moment)
        else:
            yield attrs.evolve(line, nth=line.nth + 1)
            yield attrs.evolve(line, nth=max(line.nth - 1, 1))
            yield attrs.evolve(line, who=line.who.partition("/")[0], life=0)

    def _like(self, pattern: Pattern) -> Iterator[Pattern]:
        """Yield it with other numbers, and without task and life; then similar sentences."""
        who = pattern.who.partition("/")[0]
        for nth in dict.fromkeys((pattern.nth, 1, pattern.nth + 1, max(pattern.nth - 1, 1), EVERY)):
            yield attrs.evolve(pattern, nth=nth)
            yield attrs.evolve(pattern, nth=nth, life=0, who=who)
        for sentence in difflib.get_close_matches(str(pattern), self._seen, n=NEAR, cutoff=0.4):
            if (close := parse_pattern(sentence)) is not None:
                yield close

    def _neighbours(self, pattern: Pattern) -> Iterator[Pattern]:
        """Yield what comes up just before and after it, or after what is most like it."""
        found = difflib.get_close_matches(str(pattern), self._seen, n=1, cutoff=0.3)
        place = self._seen.index(found[0]) if found else 0
        for distance in range(1, NEAR):
            for index in (place + distance, place - distance):
                if 0 <= index < len(self._seen) and (near := parse_pattern(self._seen[index])):
                    yield near

    def _without_idle(self) -> Iterator[tuple[Change, ...]]:
        """Leave out what matched nothing on some side; a race without any line tests nothing."""
        lines = [fate.deviation for side in self.sides for fate in side.unmatched]
        if lines and any(line not in lines for line in self._lines):
            yield tuple((line, None) for line in self._lines if line in lines)

    # -- any other race -------------------------------------------------------------------------

    def _searched(self) -> Healed | None:
        """Search for another race for the same claim, with at most as many deviations."""
        wanted = next((s.expected for s in self.sides if s.expected and s.expected.violates), None)
        if wanted is None or self.runs >= self.runs_max:
            return None
        switches = {**self.race.switches, **wanted.switches}
        world = self.recipe.world(switches)
        names = (*world.table.roles, *world.wire.posts)
        faults = [each.fault for each in self.race.faults if is_aimed(each.fault, names)]
        many = max(len(self.race.holds) + len(self.race.picks), 1)
        chooser = Bounded(faults_max=len(faults), deviations_max=many)
        found: list[World] = []

        def look(world: World) -> bool:
            self.runs += 1
            self._on_run(self.runs)
            assert world.verdict is not None
            if any(v.invariant == wanted.violates for v in world.verdict.violations):
                found.append(world)
            return not found

        runs_max = self.runs_max - self.runs
        recipe = _allowing(self.recipe, faults)
        play_runs(recipe, chooser, look, runs_max=runs_max, switches=switches, driver="direct")
        if not found:
            return None
        choices = found[0].trace.choices
        whole = race_of(self.recipe, switches, choices, faults=faults)
        shrunk = shrink(whole, self.recipe, invariant=wanted.violates)
        race = attrs.evolve(
            shrunk.race, scenario=self.race.scenario, switches=self.race.switches,
            without=self.race.without, expect=self.race.expect,
        )  # fmt: skip
        if not self._applies(race):
            return None
        added: tuple[Deviation, ...] = (*race.holds, *race.faults, *race.picks)
        return Healed(race, tuple((line, None) for line in self._lines), added, self.runs)


def _allowing(recipe: Scenario, faults: list[Fault]) -> Scenario:
    """Return the scenario with these faults allowed in addition to its own."""

    def build(world: World, **values: Any) -> None:
        recipe.build(world, **values)
        world.allow(*faults)

    return attrs.evolve(recipe, build=build)


def applies(sides: Iterable[Side]) -> bool:
    """Whether every line matches something, and each side shows what is expected of it."""
    return all(side.is_met and not side.unmatched for side in sides)


def _with(race: Race, changes: tuple[Change, ...]) -> Race:
    new = {old.line: new for old, new in changes}

    def left(lines: Iterable[Deviation]) -> tuple[Any, ...]:
        changed = (new.get(line.line, line) for line in lines)
        return tuple(line for line in changed if line is not None)

    return attrs.evolve(
        race, holds=left(race.holds), faults=left(race.faults), picks=left(race.picks)
    )


def _sentences(line: Deviation) -> str:
    if isinstance(line, Hold):
        return f"{line.what} {line.until}" if isinstance(line.until, Pattern) else str(line.what)
    if isinstance(line, Strike):
        return f"{line.target} {line.moment}" if isinstance(line.moment, Pattern) else line.target
    return line.sentence


def _words(sentence: str) -> list[str]:
    return re.findall(r"[^\s/#@]+", sentence)


def _close(word: str, words: Iterable[str]) -> list[str]:
    """Return all these words, the most similar first."""
    return sorted(words, key=lambda w: (-difflib.SequenceMatcher(None, word, w).ratio(), w))


def _reworded(line: Deviation, renamed: dict[str, str]) -> Deviation:
    def renaming(text: str) -> str:
        return re.sub(r"[^\s/#@]+", lambda word: renamed.get(word[0], word[0]), text)

    def pattern(given: Pattern) -> Pattern:
        return parse_pattern(renaming(str(given))) or given

    if isinstance(line, Picked):
        return attrs.evolve(line, who=renaming(line.who), label=renaming(line.label))
    if isinstance(line, Hold):
        until = pattern(line.until) if isinstance(line.until, Pattern) else line.until
        return attrs.evolve(line, what=pattern(line.what), until=until)
    moment = pattern(line.moment) if isinstance(line.moment, Pattern) else line.moment
    operation = None if line.operation is None else pattern(line.operation)
    target = renaming(line.target) if operation is None else str(operation)
    fault = attrs.evolve(line.fault, target=renaming(line.fault.target))
    return attrs.evolve(line, fault=fault, target=target, operation=operation, moment=moment)
