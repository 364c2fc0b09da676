"""Ending: decides whether a Run ends, and why: at rest, by a breach, at a limit, or on request."""

from __future__ import annotations

import attrs

from testbed.code.quick import quick
from testbed.errors import Overrun
from testbed.invariant import Evidence, Invariant
from testbed.invariants.lasso.idle import Idle
from testbed.turns.life import StuckTask
from testbed.turns.option import Option
from testbed.turns.table import Table
from testbed.turns.trace import Trace
from testbed.world.budget import UNBOUNDED, Budget
from testbed.world.judge import Judge

UP_TO = (
    "To judge it up to a time, say world.limit(until_ms=45_000) or --limit until_ms=45s "
    '(docs/testing.md, "Programs that never rest")'
)


@quick
@attrs.frozen
class End:
    """How a Run has ended."""

    outcome: str
    """held, violated or undecided."""
    why: str
    """quiet, stuck, violated, or the limit that was reached."""


# Rest is when no Option is left, or the Run is idle. Only at rest can it be said that something
# will never happen: that a task is stuck, or that an `eventually` is violated. So at rest the
# verdict is held or violated; at a limit it is undecided, unless a claim was breached.
class Ending:
    """Decides, between two turns, whether the Run ends there."""

    def __init__(
        self,
        table: Table,
        judge: Judge,
        evidence: Evidence,
        trace: Trace,
        budget: Budget,
        *,
        goes_on: bool,
    ) -> None:
        self._table = table
        self._judge = judge
        self._evidence = evidence
        self._trace = trace
        self._budget = budget
        self.idle = Idle(table, evidence, judge.claimed(Invariant))
        """What finds that the Run only goes round."""
        self.is_idle = False
        """Whether the Run only goes round, as far as that was asked at this moment."""
        self.goes_on = goes_on
        """Whether the Run goes on after a Violation."""

    @property
    def _is_breached(self) -> bool:
        """Return whether a breach ends the Run. A lap that is proved ends it for all, since it
        would only go on like that."""
        judge = self._judge
        return bool(judge.violations) and (not self.goes_on or judge.is_for_ever)

    def is_rest(self, ready: int) -> bool:
        """Return whether the Run is at rest: nothing can move, or nothing can change any more."""
        self.is_idle = False
        if self._table.failure is not None or self._table.stop is not None:
            return False
        if self._is_breached:
            return False
        # A World of which others are the end has none of its own.
        is_ours = self._budget is not UNBOUNDED
        self.is_idle = bool(ready) and is_ours and self.idle.is_reached()
        return not ready or self.is_idle

    def is_out_of_time(self) -> bool:
        """Return whether the Run ends only since what comes next is due after all virtual time. A
        fault may strike first: whether it could do so sooner depends on which actor moves last."""
        is_stopped = self._table.failure is not None or self._table.stop is not None
        if is_stopped or self._is_breached:
            return False
        return self._table.pending.next_due_ms > self._budget.virtual_ms_max

    def overdue(self) -> list[Option]:
        """Return what is held back and may not be held any longer, though the Run goes on."""
        pending, lateness_ms = self._table.pending, self._budget.lateness_ms
        if lateness_ms is None or not pending.held or self._table.failure is not None:
            return []
        return pending.overdue(lateness_ms)

    @property
    def idle_told(self) -> str:
        """From when on the Run was idle; empty if it was not."""
        return self.idle.told if self.is_idle else ""

    def has_room(self, turns: int, instant_turns: int) -> bool:
        """Return whether one more turn may be played before time passes."""
        budget = self._budget
        return turns < budget.turns_max and instant_turns < budget.instant_turns_max

    def why(self, ready: int, turns: int, instant_turns: int) -> End | None:
        """The end of the Run, or None if it goes on. It is given how many Options are ready, how
        many turns were played, and how many of them since time has passed."""
        table, budget = self._table, self._budget
        if not ready or table.failure is not None or table.stop is not None:
            return self._now(turns)
        if self._is_breached:
            return End("violated", "violated")
        if self.is_idle:
            return self._at_rest()
        due_ms = table.pending.next_due_ms
        if (
            self.has_room(turns, instant_turns)
            and due_ms <= budget.virtual_ms_max
            and self._trace.bytes_written <= budget.trace_bytes_max
        ):
            return None
        limit = self._limit(turns, instant_turns, due_ms)
        is_instant = limit.startswith("instant_turns_max")
        if is_instant and self._judge.come_to_instant_limit():
            return End("violated", "violated")
        said = f"{limit}{self._judge.suspicions()}"
        return End("undecided", f"{said}{self._up_to()}") if limit else None

    def _now(self, turns: int) -> End:
        """The end of a Run that must end now: by an error, by a request from outside, by a breach
        with nothing left to do, or at rest."""
        if self._table.failure is not None:
            return End("undecided", f"ended by {type(self._table.failure).__name__}")
        if self._table.stop is not None:
            return self._stopped(self._table.stop, turns)
        if self._is_breached:
            return End("violated", "violated")
        return self._at_rest()

    def _limit(self, turns: int, instant_turns: int, due_ms: int) -> str:
        budget = self._budget
        if turns >= budget.turns_max:
            names = self._would_go_on()
            on = f"; {names} would go on" if names else ""
            return f"turns_max: {budget.turns_max:,} turns were played{on}"
        if instant_turns >= budget.instant_turns_max and due_ms <= self._table.now_ms:
            return self._lasso()
        if due_ms > budget.virtual_ms_max:
            return f"virtual_ms_max: of {budget.virtual_ms_max:,} ms; next would be {due_ms:,} ms"
        if self._trace.bytes_written > budget.trace_bytes_max:
            return f"trace_bytes_max: {budget.trace_bytes_max:,} bytes were written"
        return ""

    def _up_to(self) -> str:
        """Return how a Run that never rests is judged all the same, and who keeps it awake; empty
        if no time passes in it."""
        if self._budget.until_ms is not None or not self._table.now_ms:
            return ""
        awake = self.idle.awake
        return f"{'; ' if awake else ''}{awake}. {UP_TO}"

    def _stopped(self, why: BaseException, turns: int) -> End:
        if isinstance(why, Overrun):
            return End("undecided", str(why))
        self._table.fail(why)
        return End("undecided", f"interrupted after turn {turns}")

    def _at_rest(self) -> End:
        """The end at rest: stuck if some task waits for what can never come, else quiet."""
        lives = [
            [*role.life.seats.values()]
            for _, role in sorted(self._table.roles.items())
            if role.life is not None and role.is_up
        ]
        waiting = [seat for seats in lives for seat in seats]
        # A signal, a queue or a task of its own comes from another task of the same actor. One that
        # has a timer left may yet send it.
        still = (seats for seats in lives if not any(seat.offered for seat in seats))
        if any(not seat.is_idle for seats in still for seat in seats):
            self._evidence.waiting = tuple(StuckTask(s.path, str(s.waits_for)) for s in waiting)
        self._judge.come_to_rest()
        why = "stuck" if self._evidence.waiting else "quiet"
        return End("violated" if self._judge.violations else "held", why)

    def _lasso(self) -> str:
        return (
            f"instant_turns_max: {self._budget.instant_turns_max:,} turns without time passing: "
            f"{self._would_go_on() or 'nobody'} in a lasso, each move making the next"
        )

    def _would_go_on(self) -> str:
        """The actors for whom something is pending, held back or not; empty if there are none."""
        pending = self._table.pending
        return " and ".join(sorted({each.actor for each in (*pending, *pending.held)} - {""}))
