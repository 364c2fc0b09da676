"""Sampler: what all Choosers have in common that draw Runs from a seed and from what was learnt.

1. Only *effects* are drawn among, and counted: serve, deliver, feed. Glue (answer, start, resume, a
   wake on time) is performed at once, in calm order, so that an interleaving is one of effects.
2. What is out of that order is drawn rarely, and apart, before the choice among effects: first how
   often, then at which places over the expected length of the Run. There a fault strikes; or one
   Option, glue or an effect, is held back for some effects, and time may pass over it.
3. Picks have streams of their own.

Run i is a function of (seed, i, what was learnt before it).
"""

from __future__ import annotations

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.sampling.chance import Chance
from testbed.choosers.sampling.learned import Learned, Profile
from testbed.choosers.sampling.profiler import Profiler
from testbed.invariant import Verdict
from testbed.turns.option import Choice, HoldBack, Option, Release
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace

HOLD_ONE_IN = 8
"""One Run in so many holds something back; one in so many of these, a second thing; …"""
GLUE_MAX = 1_000
"""After so much glue in a row an effect has its turn, lest tasks that only wake each other, or
poll without sleeping, keep everybody from moving."""


class Sampler(Chooser):
    """Performs glue, faults and picks; a subclass only says which effect."""

    strays = True
    """Whether it draws faults, and what to hold back; else a Run is an interleaving of effects."""

    def __init__(
        self, seed: int = 0, learned: Learned | None = None, *, alone: bool = True
    ) -> None:
        self.seed = seed
        self.learned = Learned() if learned is None else learned
        self.alone = alone
        """Whether it learns from its own Runs as it goes. A search adds their profiles itself,
        between rounds, so that they are the same however many processes play them."""
        self.profile: Profile | None = None
        """Of the Run that has ended last."""
        self.holds = 0
        """How often this Run is to hold something back."""
        self.chance = Chance(seed, 0)
        self.performed: dict[str, int] = {}
        """By process, the effects of this Run so far."""
        self.effects = 0
        """All of them."""
        self.effects_expected = 1
        """How many this Run may have: as many as the longest so far."""
        self._turn = self._glue = 0
        self._strikes: list[int] = []
        self._hold_at: list[int] = []
        self._until: dict[Option, int] = {}
        """What was held back, and until how many effects are performed."""
        self._profiler = Profiler()

    def begin(self, run: RunInfo) -> Plan | None:
        learned = self.learned
        self.chance = chance = Chance(self.seed, run.number)
        self.performed = {}
        self.effects = self._turn = self._glue = 0
        turns = learned.turns_expected() or max(run.turns_expected(), 1)
        self.effects_expected = learned.longest or turns
        self._strikes = chance.strikes(run, turns) if self.strays else []
        self.holds = 0
        while self.strays and chance.below(HOLD_ONE_IN) == 0:
            self.holds += 1
        self._hold_at = chance.places(self.holds, turns)
        self._until = {}
        self._profiler = Profiler()
        self.begun(run)
        return Plan(f"{type(self).__name__.lower()}, seed {self.seed}, run {run.number}")

    def begun(self, run: RunInfo) -> None:
        """A Run begins: draw what is drawn for all of it."""

    def effect(self, ready: list[Option]) -> Option:
        """Which of these effects is performed; called at each, in calm order, one or more."""
        raise NotImplementedError

    def choose(self, options: Options | Alternatives) -> Choice:
        if isinstance(options, Alternatives):
            return self.chance.pick(options)
        if self._until:
            for index, held in enumerate(options.held):
                if not options.ready or self._until.get(held, 0) <= self.effects:
                    return Release(index)
        self._turn += 1
        if self._strikes and self._turn > self._strikes[0] and options.faults:
            self._strikes.pop(0)
            return self.chance.fault(options)
        line = options.in_line()
        now_ms = max(options.now_ms, line[0].due_ms)
        if line[-1].due_ms > now_ms:
            line = [option for option in line if option.due_ms <= now_ms]
        return self._among(line)

    def _among(self, line: list[Option]) -> Choice:
        """Glue is performed at once; only then is it the turn of an effect."""
        glue = next((option for option in line if not option.is_effect), None)
        if self._hold_at and self._turn > self._hold_at[0]:
            return self._hold_back(line, glue or self.chance.one_of(line))
        if glue is not None and self._glue < GLUE_MAX:
            self._glue += 1
            return line.index(glue)
        self._glue = 0
        effects = [option for option in line if option.is_effect]
        if not effects:
            return 0
        option = self.effect(effects)
        self.effects += 1
        self.performed[option.path] = self.performed.get(option.path, 0) + 1
        return line.index(option)

    def _hold_back(self, line: list[Option], option: Option) -> HoldBack:
        """For 1, 2, 4, … effects, each as likely: most races are short, and some are not."""
        del self._hold_at[0]
        longest = self.effects_expected.bit_length()
        self._until[option] = self.effects + (1 << self.chance.below(longest))
        return HoldBack(line.index(option))

    def ended(self, step: Step) -> None:
        self._profiler.ended(step)

    def end(self, trace: Trace, verdict: Verdict) -> None:
        self.profile = self._profiler.profile()
        if self.alone:
            self.learned.add(self.profile)


def by_process(ready: list[Option]) -> dict[str, list[Option]]:
    """These Options by their path: most have one each, a task that sends messages several."""
    processes: dict[str, list[Option]] = {}
    for option in ready:
        processes.setdefault(option.path, []).append(option)
    return processes
