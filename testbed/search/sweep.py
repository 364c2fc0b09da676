"""Sweep: one fault at every operation of every actor in the calm run, one Run for each place.

1. The calm run is played once. At each of its turns the faults that could strike are noted.
2. A *row* is one thing that an actor did: an Operation that was served (each part of it is a row),
   a delivery it read, a timer of its own that ended. What an actor does between two rows needs no
   row: nothing outside it changes there, so a crash cannot cut it in two.
3. A row has up to three places. `before`: the Operation is announced and has no effect yet, or the
   delivery or the timer is due. `after`: it has taken effect, and its caller has no answer yet.
   `told`: its caller has the answer, and has run on to its next await.
4. At each place the fault strikes the actor of the row, or something that all share
   (`crash:store`, `compact`). A fault that strikes a request strikes only that of its row.
5. Places of two rows can be the same turn, as `told` of one Operation and `before` of the next.
   They share one Run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any

import attrs

from testbed.child import IN_ONE, Jobs
from testbed.choosers.calm import Calm
from testbed.choosers.struck import Struck
from testbed.errors import HarnessBug, ScenarioError
from testbed.fault import Fault
from testbed.races.pattern import verbs_and_keys
from testbed.search.sharing import shared_out
from testbed.turns.option import ANSWER, DELIVER, PICK, SERVE, WAKE, Choice
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict
from testbed.world.scenario import Scenario
from testbed.world.world import World

BEFORE, AFTER, TOLD = WHENS = ("before", "after", "told")
ROWS = {SERVE: "", DELIVER: "delivery of ", WAKE: "wake of "}
"""The kinds of Step that are a row, and how the sentence of each begins."""
RUNS_MAX = 10_000


@attrs.frozen
class StrikePoint:
    """A place in the calm run at which a fault may strike, and its target there."""

    step: int
    """The Step of the calm run whose row it is in."""
    actor: str
    operation: str
    """What the actor does in that Step, as in `update notes/default/list#2`."""
    when: str
    """before, after or told."""
    turn: int
    """The number of the turn before which it strikes, from 1."""
    target: str
    """What it strikes, as the fault's Option names it."""


@attrs.frozen
class Cell:
    """What one Run has shown in which the fault struck at this place, and all else was calm."""

    place: StrikePoint
    verdict: Verdict
    choices: tuple[Choice, ...]
    """They replay the Run, if the fault is allowed behind those of the scenario."""


@attrs.frozen
class Swept:
    """A fault at every place of a calm run."""

    scenario: str
    fault: Fault
    calm: Verdict
    cells: tuple[Cell, ...]
    runs: int
    """How many Runs were played, not counting the calm one; places at one turn share a Run."""
    left: int
    """How many places were left out because `runs_max` was reached."""

    @property
    def why_nothing(self) -> str:
        """Why nothing was tried, neither in the calm run nor in any other; empty if it was."""
        verdicts = [self.calm, *(cell.verdict for cell in self.cells)]
        return self.calm.nothing if all(verdict.nothing for verdict in verdicts) else ""

    def of(self, outcome: str) -> list[Cell]:
        """Return the cells with that outcome: held, violated or undecided. If nothing was tried in
        any, none of them has held."""
        return [cell for cell in self.cells if self.outcome_of(cell) == outcome]

    def outcome_of(self, cell: Cell) -> str:
        """Return the outcome of a cell among the others."""
        return "undecided" if self.why_nothing else cell.verdict.among_others


def sweep(
    recipe: Scenario,
    fault: Fault,
    *,
    switches: Mapping[str, Any] | None = None,
    driver: str = "direct",
    runs_max: int = RUNS_MAX,
    on_run: Callable[[int, int], None] | None = None,
    jobs: Jobs = IN_ONE,
) -> Swept:
    """Play one Run for each place of the calm run at which that fault can strike.

    `on_run` is called after each Run with the number of Runs so far, and of all.
    """
    world, survey = _build(recipe, fault, switches), _Survey(fault)
    calm = world.run(survey, driver=driver, trace=Trace({}, keep=True))
    places = [
        place
        for place, step in _places(world.trace.steps, survey.offered)
        if not fault.strikes_requests or place.target == _request(step)
    ]
    _check(recipe, fault, calm, places)
    strikes = list(dict.fromkeys((place.turn, place.target) for place in places))[:runs_max]
    played: dict[tuple[int, str], tuple[Verdict, tuple[Choice, ...]]] = {}

    def struck(nth: int) -> tuple[Verdict, tuple[Choice, ...]]:
        turn, target = strikes[nth]
        world, chooser = _build(recipe, fault, switches), Struck(turn, f"{fault.word} {target}")
        verdict = world.run(chooser, driver=driver)
        if not chooser.has_struck:
            raise HarnessBug(f"{chooser.fault} could strike at turn {turn}, and now cannot")
        return verdict, tuple(world.trace.choices)

    with closing(shared_out(struck, len(strikes), jobs)) as shown:
        for place, outcome in zip(strikes, shown, strict=True):
            played[place] = outcome
            if on_run is not None:
                on_run(len(played), len(strikes))
    cells = tuple(
        Cell(place, *played[place.turn, place.target])
        for place in places
        if (place.turn, place.target) in played
    )
    return Swept(recipe.name, fault, calm, cells, len(played), len(places) - len(cells))


def _build(recipe: Scenario, fault: Fault, switches: Mapping[str, Any] | None) -> World:
    """Return a World of the scenario that allows this fault behind its own faults."""
    return recipe.world(switches, faults=[fault])


class _Survey(Calm):
    """Plays the calm run, and notes before each turn what the fault could strike."""

    def __init__(self, fault: Fault) -> None:
        self._fault = fault
        self.offered: list[dict[str, str]] = []
        """For each turn, every target and the actor that it is or belongs to."""

    def choose(self, options: Options | Alternatives) -> int:
        if isinstance(options, Options):
            ways = (option for option in options.faults if option.fault == self._fault)
            self.offered.append({way.key: way.actor for way in ways})
        return 0


def _places(steps: list[Step], offered: list[dict[str, str]]) -> Iterator[tuple[StrikePoint, Step]]:
    """Yield every place at which the fault may strike, row by row, with the Step of its row."""
    turns = [step for step in steps if step.kind != PICK]
    answered = {step.causes[-1]: turn for turn, step in enumerate(turns, 1) if step.kind == ANSWER}
    for turn, step in enumerate(turns, 1):
        if step.kind not in ROWS:
            continue
        name = step.option.actor
        at = {BEFORE: turn, AFTER: turn + 1}
        if step.number in answered:
            at[TOLD] = answered[step.number] + 1
        for when, struck in at.items():
            # After the last turn the Run is over, and the Chooser is not asked any more.
            for target, actor in offered[struck - 1].items() if struck <= len(turns) else ():
                if actor in ("", name):
                    operation = _operation(step)
                    yield StrikePoint(step.number, name, operation, when, struck, target), step


def _request(step: Step) -> str:
    """The target of a fault that strikes the request of that Step; empty if it is no request.

    `told` of one row may be the same turn as `before` of the next. A fault on requests that strikes
    there belongs to the next row, and its target tells the two apart.
    """
    option = step.option
    asked = f"{option.path.removesuffix('/main')} {option.verb.partition('.')[0]} {option.key}"
    return _counted(asked, option.nth) if step.kind == SERVE else ""


def _counted(text: str, nth: int) -> str:
    return f"{text}#{nth}" if nth > 1 else text


def _operation(step: Step) -> str:
    option = step.option
    verb, key = verbs_and_keys(option)[0] if step.kind == SERVE else (option.verb, option.key)
    return _counted(ROWS[step.kind] + " ".join(filter(None, (verb, key))), option.nth)


def _check(recipe: Scenario, fault: Fault, calm: Verdict, places: list[StrikePoint]) -> None:
    if calm.is_violated:
        raise ScenarioError(
            f"{recipe.name}: the calm run is violated without any fault, so no fault can be "
            f"blamed.\n{calm}\nNext: testbed run {recipe.name}"
        )
    if not places:
        raise ScenarioError(
            f"{fault.word} of {fault.target!r} can strike nowhere in the calm run of "
            f"{recipe.name}: expected a fault and a target that are there, such as crash, or "
            "crash:alpha.\n"
            f"Next: testbed sweep {recipe.name} --fault crash"
        )
