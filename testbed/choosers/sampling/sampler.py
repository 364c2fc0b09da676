"""Sampler: what all Choosers share that draw Runs from a seed and from what was learnt.

1. Only *effects* are drawn among, and counted: serve, deliver, feed. Glue (answer, start, resume, a
   wake that is due) is performed at once, in calm order. So only the order of effects is drawn.
2. What breaks that rule is drawn rarely, apart, and before the choice among effects: first how
   often, then at which places over the expected length of the Run. There a fault strikes; or one
   Option, glue or an effect, is held back for some effects, and time may pass over it.
3. Each pick has a stream of its own.

Run i is a function of (seed, i, what was learnt before it).
"""

from __future__ import annotations

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.sampling.chance import Chance
from testbed.choosers.sampling.learned import Learned, Profile
from testbed.choosers.sampling.profiler import Profiler
from testbed.turns.option import Choice, HoldBack, Option, Release
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict

HOLD_ONE_IN = 8
"""One Run in 8 holds something back; one in 8 of these a second thing, and so on."""
GLUE_MAX = 1_000
"""After this much glue in a row an effect is performed. Otherwise tasks that only wake each other,
or poll without sleeping, would keep all others from moving."""


class Sampler(Chooser):
    """Chooses glue, faults and picks; a subclass only says which effect is performed."""

    strays = True
    """Whether it draws faults and holds; if not, a Run is an interleaving of effects."""

    def __init__(
        self, seed: int = 0, learned: Learned | None = None, *, alone: bool = True
    ) -> None:
        self.seed = seed
        self.learned = Learned() if learned is None else learned
        self.alone = alone
        """Whether it learns from its own Runs. A search adds their profiles itself, between
        rounds, so that what is learnt does not depend on the number of worker processes."""
        self.profile: Profile | None = None
        """The Profile of the Run that has ended last."""
        self.holds = 0
        """How often this Run is to hold something back."""
        self.chance = Chance(seed, 0)
        self.performed: dict[str, int] = {}
        """By process, the effects of this Run so far."""
        self.effects = 0
        """The effects of all processes in this Run so far."""
        self.effects_expected = 1
        """How many effects this Run may have: as many as the longest so far."""
        self._turn = self._glue = 0
        self._strikes: list[int] = []
        self._hold_at: list[int] = []
        self._until: dict[Option, int] = {}
        """What was held back, and the number of effects after which it is released."""
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
        """A Run has begun: draw here what is drawn once for all of it."""

    def effect(self, ready: list[Option]) -> Option:
        """Which of these effects is performed. They are in calm order, and at least one."""
        raise NotImplementedError

    def choose(self, options: Options | Alternatives) -> Choice:
        if not isinstance(options, Options):
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
        """Choose glue if there is any; if not, an effect."""
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
        """Hold it back for 1, 2, 4, … effects, with equal chances: most races are short."""
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
    """These Options by their path. Most paths have one; a task that sends messages has several."""
    processes: dict[str, list[Option]] = {}
    for option in ready:
        processes.setdefault(option.path, []).append(option)
    return processes
