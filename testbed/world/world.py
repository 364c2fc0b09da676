"""World: one assembled cluster, run once, thrown away. Its loop is here, and fits on one screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from testbed.chooser import Chooser, Cut, RunInfo
from testbed.errors import HarnessBug, Overrun, ScenarioError
from testbed.invariant import Verdict
from testbed.store.footprint import Marks
from testbed.store.store import Store
from testbed.turns.drivers import trio
from testbed.turns.life import Seat
from testbed.turns.option import Option
from testbed.turns.pending import Options
from testbed.turns.session import guarded, play_all
from testbed.turns.trace import Record, Step, Trace
from testbed.version import VERSION
from testbed.world.asides import CUT_SHORT, Asides
from testbed.world.assembly import Assembly
from testbed.world.ending import End, Ending


class World(Assembly):
    """Assemble it, then `run` it under a Chooser. The same assembly and the same choices give the
    same Run, byte for byte."""

    def __init__(
        self,
        scenario: str = "world",
        switches: dict[str, Any] | None = None,
        *,
        store: Store | None = None,
        audit: bool = False,
        without: Iterable[str] = (),
    ) -> None:
        super().__init__(scenario, switches, store=store, audit=audit, without=without)
        self.trace = Trace({})
        self.verdict: Verdict | None = None
        """What the Run has shown; None until it has ended."""
        self.turns_expected: Callable[[], int] = lambda: 100
        """The length of the calm run, for Choosers that spread things over it."""
        table = self.table
        self._options = Options(table.pending, self._find_faults)
        self._chooser: Chooser
        self._asides = Asides(table)
        self._ending = Ending(table, self.judge, self.evidence)
        self._end = ""
        self._played = 0
        """The turns; a pick is a Step, and no turn."""
        self._turn_is_open = False
        self._instant_turns = 0
        self._title = ""
        table.advance = self._advance
        table.pick = self._asides.pick
        table.on_record = self._note_record

    # -- playing --------------------------------------------------------------------------------

    def run(
        self, chooser: Chooser, *, driver: str = "trio", trace: Trace | None = None, number: int = 0
    ) -> Verdict:
        """Drive it to its end, and tell what that has shown."""
        if not self.prepare(chooser, trace=trace, number=number):
            raise ScenarioError(f"{type(chooser).__name__} has no Run left to play")
        play_all([self], driver=driver)
        assert self.verdict is not None
        return self.verdict

    async def play(
        self, chooser: Chooser, *, trace: Trace | None = None, number: int = 0
    ) -> Verdict:
        """The same, within a `trio.run` that is already there."""
        if not self.prepare(chooser, trace=trace, number=number):
            raise ScenarioError(f"{type(chooser).__name__} has no Run left to play")
        with guarded(self.table):
            await trio.play_async(self.table)
        self.conclude()
        assert self.verdict is not None
        return self.verdict

    def prepare(self, chooser: Chooser, *, trace: Trace | None = None, number: int = 0) -> bool:
        """Set the Chooser and the trace of the one Run; False if the Chooser has none left."""
        if self._end or self.trace.numbered:
            raise ScenarioError("a World is run once and thrown away; assemble another one")
        self.in_force.check(self.scenario)
        late_ms, length, is_up = self.budget.delay_max_ms, self.turns_expected, self._is_up
        info = RunInfo(self.scenario, number, self.faults_max, length, is_up, late_ms)
        if (plan := chooser.begin(info)) is None:
            return False
        self._chooser = chooser
        self._title = plan.title
        self._hears = type(chooser).ended is not Chooser.ended
        self.trace = Trace({}) if trace is None else trace
        self.trace.header.update(
            testbed=VERSION, scenario=self.scenario, switches=dict(self.switches)
        )
        if in_force := self.in_force.flat():
            self.trace.header["in_force"] = in_force
        self._keeps_steps = self.trace.is_read or self._hears
        self._flushes = self._keeps_steps and (self.trace.sink is not None or not self.trace.keep)
        self.judge.minds_order = chooser.minds_order
        for post in self.wire.posts.values():
            post.endpoint.begin()
        self._asides.begin(chooser, self.trace, plan.title, hears=self._hears)
        self._ending.begin(self.budget, self.trace, goes_on=self.goes_on or chooser.goes_on)
        self.evidence.choices = self.trace.choices
        self.trace.begin()
        return True

    def conclude(self) -> None:
        """Raise, bare, what ended the Run if it was no verdict. Called when all is torn down."""
        table = self.table
        left = [
            seat.path
            for role in table.roles.values()
            if role.life
            for seat in role.life.seats.values()
        ]
        if table.failure is None and left:
            table.fail(HarnessBug(f"the Run has ended and left {', '.join(left)} behind"))
        if table.stop is not None and not isinstance(table.stop, Overrun):
            table.fail(table.stop)
        if table.failure is not None:
            raise table.failure
        assert self.verdict is not None
        self._chooser.end(self.trace, self.verdict)

    # -- the loop -------------------------------------------------------------------------------

    def _advance(self) -> Seat | None:
        """Play turns until a task is to move; None when the Run has ended and all is torn down.

        Called on the stack of whoever has given up the turn, so it never raises: an error is kept,
        ends the Run, and leaves by the World's own task.
        """
        while True:
            try:
                return self._turns()
            except BaseException as error:
                table = self.table
                if isinstance(error, Overrun | KeyboardInterrupt):
                    table.stop = table.stop or error
                else:
                    table.fail(error)

    def _turns(self) -> Seat | None:
        table, options, trace = self.table, self._options, self.trace
        budget, chooser, pending = self.budget, self._chooser, table.pending
        while True:
            if table.dying:
                return table.next_dying()
            if self._turn_is_open:
                self._end_turn()
            if self._end:
                if self._is_torn_down():
                    return None
                continue
            ready, strike = options.show(budget.delay_max_ms), None
            if not ready or self._may_end():
                is_rest = self._ending.is_rest(ready)
                if pending.held and is_rest:
                    options.ready = ready = 0
                else:
                    strike = chooser.strike(options) if is_rest else None
                    turns, here = self._played, self._instant_turns
                    end = None if strike is not None else self._ending.why(ready, turns, here)
                    if end is not None:
                        self._finish(end)
                        continue
            choice = chooser.choose(options) if strike is None else strike
            if not isinstance(choice, int):
                if isinstance(choice, Cut):
                    self._finish(End("undecided", CUT_SHORT))
                else:
                    self._asides.perform(choice, options)
                continue
            if 0 <= choice < ready:
                option = pending.take(choice)
            elif ready <= choice < len(options):
                option = options.faults[choice - ready]
            else:
                raise HarnessBug(f"{self._title} chose option {choice} of {len(options)}")
            if option.due_ms > pending.now_ms:
                pending.now_ms = option.due_ms
                self._instant_turns = 0
            trace.choices.append(choice)
            self._begin_turn(option, choice, ready)
            mover: Seat | None = option.perform()
            if mover is not None:
                return mover

    def _may_end(self) -> bool:
        """Whether it is worth asking why the Run should end: not within an instant, mostly."""
        table, budget = self.table, self.budget
        return (
            table.failure is not None
            or table.stop is not None
            or bool(self.judge.violations)
            or self._played >= budget.turns_max
            or self._instant_turns >= budget.instant_turns_max
            or table.pending.next_due_ms > table.pending.now_ms
            or self.trace.sink is not None
        )

    def _begin_turn(self, option: Option, choice: int, ready: int) -> None:
        """Open the Step; what it touches is marked from now until the next turn."""
        table = self.table
        seat = option.seat
        if seat is not None and (seat.number != option.ticket or not seat.life.is_alive):
            raise HarnessBug(f"{option!r} was performed for a wait that is over")
        self.trace.numbered = number = self.trace.numbered + 1
        self._played += 1
        self._instant_turns += 1
        table.step = number
        self._turn_is_open = True
        self.wire.served = None
        marks = table.marks
        if self._keeps_steps:
            table.marks = self.store.marks = marks = Marks()
            table.turn = step = Step(number, option, choice, ready, marks)
            step.now_ms = table.pending.now_ms
            self.trace.items.append(step)
        else:
            marks.reads.clear()
            marks.writes.clear()
            marks.changes.clear()

    def _end_turn(self) -> None:
        """The turn is over: all it touched is known, so tell the Chooser, and judge."""
        self._turn_is_open = False
        table, wire = self.table, self.wire
        changes = table.marks.changes
        if changes:
            now = (table.step, table.pending.now_ms)
            for change in changes:
                wire.streams.commits[change.revision] = now
        if wire.paused:
            wire.release_paused()
        step = table.turn
        if step is not None:
            table.turn = None
            if self._hears:
                self._chooser.ended(step)
        if changes or wire.streams.delivered or self.judge.has_cause():
            self.judge.turn_ended(step)
        if self._flushes:
            self.trace.flush()

    # -- the end --------------------------------------------------------------------------------

    def _finish(self, end: End) -> None:
        """The Run has ended: close the trace; what moves from now on is not part of it."""
        self._end = end.why
        table = self.table
        table.marks = self.store.marks = Marks()
        self.verdict = Verdict(
            "violated" if self.judge.violations else end.outcome,
            end.why,
            tuple(self.judge.violations),
            self._played,
            table.now_ms,
            sum(allowed.struck for allowed in self._allowed),
            self._title,
            self._chooser.note,
        )
        self.trace.close(
            {
                "end": end.why,
                "verdict": self.verdict.outcome,
                "violations": [str(violation) for violation in self.judge.violations],
                "turns": self._played,
            }
        )

    def _is_torn_down(self) -> bool:
        """End every life that has not ended, in order of names; whether none was left."""
        self.table.is_over = True
        for _, role in sorted(self.table.roles.items()):
            if role.life is not None:
                self.table.end_life(role.life)
        return not self.table.dying

    def _is_up(self, name: str) -> bool:
        role, post = self.table.roles.get(name), self.wire.posts.get(name)
        return (role is not None and role.is_up) or (post is not None and post.is_up)

    # -- what is offered ------------------------------------------------------------------------

    def _find_faults(self) -> list[Option]:
        """Every fault that could strike now; worked out only when a Chooser looks for it."""
        return [o for allowed in self._allowed for o in allowed.options(self._levers)]

    def _note_record(self, record: Record) -> None:
        if self._keeps_steps:
            self.trace.items.append(record)
