"""Play: one Run of a World, from its first turn to the teardown. The loop stands here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from testbed.chooser import Chooser, Cut, Plan
from testbed.client.wire import Wire
from testbed.errors import HarnessBug, Overrun
from testbed.invariant import Evidence
from testbed.store.footprint import Marks
from testbed.store.store import Store
from testbed.turns.happening import Happening, key_of
from testbed.turns.head import Head, Waiter
from testbed.turns.life import Role, Seat
from testbed.turns.option import ANSWER, DELIVER, FEED, SERVE, Choice, Option
from testbed.turns.pending import Options
from testbed.turns.table import Table
from testbed.turns.trace import Record, Step, Trace
from testbed.turns.verdict import Verdict
from testbed.world.asides import CUT_SHORT, Asides
from testbed.world.attendance import Attendance, Standing
from testbed.world.budget import Budget
from testbed.world.ending import End, Ending
from testbed.world.gate import Gate
from testbed.world.judge import Judge
from testbed.world.tried.judged import judged, who_waits

IN_FLIGHT = frozenset({SERVE, ANSWER, FEED, DELIVER})
"""The kinds of turns that carry what programs ask and hear."""


class Assembled(Protocol):
    """What a Play needs of the World that it plays."""

    table: Table
    wire: Wire
    store: Store
    evidence: Evidence
    judge: Judge
    budget: Budget
    goes_on: bool
    attendance: Attendance | None

    @property
    def faults_struck(self) -> int:
        """How many faults have struck by now."""

    def find_faults(self) -> list[Option]:
        """Every fault that could strike now."""

    def offer_start(self, role: Role, after_ms: int) -> None:
        """Offer the next life of an actor, that much later."""


class Play(Head):
    """One Run under one Chooser: it sits at the head of the Table and decides. Made by
    `World.prepare`, once for each World."""

    def __init__(self, world: Assembled, chooser: Chooser, plan: Plan, trace: Trace) -> None:
        self.verdict: Verdict | None = None
        """What the Run has shown; None until it has ended."""
        self._world = world
        self._table = table = world.table
        table.pending.until_ms = world.budget.until_ms
        self._store = world.store
        self._wire = world.wire
        self._streams = world.wire.streams
        self._judge = world.judge
        self._budget = budget = world.budget
        self.turns_max = budget.turns_max
        self._chooser = chooser
        self._title = plan.title
        self._trace = trace
        # A Chooser that leaves `ended` as it is looks at no Step. If nothing else does either, no
        # Step is made at all, which is a good part of the time of a turn.
        self._wants_steps = type(chooser).ended is not Chooser.ended
        self._keeps_steps = trace.is_read or self._wants_steps
        self._flushes = self._keeps_steps and (trace.sink is not None or not trace.keep)
        self._options = Options(table.pending, self._find_faults)
        happened: list[Happening] | None = [] if world.judge.follows else None
        self._happened = world.evidence.happened = happened
        self._asides = Asides(
            table, chooser, trace, plan.title, happened,
            wants_steps=self._wants_steps, lateness_ms=budget.lateness_ms,
        )  # fmt: skip
        goes_on = world.goes_on or chooser.goes_on
        self._ending = Ending(table, world.judge, world.evidence, trace, budget, goes_on=goes_on)
        self._idle, self._late = self._ending.idle, self._ending.idle.late
        self._felt: frozenset[str] = frozenset()
        self._attendance = world.attendance
        """What brings in what real programs do, if any does."""
        self._end = ""
        """Why the Run has ended; empty until it has."""
        self._turns_played = 0  # a pick is a Step, and no turn
        self._instant_began = 0
        """How many there were when time passed last."""
        self._asks_at = 0
        """From how many turns on it is asked after each whether a limit is reached."""
        self._turn_is_open = False
        self._new_instant()

    def begin(self) -> None:
        """Take the head of the Table, and write the header of the trace."""
        self._judge.minds_order = self._chooser.minds_order
        for post in self._wire.posts.values():
            post.in_service(self._table.marks, post.endpoint.begin)
        self._felt = self._idle.felt()
        self._world.evidence.choices = self._trace.choices
        self._table.begin(self)
        self._trace.begin()
        if self._attendance is not None:
            chooser = self._chooser if self._wants_steps else None
            self._attendance.begin(Gate(self._world, self._trace, chooser))

    def conclude(self) -> None:
        """Called after the teardown: raise the error that ended the Run, unwrapped, if one did."""
        table = self._table
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
        self._chooser.end(self._trace, self.verdict)

    # -- at the head of the Table ---------------------------------------------------------------

    def advance(self) -> Seat | Waiter | None:
        while True:
            try:
                return self._advance()
            except BaseException as error:
                table = self._table
                if isinstance(error, Overrun | KeyboardInterrupt):
                    table.stop = table.stop or error
                else:
                    table.fail(error)

    def pick(self, seat: Seat, label: str, alternatives: Sequence[object]) -> int:
        if len(alternatives) > 1:
            self._idle.picks(seat.life.role.name)
        return self._asides.pick(seat, label, alternatives)

    def recorded(self, record: Record) -> None:
        if self._keeps_steps:
            self._trace.items.append(record)
            if (turn := self._table.turn) is not None:
                turn.records += (record,)

    def begin_again(self, role: Role, after_ms: int) -> None:
        self._world.offer_start(role, after_ms)

    # -- the loop -------------------------------------------------------------------------------

    def _advance(self) -> Seat | Waiter | None:
        """Play turns until a task is to move; None when the Run has ended and is torn down; a
        Waiter while real programs are to move first."""
        table, options, choose = self._table, self._options, self._chooser.choose
        pending, delay_max_ms = table.pending, self._budget.delay_max_ms
        while True:
            # The dying come first. Their tasks end one after another, and what these touch is part
            # of the turn in which their life has ended.
            if table.dying:
                return table.next_dying()
            # Close the turn. No task moves any more, so all that the turn has touched is known.
            if self._turn_is_open:
                self._end_turn()
            if self._end:
                if self._is_torn_down():
                    return None
                continue
            # What real programs have done joins here, between two turns, unless that has failed.
            if self._attendance and table.failure is None:
                if (doorman := self._attend(self._attendance)) is not None:
                    return doorman
                if table.dying:
                    self._turn_is_open = True
                    continue
            # May the Run end here? In the middle of an instant there is mostly no need to ask.
            ready, strike = options.show(delay_max_ms), None
            if (
                not ready
                or options.due_ms > pending.now_ms
                or self._turns_played >= self._asks_at
                or table.failure is not None
                or table.stop is not None
                or self._judge.violations
            ):
                strike, ready = self._rest(), options.ready
                if self._end:
                    continue
            # Choose. A choice that is no index is no turn: something is held back or let go, only
            # time passes, or the Run is cut.
            choice = choose(options) if strike is None else strike
            if not isinstance(choice, int):
                self._set_aside(choice)
                continue
            # Perform it. Time moves first, to when it is due. If it ends the wait of a task, that
            # task moves, and the turn stays open until it gives the turn up.
            option = self._begin_turn(choice, ready)
            mover: Seat | None = option.perform()
            if mover is not None:
                return mover

    def _set_aside(self, choice: Choice | Cut) -> None:
        """Do what a Chooser has decided that is no index."""
        if isinstance(choice, Cut):
            self._finish(End("undecided", CUT_SHORT))
        else:
            self._asides.perform(choice, self._options)
            self._idle.set_aside(choice)

    def _attend(self, attendance: Attendance) -> Waiter | None:
        """Bring into the Run what real programs have done, and the time that has passed meanwhile;
        returns a Waiter while they are to move first."""
        pending = self._table.pending
        before_ms = pending.now_ms
        doorman = attendance.attend(self._standing)
        if pending.now_ms > before_ms:
            self._new_instant()
        return doorman

    def _new_instant(self) -> None:
        """Time has passed: work out after how many turns a limit may be reached."""
        budget = self._budget
        self._instant_began = began = self._turns_played
        self._asks_at = min(budget.turns_max, began + budget.instant_turns_max)
        if self._trace.sink is not None:  # what was written may reach a limit after each turn
            self._asks_at = 0

    def _standing(self) -> Standing:
        """Where the Run stands now, for what attends to real programs."""
        table, ready = self._table, self._options.show(self._budget.delay_max_ms)
        pending, judge = table.pending, self._judge
        is_stopped = table.failure is not None or table.stop is not None
        return Standing(
            self._trace.numbered,
            self._turns_played,
            pending.now_ms,
            pending.next_due_ms if len(pending) else None,
            is_stopped or bool(judge.violations and not self._ending.goes_on),
            self._ending.is_rest(ready),
            bool(pending.held),
            frozenset(
                option.actor
                for option in self._options.in_line()
                if option.kind in IN_FLIGHT and option.due_ms <= pending.now_ms
            ),
            self._chooser.acts_ms(pending.now_ms),
            self._budget.until_ms,
        )

    def _rest(self) -> int | None:
        """End the Run if nothing more is to happen.

        Returns the index of the fault that a Chooser lets strike at rest. None otherwise: then
        `_end` says whether the Run has ended, or the Chooser is asked as usual. While anything is
        held back then, no Option is left ready, so that the Chooser must release something.
        """
        options, ending = self._options, self._ending
        is_over = ending.is_rest(options.ready) or ending.is_out_of_time()
        # What is held must come back before the Run ends, and before it is later than it may be.
        if (overdue := ending.overdue()) or (is_over and self._table.pending.held):
            options.hide(overdue)
            return None
        strike = self._chooser.strike(options) if is_over else None
        if strike is None:
            end = ending.why(options.ready, self._turns_played, self._instant_turns)
            if end is not None:
                self._finish(end)
        return strike

    def _find_faults(self) -> list[Option]:
        """Every fault that could strike now; none where a limit lets no turn follow. A fault takes
        one of the turns that a Run may have, so that how far it goes does not depend on when."""
        has_room = self._ending.has_room(self._turns_played, self._instant_turns)
        pending = self._table.pending
        has_room &= pending.until_ms is None or pending.now_ms <= pending.until_ms
        return self._world.find_faults() if has_room else []

    @property
    def _instant_turns(self) -> int:
        """How many turns were played since time has passed."""
        return self._turns_played - self._instant_began

    def _begin_turn(self, choice: int, ready: int) -> Option:
        """Open the turn of the Option, or the fault, of that index: time moves to when it is due,
        and from now until the next turn, all that is touched is marked on its Step."""
        table, trace = self._table, self._trace
        pending = table.pending
        option = pending.take(choice) if 0 <= choice < ready else self._fault(choice, ready)
        now_ms, due_ms = pending.now_ms, option.due_ms
        self._idle.moved.add(option.actor)
        if option.kind in self._felt or (self._late and option in self._late):
            self._idle.feels(option)
        if self._happened is not None:
            self._happened.append(Happening(key_of(option), now_ms))
        if due_ms > now_ms:
            self._idle.time_passes(option)
            pending.now_ms = now_ms = due_ms
            self._new_instant()
        seat = option.seat
        if seat is not None and (seat.number != option.ticket or not seat.life.is_alive):
            raise HarnessBug(f"{option!r} was performed for a wait that is over")
        trace.choices.append(choice)
        trace.numbered = table.step = number = trace.numbered + 1
        self._turns_played += 1
        self._turn_is_open = True
        self._wire.served = None
        if self._keeps_steps:
            table.marks = self._store.marks = marks = Marks()
            table.turn = step = Step(number, option, choice, ready, marks, now_ms)
            trace.items.append(step)
        else:
            marks = table.marks
            marks.reads.clear()
            marks.writes.clear()
            marks.changes.clear()
        return option

    def _fault(self, choice: int, ready: int) -> Option:
        """The fault of that index."""
        options = self._options
        if not ready <= choice < len(options):
            raise HarnessBug(f"{self._title} chose option {choice} of {len(options)}")
        return options.faults[choice - ready]

    def _end_turn(self) -> None:
        """Close the Step: tell the Chooser, and let the invariants look."""
        self._turn_is_open = False
        table, streams = self._table, self._streams
        changes = table.marks.changes
        if changes:
            now = (table.step, table.pending.now_ms)
            for change in changes:
                streams.commits[change.revision] = now
        if self._wire.paused:
            self._wire.release_paused()
        step = table.turn
        if step is not None:
            table.turn = None
            if self._wants_steps:
                self._chooser.ended(step)
        if changes or streams.delivered or self._judge.has_cause():
            self._judge.turn_ended(step)
        if self._flushes:
            self._trace.flush()

    # -- the end --------------------------------------------------------------------------------

    def _finish(self, end: End) -> None:
        """End the Run: give the verdict, and close the trace. What still moves is torn down, and is
        no part of the trace."""
        self._end = end.why
        table, violations, attendance = self._table, self._judge.violations, self._attendance
        said = attendance.note if attendance else ""
        notes = (self._ending.idle_told, self._chooser.note, said, *self._judge.notes)
        table.marks = self._store.marks = Marks()
        struck = self._world.faults_struck
        outcome, nothing = judged(self._world, end.outcome, self._turns_played, struck)
        self.verdict = Verdict(
            "violated" if violations else outcome,
            end.why,
            tuple(violations),
            self._turns_played,
            table.now_ms,
            struck,
            self._title,
            " ".join(filter(None, notes)),
            tuple(sorted((*attendance.names, *attendance.guests))) if attendance else (),
            self._budget.until_ms if table.pending.never or attendance else None,
            nothing,
            who_waits(table),
        )
        last = {
            "end": end.why,
            "verdict": self.verdict.outcome,
            "violations": [str(violation) for violation in violations],
            "turns": self._turns_played,
        }
        self._trace.close(last)

    # The order of the teardown is stated: actors by name, their tasks by path, one at a time. Each
    # turns up in `dying`, and the loop comes back here until no life is left.
    def _is_torn_down(self) -> bool:
        """End every life that has not ended; returns whether none was left."""
        self._table.is_over = True
        for _, role in sorted(self._table.roles.items()):
            if role.life is not None:
                self._table.end_life(role.life)
        return not self._table.dying
