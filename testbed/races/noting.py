"""Noting: writes a Run down as the lines of a Race, by playing it as the Race will be played.

1. `Taking` takes the choices of the Run again, and notes what was performed, struck and picked, in
   order. Any Chooser may have made them: only what has happened counts, and not why.
2. `Noting` makes the same happen in another World, as the race chooser would: the dullest Option is
   held until the one to come is the dullest. What is held, and until when, are the lines. So each
   Option is held, released and numbered here exactly when it will be in the Race.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo
from testbed.choosers.continued import Continued
from testbed.choosers.followed import Followed, differs
from testbed.races.counting import Counting, Numbers, names_of, request_of
from testbed.races.pattern import Pattern, pattern_of
from testbed.races.race import Hold, Picked, Race, Strike, aim
from testbed.store.delivery import DELETED
from testbed.turns.happening import Happening, Key, key_of
from testbed.turns.option import Choice, HoldBack, Option
from testbed.turns.pending import CALM_ORDER, Alternatives, Options
from testbed.turns.trace import Step
from testbed.words import counted
from testbed.world.fault_kinds import as_named


class _Ending(Chooser):
    """Ends a Run at once."""

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("the end")

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        return CUT


class Taking(Continued):
    """Takes the choices of a Run again, and notes what has happened."""

    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__(choices, _Ending())
        self._run: RunInfo
        self.happened: list[Happening] = []
        self.delays: dict[Key, int] = {}
        """What was held back for a time, and when it became due."""

    def begin(self, run: RunInfo) -> Plan | None:
        self._run = run
        return super().begin(run)

    def on_taken(self, choice: Choice, options: Options | Alternatives) -> None:
        if isinstance(choice, int):
            if choice >= len(options):
                there = counted(len(options), "thing")
                raise differs(f"only {there} could happen, not {choice + 1}", self._run)
            is_pick = isinstance(options, Alternatives)
            option = options[choice]
            now_ms = options.now_ms if isinstance(options, Options) else 0
            picked = choice if is_pick else None
            self.happened.append(Happening(key_of(option), now_ms, picked))
        elif isinstance(choice, HoldBack) and choice.for_ms is not None:
            assert isinstance(options, Options)
            self.delays[key_of(options[choice.index])] = options.now_ms + choice.for_ms


@attrs.define
class _Late:
    """An Option that was held, and when that ended."""

    until: Option | int | None = None
    """What was performed just before it was, or how long it was held; None if it was not performed
    any more."""
    is_over: bool = False


class Noting(Followed):
    """Makes the same happen again, and notes each deviation from the calm run."""

    def __init__(self, taken: Taking) -> None:
        super().__init__(taken.happened, taken.delays)
        self._late: dict[Option, _Late] = {}
        self._strikes: list[tuple[Option, Option | None, Option | None, int]] = []
        """Each fault, the request it struck, the Option after which it did, and the time."""
        self._picked: list[tuple[Option, int]] = []
        """The alternatives picked other than the dullest, each with the life it was picked in."""
        self._pickers: dict[tuple[str, str], set[str]] = {}
        """By actor and label, the tasks that picked."""
        self._counting = Counting()
        self._numbers: dict[Option, Numbers] = {}
        self._last: Option | None = None
        self._last_ms = 0
        """When that was performed."""

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        if isinstance(options, Options):
            self._see_withdrawn()
        return super().choose(options)

    def on_first(self, option: Option) -> None:
        if option not in self._numbers:
            self._numbers[option] = self._counting.number(option)

    def on_hold(self, option: Option, for_ms: int | None) -> None:
        if option in self._late:
            raise differs(f"`{option}` would be held a second time", self.run)
        self._late[option] = _Late(for_ms, is_over=for_ms is not None)

    def on_turn(self, option: Option, now_ms: int) -> None:
        late = self._late.get(option)
        if late is not None and not late.is_over:
            late.is_over = True
            late.until = self._last
        self._last, self._last_ms = option, now_ms
        self._counting.performed(option)

    def on_strike(self, fault: Option, now_ms: int) -> None:
        after = self._last if now_ms == self._last_ms else None
        self._strikes.append((fault, self._struck(fault), after, now_ms))

    def on_pick(self, options: Alternatives, choice: int) -> None:
        picked = options[choice]
        self._pickers.setdefault((picked.actor, picked.verb), set()).add(picked.path)
        if choice:
            self._picked.append((picked, self._counting.lives.get(picked.actor, 1)))

    def _struck(self, fault: Option) -> Option | None:
        """Return the request that a fault strikes; None if it strikes something else. It may be one
        that has not come up before: then the fault makes it come up, and it gets its number now."""
        if not fault.fault.strikes_requests:
            return None
        request = request_of(fault)
        self._numbers[request] = self._counting.asked(request)
        self._counting.number_once(request)
        return request

    def _see_withdrawn(self) -> None:
        """End the lateness of Options that are gone, with their caller or by a fault."""
        for option, late in self._late.items():
            if not late.is_over and option.place is None:
                late.is_over = True
                late.until = self._last

    def race(self) -> Race:
        """Return what it has noted as a Race, without its scenario."""
        names = Names(self._numbers)
        holds = [
            Hold(what, until if isinstance(until := late.until, int) else names.of(until))
            for option, late in self._late.items()
            if (what := names.of(option)) is not None
        ]
        strikes = [names.strike(*struck) for struck in self._strikes]
        picks = [self._line(option, life) for option, life in self._picked]
        return Race("", holds=tuple(holds), faults=tuple(strikes), picks=tuple(picks))

    def _line(self, option: Option, life: int) -> Picked:
        """Return the line of a pick; it names the task only if another task picks such a thing."""
        is_clear = len(self._pickers[option.actor, option.verb]) == 1
        who = option.actor if is_clear else option.path
        life = life if self._counting.lives[option.actor] > 1 else 0
        return Picked(who, option.verb, option.label, option.nth, life)


class Names:
    """What a race file calls each Option of a Run, in as few words as tell it from all others.

    An Option is named by its actor, and by its task only if another task of the actor did the same.
    It gets a number if it is not the first, and a life only if another life did the same.
    """

    def __init__(self, numbers: Mapping[Option, Numbers]) -> None:
        self._numbers = numbers
        self._tasks: dict[str, set[str]] = {}
        self._lives: dict[tuple[str, int], set[int]] = {}
        for option, numbered in numbers.items():
            names = names_of(option)
            self._tasks.setdefault(names[0], set()).add(names[1])
            for name, nth in zip(names, (numbered.by_actor, numbered.by_task), strict=True):
                self._lives.setdefault((name, nth), set()).add(numbered.life)

    @classmethod
    def in_steps(cls, steps: Iterable[Step]) -> Names:
        """Return the names of the Options of a Run whose Steps were kept."""
        counting, numbers = Counting(), {}
        for option in [step.option for step in steps if step.kind in CALM_ORDER]:
            numbers[option] = counting.number(option)
            counting.performed(option)
        return cls(numbers)

    def of(self, option: Option | None) -> Pattern | None:
        """Return the Pattern that names it; None for a fault, or for what is no turn."""
        if option is None or option.kind not in CALM_ORDER:
            return None
        names, numbers = names_of(option), self._numbers[option]
        by_task = len(self._tasks[names[0]]) > 1
        nth = numbers.by_task if by_task else numbers.by_actor
        pattern = pattern_of(option, by_task=by_task, nth=nth)
        lives = self._lives[names[by_task], nth]
        life = numbers.life if len(lives) > 1 else 0
        if pattern and nth > 1 and option.change == DELETED and numbers.of_change[by_task] == 1:
            # How many lines come before it may be another number in another Run; it is the last.
            return attrs.evolve(pattern, nth=1, life=life, change=DELETED)
        return pattern and attrs.evolve(pattern, life=life)

    def strike(
        self, fault: Option, request: Option | None, last: Option | None, now_ms: int
    ) -> Strike:
        """Return the line of a fault that has struck: after that Option was performed, or else at
        that time."""
        operation = self.of(request)
        target = str(operation or fault.key)
        kind = attrs.evolve(as_named(fault.fault), times_max=1, target=aim(target))
        moment = self.of(last)
        if moment is None:
            return Strike(kind, target, operation, "at", now_ms)
        return Strike(kind, target, operation, "after", moment)
