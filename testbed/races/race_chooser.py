"""raced: the calm run, but for the deviations of a Race.

1. What is held and whose `until` has come is released, and comes next.
2. A fault whose moment has come strikes, if it can.
3. The dullest Option is held if a line of the Race speaks of it and its `until` has not come.
4. Else the dullest Option is performed.
5. Where the Run would rest, a fault whose moment has come strikes still, and it goes on from there.

So a hold begins to matter when its Option would be performed, and costs nothing before. An Option
is numbered when it first comes up for that, in the order in which operations would take effect.
"""

from __future__ import annotations

import attrs

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.races.pattern import EVERY, Pattern, pattern_of
from testbed.races.race import Hold, Picked, Race, State, Strike
from testbed.turns.option import ANSWER, SERVE, START, Choice, HoldBack, LetPass, Option, Release
from testbed.turns.pending import Alternatives, Options

Deviation = Hold | Strike | Picked
Numbers = tuple[int, int, int]
"""Which of them it is among its actor's, and among its task's; in which life."""


@attrs.define
class Fate:
    """What has become of one line of a Race."""

    deviation: Deviation
    matched: str = ""
    """What it spoke of; empty if nothing ever was."""
    times: int = 0
    """How often it made a difference: held something back, struck, picked."""
    struck: set[object] = attrs.field(factory=set, repr=False)
    """The requests it has struck."""
    expired: bool = False
    """Whether a hold ended because nothing else could happen."""

    @property
    def took_place(self) -> bool:
        """Whether it made a difference at all."""
        return self.times > 0


class Counting:
    """Which of what it is called each Option is, as Options come up one after another."""

    def __init__(self) -> None:
        self.lives: dict[str, int] = {}
        """How often each actor has started."""
        self._asked: dict[tuple[str, str, str, int], Numbers] = {}
        """The numbers of each actor's requests, in its present life."""
        self._counts: dict[str, dict[str, int]] = {}
        """By actor, how many of what its Options are called have come up since its last start."""

    def next(self, option: Option) -> Numbers:
        """The numbers it has if it is the next to be performed or held. An answer has those of its
        request: a fault may put another answer in the place of one."""
        if option.kind == ANSWER:
            return self._asked.get(_request_of(option), (option.nth, option.nth, 0))
        whose = option.path.partition("/")[0]
        counts = self._counts.get(whose, {})
        by_actor, by_task = names_of(option)
        life = self.lives.get(whose, 0) + is_start(option)
        return counts.get(by_actor, 0) + 1, counts.get(by_task, 0) + 1, life

    def asked(self, request: Option) -> Numbers:
        """The numbers of a request, whether it has come up or not."""
        return self._asked.get(_request_of(request)) or self.next(request)

    def number(self, option: Option) -> Numbers:
        """It is: those are taken now."""
        numbers = self.next(option)
        counts = self._counts.setdefault(option.path.partition("/")[0], {})
        for said, nth in zip(names_of(option), numbers, strict=False):
            counts[said] = nth
        if option.kind == SERVE:
            self._asked[_request_of(option)] = numbers
        return numbers

    def number_once(self, request: Option) -> None:
        """A fault strikes it: if it has not come up before, it does so by that."""
        if _request_of(request) not in self._asked:
            self.number(request)

    def performed(self, option: Option) -> None:
        """It has happened; if that begins a life, its actor's counts begin anew."""
        if is_start(option):
            self._counts.pop(option.actor, None)
            self._asked = {
                asked: numbers
                for asked, numbers in self._asked.items()
                if asked[0].partition("/")[0] != option.actor
            }
            self.lives[option.actor] = self.lives.get(option.actor, 0) + 1


class Raced(Chooser):
    """Plays one Race; what became of each of its lines is in `fates`."""

    def __init__(self, race: Race) -> None:
        self.race = race
        self.fates: list[Fate] = []
        self._run: RunInfo
        self._holds: list[Fate] = []
        self._strikes: list[Fate] = []
        self._picks: list[Fate] = []
        self._holding: dict[Option, Fate] = {}
        self._let_go: set[Option] = set()
        self._numbers: dict[Option, Numbers] = {}
        self._counting = Counting()
        self._awaited: dict[Pattern, bool] = {}
        """What some line waits for, and whether it has happened."""
        self.seen: dict[str, None] = {}
        """All that came up, as a race file would say it; for a line that matched nothing."""
        self.tasks: dict[str, dict[str, None]] = {}
        """Of what is said by an actor's name alone, whose tasks it was."""

    def begin(self, run: RunInfo) -> Plan | None:
        self._run = run
        race = self.race
        self._holds = [Fate(hold) for hold in race.holds]
        self._strikes = [Fate(strike) for strike in race.faults]
        self._picks = [Fate(pick) for pick in race.picks]
        self.fates = [*self._holds, *self._strikes, *self._picks]
        self._holding, self._let_go, self._numbers = {}, set(), {}
        self._counting = Counting()
        self._awaited = dict.fromkeys(_awaited(race), False)
        self.seen, self.tasks = {}, {}
        many = len(race)
        return Plan(f"a race of {many} deviation{'' if many == 1 else 's'}")

    def choose(self, options: Options | Alternatives) -> Choice:
        if isinstance(options, Alternatives):
            return self._pick(options)
        if self._holding:
            held = options.held
            for index, option in enumerate(held):
                if self._is_over(self._holding[option]):
                    return self._release(index, option)
        if self._strikes and (strike := self._strike(options)) is not None:
            return strike
        if not options.ready:
            # Nothing else can move: neither an Option, nor a fault whose moment has come.
            self._holding[options.held[0]].expired = True
            return self._release(0, options.held[0])
        first = options[0]
        if first not in self._let_go:
            for fate in self._holds:
                if self._is_meant(fate, first):
                    return self._hold(fate, first)
        self._perform(first)
        return 0

    # -- holds ----------------------------------------------------------------------------------

    def _is_meant(self, fate: Fate, option: Option) -> bool:
        """Whether that hold speaks of it, and has not ended yet."""
        hold = fate.deviation
        assert isinstance(hold, Hold)
        if fate.took_place and hold.what.nth != EVERY:
            return False
        if not self._speaks_of(hold.what, option, self._numbers_of(option)):
            return False
        fate.matched = fate.matched or self._called(option)
        return not self._is_over(fate)

    def _called(self, option: Option) -> str:
        """As a race file says it, by its task."""
        return str(pattern_of(option, by_task=True, nth=self._numbers_of(option)[1]))

    def _hold(self, fate: Fate, option: Option) -> HoldBack:
        hold = fate.deviation
        assert isinstance(hold, Hold)
        fate.times += 1
        self._number(option)
        if isinstance(hold.until, int):
            self._let_go.add(option)
            return HoldBack(0, hold.until)
        self._holding[option] = fate
        return HoldBack(0)

    def _release(self, index: int, option: Option) -> Release:
        self._let_go.add(option)
        del self._holding[option]
        return Release(index)

    def _is_over(self, fate: Fate) -> bool:
        hold = fate.deviation
        assert isinstance(hold, Hold)
        until = hold.until
        if isinstance(until, State):
            return self._run.is_up(until.who) == until.is_up
        return isinstance(until, Pattern) and self._awaited[until]

    # -- what has happened ----------------------------------------------------------------------

    def _numbers_of(self, option: Option) -> Numbers:
        return self._numbers.get(option) or self._counting.next(option)

    def _number(self, option: Option) -> Numbers:
        numbers = self._numbers.get(option)
        if numbers is None:
            numbers = self._numbers[option] = self._counting.number(option)
            self._see(option, numbers)
        return numbers

    def _see(self, option: Option, numbers: Numbers) -> None:
        pattern = pattern_of(option, by_task=False, nth=numbers[0])
        self.seen[str(pattern)] = None
        self.tasks.setdefault(names_of(option)[0], {})[option.path] = None

    def _speaks_of(self, pattern: Pattern, option: Option, numbers: Numbers) -> bool:
        if not pattern.fits(option) or pattern.life not in (0, numbers[2]):
            return False
        return pattern.nth in (EVERY, numbers["/" in pattern.who])

    def _perform(self, option: Option) -> None:
        numbers = self._number(option)
        for pattern, has_happened in self._awaited.items():
            if not has_happened and self._speaks_of(pattern, option, numbers):
                self._awaited[pattern] = True
        self._counting.performed(option)

    # -- faults ---------------------------------------------------------------------------------

    def strike(self, options: Options) -> int | None:
        strike = self._strike(options)
        return strike if isinstance(strike, int) else None

    def _strike(self, options: Options) -> int | LetPass | None:
        first = options[0] if options.ready else None
        for fate in self._strikes:
            strike = fate.deviation
            assert isinstance(strike, Strike)
            if fate.times >= strike.fault.times_max:
                continue
            moment = strike.moment
            if isinstance(moment, int):
                if first and options.now_ms < moment <= first.due_ms:
                    return LetPass(moment)
                is_time = options.now_ms >= moment
            elif moment is None:
                is_time = True
            elif strike.when == "before":
                is_time = first is not None and self._speaks_of(
                    moment, first, self._numbers_of(first)
                )
            else:
                is_time = self._awaited[moment]
            if not is_time:
                continue
            for index, option in enumerate(options.faults):
                if option.fault == strike.fault and self._hits(fate, option):
                    fate.matched = fate.matched or f"{option.verb}: {option.key}"
                    fate.times += 1
                    return options.ready + index
        return None

    def _hits(self, fate: Fate, option: Option) -> bool:
        """Whether a way in which a fault could strike is one that is meant: of requests, each is
        struck but once, for what was lost could be lost again and again."""
        strike = fate.deviation
        assert isinstance(strike, Strike)
        if strike.operation is None:
            return option.key == strike.target
        request = request_of(option)
        numbers = self._counting.asked(request)
        struck = (_request_of(request), numbers)
        if struck in fate.struck or not self._speaks_of(strike.operation, request, numbers):
            return False
        fate.struck.add(struck)
        self._counting.number_once(request)
        return True

    # -- picks ----------------------------------------------------------------------------------

    def _pick(self, options: Alternatives) -> int:
        asked = options[0]
        self.seen[Picked(asked.actor, asked.verb, "", asked.nth).said] = None
        for fate in self._picks:
            pick = fate.deviation
            assert isinstance(pick, Picked)
            whose = asked.path if "/" in pick.who else asked.actor
            life = self._counting.lives.get(asked.actor, 1)
            if fate.took_place or pick.life not in (0, life):
                continue
            if (pick.who, pick.label, pick.nth) != (whose, asked.verb, asked.nth):
                continue
            for index, alternative in enumerate(options):
                if alternative.label == pick.alternative:
                    fate.matched = f"{asked.actor} {asked.verb}: {alternative.label}"
                    fate.times += 1
                    return index
        return 0


def _request_of(option: Option) -> tuple[str, str, str, int]:
    return option.path, option.verb.partition(".")[0], option.key, option.nth


def is_start(option: Option) -> bool:
    """Whether it begins a life of an actor."""
    return option.kind == START and option.path == f"{option.actor}/main"


def names_of(option: Option) -> tuple[str, str]:
    """What an Option is called by its actor's name, and by its task's, without a number."""
    by_actor, by_task = (pattern_of(option, by_task=by_task, nth=1) for by_task in (False, True))
    return str(by_actor), str(by_task)


def _awaited(race: Race) -> list[Pattern]:
    moments = [hold.until for hold in race.holds]
    moments += [strike.moment for strike in race.faults if strike.when == "after"]
    return [moment for moment in moments if isinstance(moment, Pattern)]


def request_of(fault: Option) -> Option:
    """The request that a fault would strike, as an Option of its own."""
    who, verb, key = fault.key.split(" ", 2)
    key, _, nth = key.partition("#")
    path = who if "/" in who else f"{who}/main"
    actor = who.partition("/")[0]
    return Option(SERVE, path, _never, actor=actor).about(verb, key, nth=int(nth or 1))


def _never() -> None:
    """It stands for a request, and is not performed."""
