"""Asides: Steps that are no turn: a pick within a turn, and what is held back between two."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.chooser import Chooser, Cut
from testbed.errors import HarnessBug, Overrun
from testbed.store.footprint import Marks
from testbed.turns.happening import Happening, key_of
from testbed.turns.life import Seat
from testbed.turns.option import HOLD, PASS, RELEASE, Choice, HoldBack, LetPass, Option, Release
from testbed.turns.pending import Alternatives, Options
from testbed.turns.table import Table
from testbed.turns.trace import Step, Trace

CUT_SHORT = "cut: the chooser ended this run"


# An aside performs no Option, so it is no turn: nothing in the World moves, no invariant looks, and
# the limits on turns do not count it. But a replay needs the choice, and a story the Step. So both
# are in the trace, as kinds of their own: pick, hold, release, pass.
class Asides:
    """Does what a Chooser decides apart from turns, and notes it in the trace."""

    def __init__(
        self,
        table: Table,
        chooser: Chooser,
        trace: Trace,
        title: str,
        happened: list[Happening] | None = None,
        *,
        wants_steps: bool,
        lateness_ms: int | None = None,
    ) -> None:
        self._table = table
        self._chooser = chooser
        self._trace = trace
        self._title = title
        self._happened = happened
        """All that has happened, if a claim wants to know it."""
        self._lateness_ms = lateness_ms
        """How much later than it is due anything may be; None: any time."""
        self._wants_steps = wants_steps
        """Whether the Chooser wants to know when a Step is over."""
        self._keeps_steps = trace.is_read or wants_steps

    def pick(self, seat: Seat, label: str, alternatives: Sequence[object]) -> int:
        """Let the Chooser pick among data, within the turn that asks. Never raises: an error ends
        the Run, and the turn goes on with the dullest alternative."""
        table = self._table
        if len(alternatives) == 1 or table.failure is not None:
            return 0
        try:
            shown = Alternatives.of(seat, label, alternatives, table.step, table.now_ms)
            return self._picked(self._chooser.choose(shown), shown)
        except BaseException as error:
            table.fail(error)
            return 0

    def _picked(self, choice: Choice | Cut, shown: Alternatives) -> int:
        """Note what was picked. If the Chooser cuts the Run here, the turn still goes on to its
        end, with the dullest alternative."""
        if isinstance(choice, Cut):
            self._table.stop = self._table.stop or Overrun(CUT_SHORT)
            return 0
        if not isinstance(choice, int) or not 0 <= choice < len(shown):
            picks = f"{len(shown)} for {shown[0].verb}"
            raise HarnessBug(f"{self._title} chose alternative {choice} of {picks}")
        self._trace.choices.append(choice)
        if self._happened is not None:
            key = key_of(shown[choice])
            self._happened.append(Happening(key, self._table.now_ms, choice))
        self._note(shown[choice], choice, len(shown))
        return choice

    def perform(self, choice: Choice, options: Options) -> None:
        """Hold a ready Option back, release one, or let time pass."""
        if isinstance(choice, LetPass):
            self._pass(choice)
        elif isinstance(choice, HoldBack | Release):
            self._move(choice, options)

    def _pass(self, choice: LetPass) -> None:
        pending = self._table.pending
        if not pending.now_ms <= choice.to_ms <= pending.next_due_ms:
            raise HarnessBug(f"{self._title} chose {choice} between {pending.now_ms} ms and next")
        self._trace.choices.append(choice)
        pending.now_ms = choice.to_ms
        self._note(Option(PASS, "time", _done, causes=(self._table.step,)), choice.to_ms, 0)

    def _move(self, choice: HoldBack | Release, options: Options) -> None:
        pending = self._table.pending
        among = options.in_line() if isinstance(choice, HoldBack) else options.held
        if not 0 <= choice.index < len(among):
            raise HarnessBug(f"{self._title} chose {choice} of {len(among)}")
        option = among[choice.index]
        self._trace.choices.append(choice)
        due_ms = 0
        if isinstance(choice, Release):
            pending.release(option)
        elif choice.for_ms is None:
            pending.hold(option)
        else:
            due_ms = self._table.now_ms + choice.for_ms
            if self._lateness_ms is not None:
                due_ms = min(due_ms, option.due_ms + self._lateness_ms)
            pending.postpone(option, due_ms)
        if not self._keeps_steps:
            self._trace.numbered += 1
            return
        kind = HOLD if isinstance(choice, HoldBack) else RELEASE
        self._note(self._noted(kind, option, due_ms), choice.index, len(among))

    def _noted(self, kind: str, option: Option, due_ms: int = 0) -> Option:
        """What stands in the trace for an Option that is held back or released."""
        noted = Option(
            kind, option.path, _done,
            causes=(self._table.step,), due_ms=due_ms, actor=option.actor,
        )  # fmt: skip
        return noted.about(option.verb, option.key, option.change, option.nth, label=option.kind)

    def _note(self, option: Option, choice: int, of: int) -> None:
        trace = self._trace
        trace.numbered += 1
        if self._keeps_steps:
            step = Step(trace.numbered, option, choice, of, Marks(), self._table.now_ms)
            trace.items.append(step)
            if self._wants_steps:
                self._chooser.ended(step)


def _done() -> None:
    """Do nothing: the aside was done before its Step was made."""
