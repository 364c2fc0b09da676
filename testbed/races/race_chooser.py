"""Race chooser: plays the calm run, except for the deviations of a Race.

At each turn, the first of these that applies:

1. A held Option whose `until` has come is released; it is the next to be performed.
2. A fault whose moment has come strikes, if it can.
3. The dullest Option is held, if a hold names it and its `until` has not come yet.
4. The dullest Option is performed.

When nothing else can happen, a fault whose moment has come still strikes. Otherwise the Option that
was held first is released: that is what `quiet` waits for, and how a hold ends whose `until` never
comes. So a Run never gets stuck in a hold.

A hold begins only when its Option would be performed, and changes nothing before that. An Option
gets its number at that moment, too, so numbers follow the order in which operations would take
effect, and a hold of one Option does not change the numbers of those that pass it.
"""

from __future__ import annotations

import attrs

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.races.pattern import EVERY, Pattern, pattern_of
from testbed.races.race import Hold, Picked, Race, State, Strike
from testbed.turns.option import ANSWER, SERVE, START, Choice, HoldBack, LetPass, Option, Release
from testbed.turns.pending import Alternatives, Options
from testbed.words import counted

Deviation = Hold | Strike | Picked
Numbers = tuple[int, int, int]
"""The number of an Option among those of its actor, among those of its task; and its life."""


@attrs.define
class Fate:
    """What one line of a Race has done in a Run."""

    deviation: Deviation
    matched: str = ""
    """The Option or pick that it matched; empty if there was none."""
    times: int = 0
    """How often it made a difference: held something, struck, or picked."""
    struck: set[object] = attrs.field(factory=set, repr=False)
    """The requests that it has struck."""
    expired: bool = False
    """Whether a hold ended because nothing else could happen."""

    @property
    def took_place(self) -> bool:
        """Whether it made a difference at all."""
        return self.times > 0


class Counting:
    """Counts Options by name as they come up, to say which of several of one name each is."""

    def __init__(self) -> None:
        self.lives: dict[str, int] = {}
        """How often each actor has started."""
        self._asked: dict[tuple[str, str, str, int], Numbers] = {}
        """The numbers of each actor's requests in its current life."""
        self._counts: dict[str, dict[str, int]] = {}
        """By actor and name: how many Options have come up since the last start of the actor."""

    def next(self, option: Option) -> Numbers:
        """Return the numbers that it has if it is the next to be performed or held.

        An answer has the numbers of its request, since a fault may replace one answer by another.
        If its Endpoint was down, the request did not come up before its answer.
        """
        if option.kind == ANSWER:
            return self.asked(_as_request(option))
        actor = option.path.partition("/")[0]
        counts = self._counts.get(actor, {})
        by_actor, by_task = names_of(option)
        # A start belongs to the life that it begins.
        life = self.lives.get(actor, 0) + is_start(option)
        return counts.get(by_actor, 0) + 1, counts.get(by_task, 0) + 1, life

    def asked(self, request: Option) -> Numbers:
        """Return the numbers of a request, whether it has come up before or not."""
        return self._asked.get(_request_of(request)) or self.next(request)

    def number(self, option: Option) -> Numbers:
        """Give an Option that comes up now its numbers, so that the next one gets others."""
        if option.kind == ANSWER:
            self.number_once(_as_request(option))
            return self.next(option)
        numbers = self.next(option)
        counts = self._counts.setdefault(option.path.partition("/")[0], {})
        for name, nth in zip(names_of(option), numbers, strict=False):
            counts[name] = nth
        if option.kind == SERVE:
            # Its later parts are counted by names of their own; it keeps the number of the first.
            self._asked.setdefault(_request_of(option), numbers)
        return numbers

    def number_once(self, request: Option) -> None:
        """Give a request its numbers if it has none yet: a fault may strike one that was neither
        performed nor held so far."""
        if _request_of(request) not in self._asked:
            self.number(request)

    def performed(self, option: Option) -> None:
        """Note that it was performed; if that starts a life, its actor is counted from 1 again."""
        if is_start(option):
            self._counts.pop(option.actor, None)
            self._asked = {
                asked: numbers
                for asked, numbers in self._asked.items()
                if asked[0].partition("/")[0] != option.actor
            }
            self.lives[option.actor] = self.lives.get(option.actor, 0) + 1


class Raced(Chooser):
    """Plays one Race, and notes in `fates` what each of its lines has done."""

    def __init__(self, race: Race) -> None:
        self.race = race
        self.fates: list[Fate] = []
        self._run: RunInfo
        self._holds: list[Fate] = []
        self._strikes: list[Fate] = []
        self._picks: list[Fate] = []
        self._holding: dict[Option, Fate] = {}
        self._let_go: set[Option] = set()
        """Options that a hold has released, or will release after a duration: no hold takes them a
        second time, or the Run might never end."""
        self._numbers: dict[Option, Numbers] = {}
        self._counting = Counting()
        self._awaited: dict[Pattern, bool] = {}
        """The Options that lines wait for, and whether each was performed."""
        self.seen: dict[str, None] = {}
        """All that came up, as a race file would write it, to find what is closest to a line that
        matched nothing."""
        self.tasks: dict[str, dict[str, None]] = {}
        """For each sentence that names an actor but no task: the tasks that did such a thing."""

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
            for fate in self._holds:
                if self._begins(fate, first):
                    return self._hold(fate, first)
        self._perform(first)
        return 0

    # -- holds ----------------------------------------------------------------------------------

    def _begins(self, fate: Fate, option: Option) -> bool:
        """Whether that hold names this Option and has not ended yet."""
        hold = fate.deviation
        assert isinstance(hold, Hold)
        if fate.took_place and hold.what.nth != EVERY:
            return False
        if not self._matches(hold.what, option, self._numbers_of(option)):
            return False
        # The line has matched even if its `until` has already come: what it names does exist, so
        # it must not be reported as a line that matched nothing.
        fate.matched = fate.matched or self._name_by_task(option)
        return not self._is_over(fate)

    def _name_by_task(self, option: Option) -> str:
        """The Option as a race file writes it, with its task."""
        return str(pattern_of(option, by_task=True, nth=self._numbers_of(option)[1]))

    def _hold(self, fate: Fate, option: Option) -> HoldBack:
        hold = fate.deviation
        assert isinstance(hold, Hold)
        fate.times += 1
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

    def _matches(self, pattern: Pattern, option: Option, numbers: Numbers) -> bool:
        if not pattern.fits(option) or pattern.life not in (0, numbers[2]):
            return False
        return pattern.nth in (EVERY, numbers["/" in pattern.who])

    def _perform(self, option: Option) -> None:
        numbers = self._number(option)
        for pattern, has_happened in self._awaited.items():
            if not has_happened and self._matches(pattern, option, numbers):
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
                    # The next Option would take time past this moment: go just up to it first.
                    return LetPass(moment)
                is_time = options.now_ms >= moment
            elif moment is None:
                is_time = True
            elif strike.when == "before":
                is_time = first is not None and self._matches(
                    moment, first, self._numbers_of(first)
                )
            else:
                is_time = self._awaited[moment]
            if not is_time:
                continue
            for index, option in enumerate(options.faults):
                if option.fault == strike.fault and self._hits(fate, option):
                    self._note_struck(fate, option)
                    fate.matched = fate.matched or f"{option.verb}: {option.key}"
                    fate.times += 1
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
        is_new = (_request_of(request), numbers) not in fate.struck
        return is_new and self._matches(strike.operation, request, numbers)

    def _note_struck(self, fate: Fate, option: Option) -> None:
        """Note which request that line strikes, if it strikes one, and give it its numbers."""
        strike = fate.deviation
        if isinstance(strike, Strike) and strike.operation is not None:
            request = request_of(option)
            fate.struck.add((_request_of(request), self._counting.asked(request)))
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
                    fate.times += 1
                    return index
        return 0


def _request_of(option: Option) -> tuple[str, str, str, int]:
    return option.path, option.verb.partition(".")[0], option.key, option.nth


def _as_request(answer: Option) -> Option:
    """The request that an answer belongs to, as an Option."""
    request = Option(SERVE, answer.path, _never, actor=answer.actor)
    return request.about(answer.verb, answer.key, nth=answer.nth)


def is_start(option: Option) -> bool:
    """Whether it starts a life of an actor."""
    return option.kind == START and option.path == f"{option.actor}/main"


def names_of(option: Option) -> tuple[str, str]:
    """Return what a race file calls an Option, by its actor and by its task, without a number."""
    by_actor, by_task = (pattern_of(option, by_task=by_task, nth=1) for by_task in (False, True))
    return str(by_actor), str(by_task)


def _awaited(race: Race) -> list[Pattern]:
    moments = [hold.until for hold in race.holds]
    moments += [strike.moment for strike in race.faults if strike.when == "after"]
    return [moment for moment in moments if isinstance(moment, Pattern)]


def request_of(fault: Option) -> Option:
    """Return the request that a fault would strike, as an Option."""
    who, verb, key = fault.key.split(" ", 2)
    key, _, nth = key.partition("#")
    path = who if "/" in who else f"{who}/main"
    actor = who.partition("/")[0]
    return Option(SERVE, path, _never, actor=actor).about(verb, key, nth=int(nth or 1))


def _never() -> None:
    """Do nothing: an Option that only stands for a request is never performed."""
