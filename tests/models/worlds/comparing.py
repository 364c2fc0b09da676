"""A drawn World in two searches: what `complete` has seen, and what Runs in other orders show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from testbed.chooser import Chooser, Cut, Plan, RunInfo
from testbed.choosers.complete import Complete
from testbed.choosers.uniform import Uniform
from testbed.errors import HarnessError
from testbed.turns.pending import Alternatives, Options
from testbed.world.scenario import Scenario, play_runs
from testbed.world.world import World
from tests.models.worlds.doing import Action, said_by
from tests.models.worlds.drawn_world import Drawn, Program
from tests.models.worlds.small_worlds import Brute, Watched


@attrs.frozen
class Reach:
    """How far a comparison goes."""

    complete: int = 50
    """Runs of the complete search, at most; a World that needs more is too large."""
    guessing: int = 5
    """Uniform Runs from which the number of all Runs is guessed."""
    brute: int = 100
    """Brute force is tried if the World has about so many Runs."""
    sampled: int = 30
    """Uniform Runs where there are too many to play each, at most."""
    per_class: int = 30
    """And so many for each class."""


SHORT = Reach()
LONG = Reach(complete=400, guessing=20, brute=1_000, sampled=3_000, per_class=100)


@attrs.frozen
class Classes:
    """What the Runs of each class come to."""

    whole: dict[object, tuple[object, ...]] = attrs.Factory(dict)
    """By the normal form of a class."""
    bare: dict[object, tuple[object, ...]] = attrs.Factory(dict)
    """By that form without the bookmarks of Caches."""

    def __len__(self) -> int:
        return len(self.whole)

    def add(self, watched: Watched, outcome: tuple[object, ...]) -> tuple[object, ...]:
        """Note what a Run has come to; returns what its class came to before, or else that."""
        assert watched.form is not None
        self.bare.setdefault(watched.bare, outcome)
        return self.whole.setdefault(watched.form, outcome)


@attrs.define
class Compared:
    """What was compared, and the first difference."""

    difference: str = ""
    is_large: bool = False
    """Whether the complete search did not come to its end, so that nothing was compared."""
    is_whole: bool = False
    """Whether it was compared with every Run there is."""
    classes: int = 0
    runs: int = 0
    excused: int = 0
    """Runs of no class that was seen, but for the bookmarks of Caches."""


class Counted(Chooser):
    """Uniform choices, with a guess from each Run at how many Runs there are: had all of them so
    many sides at each choice, as many as the product (Knuth, 1975)."""

    def __init__(self, inner: Chooser) -> None:
        self.inner = inner
        self.sides = 1
        self.guesses: list[int] = []

    def begin(self, run: RunInfo) -> Plan | None:
        self.sides = 1
        return self.inner.begin(run)

    def choose(self, options: Options | Alternatives) -> int | Cut:
        of = len(options) if isinstance(options, Alternatives) else options.ready
        self.sides *= of
        choice = self.inner.choose(options)
        assert isinstance(choice, int | Cut)
        return choice

    def end(self, trace: Any, verdict: Any) -> None:
        self.guesses.append(self.sides)
        self.inner.end(trace, verdict)

    @property
    def guess(self) -> int:
        """The mean."""
        return sum(self.guesses) // max(1, len(self.guesses))


def outcome_of(world: World) -> tuple[object, ...]:
    """All that can be told of a Run: how it was judged and why, what the Store holds, what each
    task has recorded. No number that only says when it was."""
    verdict = world.verdict
    assert verdict is not None
    found: dict[str, list[str]] = {}
    for record in world.evidence.records:
        found.setdefault(record.path, []).append(f"{record.name} {record.facts}")
    stored = tuple(said_by(entry.value) for entry in world.store.snapshot(""))
    told = tuple(sorted((violation.invariant, violation.said) for violation in verdict.violations))
    tasks = tuple((path, tuple(lines)) for path, lines in sorted(found.items()))
    return verdict.outcome, verdict.end.partition(":")[0], told, stored, tasks


def compare(drawn: Drawn, reach: Reach = SHORT) -> Compared:
    """Each Run that is played is of a class that `complete` has seen, and comes to what that class
    came to; if all Runs are played, all classes are met."""
    scenario, compared = drawn.scenario(), Compared()
    search = Complete(keeps=False)
    classes = Classes()
    compared.runs = _play(scenario, search, reach.complete, classes, compared)
    if compared.difference:
        return compared
    if not search.is_complete:
        compared.is_large = True
        return compared
    compared.classes = len(classes)
    if len(classes) != search.classes:
        compared.difference = f"{search.classes} classes by digest, {len(classes)} by form"
        return compared
    _hold_against(scenario, classes, reach, compared)
    return compared


def _hold_against(scenario: Scenario, classes: Classes, reach: Reach, compared: Compared) -> None:
    """Play every Run there is, or if those are too many, uniform ones."""
    counted = Counted(Uniform(0))
    compared.runs += _play(scenario, counted, reach.guessing, classes, compared, is_known=True)
    if not compared.difference and counted.guess <= reach.brute:
        most = 2 * reach.brute
        played = _play(scenario, Brute(), most, classes, compared, is_known=True)
        compared.is_whole = played < most
        compared.runs += played
    if not compared.difference and not compared.is_whole:
        most = min(reach.sampled, reach.per_class * len(classes))
        compared.runs += _play(scenario, Uniform(1), most, classes, compared, is_known=True)


def _play(
    scenario: Scenario,
    chooser: Chooser,
    runs_max: int,
    classes: Classes,
    compared: Compared,
    *,
    is_known: bool = False,
) -> int:
    """Play, and hold each Run against its class. With `is_known`, every class is there already."""
    watched = Watched(chooser)

    def look(world: World) -> bool:
        if watched.form is None:
            return True
        outcome = outcome_of(world)
        before = classes.whole.get(watched.form)
        if is_known and before is None:
            before = classes.bare.get(watched.bare)
            compared.excused += before is not None
        if not is_known:
            before = classes.add(watched, outcome)
        if before is None:
            compared.difference = f"no Run of this class was played: {_told(outcome)}"
        elif before != outcome:
            compared.difference = _differ(before, outcome)
        return not compared.difference

    try:
        return play_runs(scenario, watched, look, runs_max=runs_max, driver="direct")
    except HarnessError as error:
        compared.difference = f"{type(error).__name__}: {error}"
        return 0


def _told(outcome: tuple[object, ...]) -> str:
    return " / ".join(str(part) for part in outcome)


def _differ(before: tuple[object, ...], outcome: tuple[object, ...]) -> str:
    parts = [
        f"{one} there, {other} here"
        for one, other in zip(before, outcome, strict=True)
        if one != other
    ]
    return f"two Runs of one class come to two ends: {'; '.join(parts)}"


# -- shrinking -------------------------------------------------------------------------------------


def shrunk(drawn: Drawn, fails: Callable[[Drawn], bool], tries_max: int = 300) -> Drawn:
    """The World with all taken away that the failure does not need, one thing after another."""
    tries = 0
    while True:
        for smaller in _smaller(drawn):
            tries += 1
            if tries > tries_max:
                return drawn
            if fails(smaller):
                drawn = smaller
                break
        else:
            return drawn


def _smaller(drawn: Drawn) -> Iterator[Drawn]:
    """Each World with one thing less, the largest things first."""
    programs = drawn.programs
    for place in range(len(programs)) if len(programs) > 1 else ():
        rest = (*programs[:place], *programs[place + 1 :])
        yield attrs.evolve(drawn, programs=rest)
    for bare in (
        attrs.evolve(drawn, claims=()), attrs.evolve(drawn, faults=()),
        attrs.evolve(drawn, limits={}), attrs.evolve(drawn, latencies=()),
    ):  # fmt: skip
        if bare != drawn:
            yield bare
    if len(drawn.faults) > 1:
        for fault in drawn.faults:
            yield attrs.evolve(drawn, faults=(fault,))
    if drawn.server != "store":
        yield attrs.evolve(drawn, server="store")
    for place, program in enumerate(programs):
        for actions in _fewer(program.actions):
            less: Program = attrs.evolve(program, actions=actions)
            yield attrs.evolve(drawn, programs=(*programs[:place], less, *programs[place + 1 :]))
        if program.apart:
            less = attrs.evolve(program, apart=False)
            yield attrs.evolve(drawn, programs=(*programs[:place], less, *programs[place + 1 :]))
    for place in range(len(drawn.things)):
        things = (*drawn.things[:place], *drawn.things[place + 1 :])
        yield attrs.evolve(drawn, things=things)
    for place in range(len(drawn.endpoints)):
        endpoints = (*drawn.endpoints[:place], *drawn.endpoints[place + 1 :])
        yield attrs.evolve(drawn, endpoints=endpoints)


def _fewer(actions: tuple[Action, ...]) -> Iterator[tuple[Action, ...]]:
    """These actions with one less, or with less given to one."""
    for place, (word, given) in enumerate(actions):
        before, after = actions[:place], actions[place + 1 :]
        yield (*before, *after)
        if "actions" in given:
            yield (*before, *given["actions"], *after)
            for inner in _fewer(given["actions"]):
                yield (*before, (word, {**given, "actions": inner}), *after)
        for name in given:
            if name not in ("actions", "endpoint"):
                rest = {key: value for key, value in given.items() if key != name}
                yield (*before, (word, rest), *after)
