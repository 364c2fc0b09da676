"""Race chooser: plays the calm run, except for the deviations of a Race.

At each turn, the first of these that applies:

1. A held Option whose `until` has come is released; it is the next to be performed.
2. A fault whose moment has come strikes, if it can.
3. The dullest Option is held, if a hold names it and its `until` has not come yet.
4. The dullest Option is performed.

When nothing else can happen, a fault whose moment has come still strikes. Otherwise the Option that
was held first is released: that is what `quiet` waits for, and how a hold ends if its `until` never
comes. So a Run never gets stuck in a hold.

A hold begins only when its Option would be performed, and changes nothing before that. An Option
gets its number at that moment, too, so numbers follow the order in which operations would take
effect, and a hold of one Option does not change the numbers of those that pass it.
"""

from __future__ import annotations

import attrs

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.races.counting import Counting, Numbers, asked_as, names_of, request_of
from testbed.races.pattern import EVERY, Pattern, name_of
from testbed.races.race import Deviation, Hold, Picked, Race, State, Strike
from testbed.turns.option import (
    Choice,
    HoldBack,
    LetPass,
    Option,
    Release,
)
from testbed.turns.pending import Alternatives, Options
from testbed.words import counted


@attrs.define
class Fate:
    """What one line of a Race has done in a Run."""

    deviation: Deviation
    matched: str = ""
    """The Option or pick that it matched; empty if there was none."""
    times: int = 0
    """How often it made a difference: held something, struck, or picked."""
    place: int = 0
    """How many lines had made a difference before it first did."""
    held: Option | None = attrs.field(default=None, repr=False)
    """What it has held first."""
    struck: set[object] = attrs.field(factory=set, repr=False)
    """The requests that it has struck."""
    expired: bool = False
    """Whether a hold ended because nothing else could happen."""

    @property
    def took_place(self) -> bool:
        """Whether it made a difference at all."""
        return self.times > 0


class Raced(Chooser):
    """Plays one Race, and notes in `fates` what each of its lines has done."""

    def __init__(self, race: Race) -> None:
        self.race = race
        self.fates: list[Fate] = []
        self._run: RunInfo
        self._holds: list[Fate] = []
        self._holds_of: dict[str, list[Fate]] = {}
        """By the kind of what they hold."""
        self._strikes: list[Fate] = []
        self._picks: list[Fate] = []
        self._holding: dict[Option, Fate] = {}
        self._let_go: set[Option] = set()
        """Options that a hold has released, or will release after a duration: no hold takes them a
        second time, or the Run might never end."""
        self._numbers: dict[Option, Numbers] = {}
        self._counting = Counting()
        self._awaited: dict[str, list[Pattern]] = {}
        """By kind, the Options that lines wait for, until each is performed."""
        self._performed: set[Pattern] = set()
        """Those that were."""
        self.seen: dict[str, None] = {}
        """All that came up, as a race file would write it, to find what is closest to a line that
        matched nothing."""
        self.tasks: dict[str, dict[str, None]] = {}
        """For each sentence that names an actor but no task: the tasks that did such a thing."""

    def begin(self, run: RunInfo) -> Plan | None:
        self._run = run
        race = self.race
        self._holds = [Fate(hold) for hold in race.holds]
        self._holds_of, self._awaited, self._performed = {}, {}, set()
        for hold, fate in zip(race.holds, self._holds, strict=True):
            self._holds_of.setdefault(hold.what.kind, []).append(fate)
        self._strikes = [Fate(strike) for strike in race.faults]
        self._picks = [Fate(pick) for pick in race.picks]
        self.fates = [*self._holds, *self._strikes, *self._picks]
        self._holding, self._let_go, self._numbers = {}, set(), {}
        self._counting = Counting()
        for pattern in dict.fromkeys(_awaited(race)):
            self._awaited.setdefault(pattern.kind, []).append(pattern)
        self.seen, self.tasks = {}, {}
        count = len(race)
        # Without a line it is the calm run, whatever file it comes from.
        return Plan(f"a race of {counted(count, 'deviation')}" if count else "calm")

    def choose(self, options: Options | Alternatives) -> Choice:
        if not isinstance(options, Options):
            return self._pick(options)
        if self._holding:
            held = options.held
            for index, option in enumerate(held):
                if self._is_over(self._holding[option]):
                    return self._release(index, option)
        if self._strikes and (strike := self._strike(options)) is not None:
            return strike
        if not options.ready:
            # Quiet: no Option can be performed, and no fault has its moment. Only the Option held
            # first is released: what follows from it may end the other holds in their own way.
            self._holding[options.held[0]].expired = True
            return self._release(0, options.held[0])
        first = options[0]
        if first not in self._let_go:
            for fate in self._holds_of.get(first.kind, ()):
                if self._begins(fate, first):
                    return self._hold(fate, first)
        self._perform(first)
        return 0

    def _count(self, fate: Fate) -> None:
        """Count one more time that this line makes a difference."""
        if not fate.times:
            fate.place = sum(other.took_place for other in self.fates)
        fate.times += 1

    # -- holds ----------------------------------------------------------------------------------

    def _begins(self, fate: Fate, option: Option) -> bool:
        """Whether that hold names this Option and has not ended yet."""
        hold = fate.deviation
        assert isinstance(hold, Hold)
        if fate.took_place and hold.what.nth != EVERY:
            return False
        if not self._matches(hold.what, option):
            return False
        # The line has matched even if its `until` has already come: what it names does exist, so
        # it must not be reported as a line that matched nothing.
        fate.matched = fate.matched or self._name_by_task(option)
        return not self._is_over(fate)

    def _name_by_task(self, option: Option) -> str:
        """The Option as a race file writes it, with its task."""
        return name_of(option, by_task=True, nth=self._numbers_of(option).by_task)

    def _hold(self, fate: Fate, option: Option) -> HoldBack:
        hold = fate.deviation
        assert isinstance(hold, Hold)
        self._count(fate)
        fate.held = fate.held or option
        self._number(option)
        if isinstance(hold.until, int):
            # The World gives it back by itself when it is due, so there is nothing to release.
            self._let_go.add(option)
            return HoldBack(0, hold.until)
        self._holding[option] = fate
        return HoldBack(0)

    def _release(self, index: int, option: Option) -> Release:
        self._let_go.add(option)
        del self._holding[option]
        return Release(index)

    def _is_over(self, fate: Fate) -> bool:
        """Whether the end of that hold has come. Quiet never comes here: `choose` handles it.

        An awaited Option stays performed, while a state is as it is now.
        """
        hold = fate.deviation
        assert isinstance(hold, Hold)
        until = hold.until
        if isinstance(until, State):
            return self._run.is_up(until.who) == until.is_up
        return isinstance(until, Pattern) and until in self._performed

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
        self.seen[name_of(option, by_task=False, nth=numbers.by_actor)] = None
        self.tasks.setdefault(names_of(option)[0], {})[option.path] = None

    def _matches(self, pattern: Pattern, option: Option, numbers: Numbers | None = None) -> bool:
        if not pattern.fits(option):
            return False
        numbers = numbers or self._numbers_of(option)
        return pattern.life in (0, numbers.life) and pattern.nth in (EVERY, numbers.of(pattern))

    def _perform(self, option: Option) -> None:
        numbers = self._number(option)
        for pattern in [*self._awaited.get(option.kind, ())]:
            if self._matches(pattern, option, numbers):
                self._awaited[option.kind].remove(pattern)
                self._performed.add(pattern)
        self._counting.performed(option)

    # -- faults ---------------------------------------------------------------------------------

    def acts_ms(self, now_ms: int) -> int | None:
        moments = [
            fate.deviation.moment
            for fate in self._strikes
            if isinstance(fate.deviation, Strike) and not fate.took_place
        ]
        later = (each for each in moments if isinstance(each, int) and each > now_ms)
        return min(later, default=None)

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
                    # The next Option would take time past this moment: go just up to it first.
                    return LetPass(moment)
                is_time = options.now_ms >= moment
            elif moment is None:
                is_time = True
            elif strike.when == "before":
                is_time = first is not None and self._matches(moment, first)
            else:
                is_time = moment in self._performed
            if not is_time:
                continue
            for index, option in enumerate(options.faults):
                if option.fault == strike.fault and self._hits(fate, option):
                    self._note_struck(fate, option)
                    fate.matched = fate.matched or f"{option.verb}: {option.key}"
                    self._count(fate)
                    return options.ready + index
        return None

    def _hits(self, fate: Fate, option: Option) -> bool:
        """Whether this way to strike is one that the line means.

        Each request is struck only once: a fault that may strike often could otherwise strike the
        same request again and again.
        """
        strike = fate.deviation
        assert isinstance(strike, Strike)
        if strike.operation is None:
            return option.key == strike.target
        request = request_of(option)
        numbers = self._counting.asked(request)
        is_new = (asked_as(request), numbers) not in fate.struck
        return is_new and self._matches(strike.operation, request, numbers)

    def _note_struck(self, fate: Fate, option: Option) -> None:
        """Note which request that line strikes, if it strikes one, and give it its numbers."""
        strike = fate.deviation
        if isinstance(strike, Strike) and strike.operation is not None:
            request = request_of(option)
            fate.struck.add((asked_as(request), self._counting.asked(request)))
            self._counting.number_once(request)

    # -- picks ----------------------------------------------------------------------------------

    def _pick(self, options: Alternatives) -> int:
        asked = options[0]
        self.seen[Picked(asked.actor, asked.verb, "", asked.nth).sentence] = None
        for fate in self._picks:
            pick = fate.deviation
            assert isinstance(pick, Picked)
            who = asked.path if "/" in pick.who else asked.actor
            life = self._counting.lives.get(asked.actor, 1)
            if fate.took_place or pick.life not in (0, life):
                continue
            if (pick.who, pick.label, pick.nth) != (who, asked.verb, asked.nth):
                continue
            for index, alternative in enumerate(options):
                if alternative.label == pick.alternative:
                    fate.matched = f"{asked.actor} {asked.verb}: {alternative.label}"
                    self._count(fate)
                    return index
        return 0


def _awaited(race: Race) -> list[Pattern]:
    moments = [hold.until for hold in race.holds]
    moments += [strike.moment for strike in race.faults if strike.when == "after"]
    return [moment for moment in moments if isinstance(moment, Pattern)]
