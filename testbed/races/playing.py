"""Playing: plays a Race, and makes a Race of any Run."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import attrs

from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo
from testbed.fault import Fault
from testbed.invariant import Verdict
from testbed.objects.meta import Map
from testbed.races.pattern import Pattern, pattern_of
from testbed.races.race import Hold, Picked, Race, Strike, aim
from testbed.races.race_chooser import (
    Counting,
    Fate,
    Numbers,
    Raced,
    is_start,
    names_of,
    request_of,
)
from testbed.turns.option import SERVE, Choice, HoldBack, LetPass, Option, Release
from testbed.turns.pending import CALM_ORDER, Alternatives, Options, calm_place
from testbed.turns.trace import Step, Trace
from testbed.world.fault_kinds import as_named
from testbed.world.scenario import Scenario
from testbed.world.world import World


@attrs.frozen
class Played:
    """A Race that was played: its World, its Verdict, and what each line has done."""

    world: World
    verdict: Verdict
    fates: tuple[Fate, ...]
    """What each of its lines has done."""
    seen: tuple[str, ...]
    """All that came up, as a race file would write it."""
    tasks: Mapping[str, Collection[str]] = attrs.field(factory=dict, repr=False)
    """For each sentence that names an actor but no task: the tasks that did such a thing."""

    @property
    def trace(self) -> Trace:
        """The Trace of its Run; it has Steps only if they were kept."""
        return self.world.trace

    def ambiguous(self, fate: Fate) -> dict[str, list[str]]:
        """Return the sentences of a line that name no task though several tasks did the same, each
        with those tasks."""
        deviation = fate.deviation
        parts: list[object] = []
        if isinstance(deviation, Hold):
            parts = [deviation.what, deviation.until]
        elif isinstance(deviation, Strike):
            parts = [deviation.operation, deviation.moment]
        found = {}
        for pattern in parts:
            if isinstance(pattern, Pattern) and "/" not in pattern.who:
                plain = attrs.evolve(pattern, nth=1, life=0)
                if len(tasks := self.tasks.get(str(plain), ())) > 1:
                    found[str(pattern)] = list(tasks)
        return found

    def closest(self, fate: Fate) -> str:
        """Return what came up that is most like a line that matched nothing; empty if none is."""
        deviation = fate.deviation
        sentence = str(deviation.what) if isinstance(deviation, Hold) else str(deviation)
        if isinstance(deviation, Strike):
            moment = deviation.moment
            sentence = str(
                moment if isinstance(moment, Pattern) else deviation.operation or sentence
            )
        found = difflib.get_close_matches(sentence, self.seen, n=1, cutoff=0.3)
        return found[0] if found else ""


def play(
    race: Race,
    recipe: Scenario,
    *,
    switches: Mapping[str, Any] | None = None,
    driver: str = "direct",
    keep: bool = True,
    audit: bool = False,
    goes_on: bool = False,
    trace: Trace | None = None,
) -> Played:
    """Play it under its own switches and, in addition, these; if it `goes_on`, to the end of the
    Run, whatever is breached before."""
    world = recipe.world(
        {**race.switches, **(switches or {})},
        audit=audit,
        faults=[strike.fault for strike in race.faults],
        without=race.without,
    )
    chooser = Raced(race)
    chooser.goes_on = goes_on
    verdict = world.run(chooser, driver=driver, trace=trace or Trace({}, keep=keep))
    return Played(world, verdict, tuple(chooser.fates), tuple(chooser.seen), chooser.tasks)


def race_of(
    recipe: Scenario,
    switches: Mapping[str, Any],
    choices: Sequence[Choice],
    *,
    faults: Iterable[Fault] = (),
    without: Iterable[str] = (),
) -> Race:
    """Write any Run as a Race, which makes the same turns in the same order when it is played.

    1. The choices are taken again. A choice of Option 2 passes over Options 0 and 1: each of these
       becomes a hold.
    2. If Option 0 was then performed in turn 9, its hold ends with turn 8. That is so for any
       Chooser: only what was performed counts, and not why.
    3. Each fault and each pick becomes a line of its own.
    4. The Race is played once, and the lines that made no difference are left out.
    """
    without = tuple(without)
    world = recipe.world(switches, faults=faults, without=without)
    noting = Noting(choices)
    world.run(noting, driver="direct")
    race = attrs.evolve(
        noting.race(),
        scenario=recipe.name,
        switches=Map({name: str(value) for name, value in world.switches.items()}),
        without=without,
    )
    return without_idle(race, play(race, recipe, keep=False).fates)


def without_idle(race: Race, fates: Iterable[Fate]) -> Race:
    """Return the Race without the lines that made no difference when it was played."""
    busy = [fate.deviation for fate in fates if fate.took_place]

    def made_a_difference(deviation: object) -> bool:
        # By identity: of two equal lines one may be idle.
        return any(deviation is each for each in busy)

    return attrs.evolve(
        race,
        holds=tuple(filter(made_a_difference, race.holds)),
        faults=tuple(filter(made_a_difference, race.faults)),
        picks=tuple(filter(made_a_difference, race.picks)),
    )


@attrs.define
class _Late:
    """An Option that was passed over, and when that ended."""

    option: Option
    until: Option | None = None
    """What was performed just before it; None if it never was performed."""
    is_over: bool = False
    for_ms: int | None = None
    """The duration, if the Run itself held it for one."""


class Noting(Chooser):
    """Takes the choices of a Run again, and notes each deviation from the calm run."""

    def __init__(self, choices: Sequence[Choice]) -> None:
        self._choices = choices
        self._taken = 0
        self._late: dict[Option, _Late] = {}
        self._strikes: list[tuple[Option, Option | None, Option | None, int]] = []
        """Each fault, the request it struck, the Option performed before it, and the time."""
        self._picks: list[tuple[Option, int]] = []
        """The alternatives picked other than the dullest, each with the life it was picked in."""
        self._pickers: dict[tuple[str, str], set[str]] = {}
        """By actor and label, the tasks that picked."""
        self._came: list[tuple[Option, bool]] = []
        """Options in the order in which they came up, to be numbered as `Raced` numbers them: each
        with whether it was performed then, or only passed over for the first time."""
        self._last: Option | None = None
        self._lives: dict[str, int] = {}

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("noting the deviations")

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        if self._taken == len(self._choices):
            return CUT
        choice = self._choices[self._taken]
        self._taken += 1
        if isinstance(options, Options):
            self._see_withdrawn()
        if isinstance(options, Alternatives):
            assert isinstance(choice, int)
            picked = options[choice]
            self._pickers.setdefault((picked.actor, picked.verb), set()).add(picked.path)
            if choice:
                self._picks.append((picked, self._lives.get(picked.actor, 1)))
        elif isinstance(choice, int):
            self._perform(choice, options)
        elif isinstance(choice, HoldBack):
            option = options[choice.index]
            if choice.for_ms is not None:
                self._late[option] = _Late(option, for_ms=choice.for_ms, is_over=True)
            else:
                self._pass_over(option)
        elif isinstance(choice, Release | LetPass):
            pass
        return choice

    def strike(self, options: Options) -> int | None:
        """Return the next choice if it was a fault: nothing else goes on from where a Run rests."""
        choice = self._choices[self._taken] if self._taken < len(self._choices) else None
        if not isinstance(choice, int) or choice < options.ready:
            return None
        self.choose(options)
        return choice

    def _perform(self, choice: int, options: Options) -> None:
        if choice >= options.ready:
            fault = options[choice]
            self._strikes.append((fault, self._struck(fault), self._last, options.now_ms))
            return
        option = options[choice]
        place = calm_place(option)
        for index, passed in enumerate(options.in_line()):
            # An Option that was released stands first in line wherever it belongs. By its place in
            # calm order it has passed over those that are duller, though they now stand behind it.
            if index < choice or calm_place(passed) < place:
                self._pass_over(passed)
        late = self._late.get(option)
        if late is not None and not late.is_over:
            late.is_over = True
            late.until = self._last
        if is_start(option):
            self._lives[option.actor] = self._lives.get(option.actor, 0) + 1
        self._came.append((option, True))
        self._last = option

    def _struck(self, fault: Option) -> Option | None:
        """Return the request that a fault strikes; None if it strikes something else.

        It is looked for in the current life of its actor. If it has not come up before, the fault
        makes it come up, and so it is numbered here.
        """
        if not fault.fault.strikes_requests:
            return None
        request = request_of(fault)
        for option, is_performed in reversed(self._came):
            if is_performed and is_start(option) and option.actor == request.actor:
                break
            if option.kind == SERVE and option.sentence == request.sentence:
                return option
        self._came.append((request, False))
        return request

    def _see_withdrawn(self) -> None:
        """End the lateness of Options that are gone, with their caller or by a fault."""
        for late in self._late.values():
            if not late.is_over and late.option.place is None:
                late.is_over = True
                late.until = self._last

    def _pass_over(self, option: Option) -> None:
        if option not in self._late:
            self._late[option] = _Late(option)
            self._came.append((option, False))

    def race(self) -> Race:
        """Return what it has noted as a Race, without its scenario."""
        names = Names(self._came)
        holds = [
            Hold(what, late.for_ms if late.for_ms is not None else names.of(late.until))
            for late in self._late.values()
            if (what := names.of(late.option)) is not None
        ]
        strikes = [names.strike(*struck) for struck in self._strikes]
        picks = [self._picked(option, life) for option, life in self._picks]
        return Race("", holds=tuple(holds), faults=tuple(strikes), picks=tuple(picks))

    def _picked(self, option: Option, life: int) -> Picked:
        """Return the line of a pick; it names the task only if another task picks such a thing."""
        is_clear = len(self._pickers[option.actor, option.verb]) == 1
        who = option.actor if is_clear else option.path
        life = life if self._lives[option.actor] > 1 else 0
        return Picked(who, option.verb, option.label, option.nth, life)


class Names:
    """What a race file calls each Option of a Run, in as few words as tell it from all others.

    An Option is named by its actor, and by its task only if another task of the actor did the same.
    It gets a number if it is not the first, and a life only if another life did the same.
    """

    def __init__(self, came: list[tuple[Option, bool]]) -> None:
        self._numbers: dict[Option, Numbers] = {}
        self._tasks: dict[str, set[str]] = {}
        self._lives: dict[tuple[str, int], set[int]] = {}
        self._counting = Counting()
        for option, is_performed in came:
            if option not in self._numbers:
                self._note(option)
            if is_performed:
                self._counting.performed(option)

    def _note(self, option: Option) -> None:
        names = names_of(option)
        numbers = self._numbers[option] = self._counting.number(option)
        self._tasks.setdefault(names[0], set()).add(names[1])
        for name, nth in zip(names, numbers, strict=False):
            self._lives.setdefault((name, nth), set()).add(numbers[2])

    @classmethod
    def in_steps(cls, steps: Iterable[Step]) -> Names:
        """Return the names of the Options of a Run whose Steps were kept."""
        turns = [step.option for step in steps if step.kind in CALM_ORDER]
        return cls([(option, True) for option in turns])

    def of(self, option: Option | None) -> Pattern | None:
        """Return the Pattern that names it; None for a fault, or for what is no turn."""
        if option is None or option.kind not in CALM_ORDER:
            return None
        names, numbers = names_of(option), self._numbers[option]
        by_task = len(self._tasks[names[0]]) > 1
        nth = numbers[by_task]
        pattern = pattern_of(option, by_task=by_task, nth=nth)
        lives = self._lives[names[by_task], nth]
        return pattern and attrs.evolve(pattern, life=numbers[2] if len(lives) > 1 else 0)

    def strike(
        self, fault: Option, request: Option | None, last: Option | None, now_ms: int
    ) -> Strike:
        """Return the line of a fault that has struck: after the Option that was performed last."""
        operation = self.of(request)
        target = str(operation or fault.key)
        kind = attrs.evolve(as_named(fault.fault), times_max=1, target=aim(target))
        moment = self.of(last)
        if moment is None:
            return Strike(kind, target, operation, "at", now_ms)
        return Strike(kind, target, operation, "after", moment)
