"""Idle: finds that a Run only goes round: all look again and again, and nothing changes any more.

A controller that polls never stops. Yet a Run in which nothing can change is over. It is found for
each actor by itself, at the moments at which time is about to pass:

1. A commit, a fault, the end of a life: all that is known is forgotten. Events do not count, as
   they are for people (API-49). A record counts if some claim reads what actors record.
2. An actor with nothing in flight, only with timers, is *visited*. Its timers, each by how far it
   is from now, say at which point of its round it is; at a point where it was before, all that it
   holds is written down, with what the Endpoints hold.
3. The same again, and it has read no clock and picked nothing since: it is *settled*. While nothing
   is written, it depends on itself and on a Store that stays the same. So it goes round for ever.
4. All that have a timer are settled, and nothing is in flight: the Run is idle. Two actors with
   periods of 3 and 7 seconds need no common multiple for that.

What reaches an actor late, since it was held back or lags, is a change: it is no part of any round.
So are Events where somebody asks for Events. An Endpoint of a user's own, or a claim of one, that
holds something else each time though nothing is written keeps the Run awake.

A claim that reads the time at each turn may still be breached, so nothing is idle before it stops.
A timer of long ago that an actor does not wait for again keeps the Run awake until it goes off. A
*background* timer (`client.sleep(…, idle=True)`) does not: the actor says that nothing is lost if
the Run ends without it. Up to the time at which a Run is to be judged, it goes off like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NoReturn

from testbed.invariant import Evidence, Invariant
from testbed.invariants.lasso.differing import difference
from testbed.invariants.lasso.lasting import Lasting
from testbed.invariants.lasso.likeness import Unlike
from testbed.invariants.lasso.moment import Moment, moment_of, tells_time, uncounted
from testbed.invariants.lasso.outside import ClaimLooks, Endpoints, answers_by_time
from testbed.invariants.lasso.renaming import Renaming
from testbed.objects.event import Event
from testbed.store.change import plural_of
from testbed.store.store_endpoint import READS
from testbed.turns.option import FAULT, FEED, SERVE, Choice, HoldBack, Option
from testbed.turns.pending import is_timer
from testbed.turns.table import Table
from testbed.words import names_of

FELT = frozenset({FAULT, FEED})
"""The kinds of turns that may change something though nothing is written in them."""
CALM_MIN = 2
"""How often time must have passed without a change before anybody is visited."""
SELDOM, OFTEN = 2, 8
"""After which and up to which visit at one point it is looked at closely, which takes as long as
some turns; later only at powers of two, and the next ones, so that a round that never comes back
costs little."""


class _Round:
    """What is known of one actor since the last change."""

    __slots__ = ("differs", "is_settled", "lap_ms", "last", "points", "why")

    def __init__(self) -> None:
        self.points: dict[object, _Point] = {}
        self.is_settled = False
        self.lap_ms = 0
        """How long its round takes, once it is settled."""
        self.why = ""
        """Why it is not settled, as far as it was looked at."""
        self.last: tuple[object, Moment] | None = None
        """Where it was looked at closely last, and in which state."""
        self.differs: tuple[Moment, Moment] | None = None
        """The last two states, if they are of one point and differ."""

    @property
    def said(self) -> str:
        """Why it is not settled, and what differs."""
        differs = self.differs
        return f"{self.why}: {difference(*differs, {})}" if differs else self.why


class _Point:
    """One point of a round: how often it was visited, and in which states, each with the Step and
    the time of the last visit."""

    __slots__ = ("states", "step", "visits")

    def __init__(self, step: int) -> None:
        self.visits = 1
        self.step = step
        self.states: dict[str, tuple[int, int]] = {}


class Idle:
    """Watches one Run, and says whether it only goes round."""

    def __init__(self, table: Table, evidence: Evidence, claims: Sequence[Invariant] = ()) -> None:
        self._table = table
        self._evidence = evidence
        self._claimed = claims
        self.moved: set[str] = set()
        """Who has moved since it was visited last; whoever performs a turn adds its actor."""
        self.late: set[Option] = set()
        """What was ready when time has passed since the last change, and stayed behind."""
        self._rounds: dict[str, _Round] = {}
        self._picked: dict[str, int] = {}
        """The Step in which each actor has last picked."""
        self._asked: dict[str, int] = {}
        """The Step in which each actor was last told something that may depend on the time."""
        self._log = evidence.store._log_of(None)
        self._read_to = self._log.end
        """Up to which place of the Store's log it has read."""
        self._records = self._deaths = 0
        self._records_then = 0
        """How many records there were at the last change."""
        self._calm = 0
        """How often time has passed since the last change."""
        self._since_ms = 0
        self._time_at, self._read_ms = -1, -1
        """The Step at which a claim has last read the time, and when that was found."""

    @cached_property
    def _names(self) -> Renaming:
        return Renaming()

    @cached_property
    def _lasting(self) -> tuple[Lasting, Lasting]:
        """What is kept from one look to the next: of who reads no clock, and of who does. To that
        one, a time in what never changes is another one in each look."""
        return Lasting(), Lasting()

    @cached_property
    def _endpoints(self) -> Endpoints:
        return Endpoints(self._evidence)

    @cached_property
    def _claims(self) -> ClaimLooks:
        return ClaimLooks(self._evidence, self._claimed)

    # Who can reach the World from what it holds, by a closure, can be compared with nothing.
    def __reduce_ex__(self, _: object) -> NoReturn:
        raise TypeError("it knows what all others hold")

    # -- what happens ---------------------------------------------------------------------------

    # What happens in a turn is seen when time passes, in the Store's log and the lists of the
    # Table, but for these: nothing else of them is left by then.
    def felt(self) -> frozenset[str]:
        """The kinds of turns of which it is to be told, beside those of what is late."""
        kinds: list[Any] = [type(post.endpoint) for post in self._evidence.wire.posts.values()]
        by_time = any(map(answers_by_time, kinds))
        return FELT | {SERVE} if by_time else FELT

    def feels(self, option: Option) -> None:
        """Called with what is performed, if it is late or of a kind that is felt."""
        kind = option.kind
        if kind == SERVE:
            endpoint: Any = type(option.source.post.endpoint)
            if answers_by_time(endpoint):
                self._asked[option.actor] = self._table.step + 1
        if (
            kind == FAULT
            or (kind == FEED and (option.key != Event.plural or self._are_events_asked))
            or option in self.late
        ):
            self._changed()

    def set_aside(self, choice: Choice) -> None:
        """Called after what is no turn. What is held back for some time moves its actor's round."""
        if isinstance(choice, HoldBack) and choice.for_ms is not None:
            self._changed()

    def picks(self, name: str) -> None:
        """Called when that actor has picked among several."""
        self._picked[name] = self._table.step

    @property
    def _are_events_asked(self) -> bool:
        """Whether anybody has asked for Events by now."""
        wire = self._evidence.wire
        if wire.counts.has_read(Event.plural):
            return True
        # Of a read that is half served the answer is still to come.
        requests = [request for post in wire.posts.values() for request in post.requests]
        half = [each.operation for each in requests if each.is_half_served]
        return any(asked.plural == Event.plural and asked.verb in READS for asked in half)

    def _changed(self) -> None:
        if self._calm >= CALM_MIN:  # nobody has been visited before
            self._rounds.clear()
            self.late.clear()
            self._endpoints.forget()
            self._claims.forget()
        self._calm = 0
        self._records_then = len(self._table.records)
        self._since_ms = self._table.now_ms

    # Time passes at the same moments, in the same state, in each Run with the same turns, however
    # it was chosen: what one has held back, another has passed over. So actors are visited then.
    def time_passes(self, by: Option) -> None:
        """Called when time is about to pass, with what is performed then."""
        self._take_note()
        self._calm += 1
        if self._calm < CALM_MIN:
            return
        self._endpoints.look()
        self._claims.look()
        self._stay_behind()
        timers, busy = self._waiting(by)
        visited = self.moved - busy
        self.moved &= busy
        for name in sorted(visited):
            if name in timers:
                self._visit(name, timers[name])

    def _stay_behind(self) -> None:
        """Note what is ready and not performed now, though time passes."""
        pending = self._table.pending
        now_ms = pending.now_ms
        self.late.update(option for option in pending.held if option.due_ms <= now_ms)
        for option in pending:
            if option.due_ms > now_ms:
                break
            self.late.add(option)

    def _take_note(self) -> None:
        """Forget what is known if something was written, somebody has died, or something was
        recorded that a claim reads."""
        table, log = self._table, self._log
        records, deaths, end = len(table.records), len(table.deaths), log.end
        is_told = records > self._records and self._evidence.reads.records_at >= 0
        if is_told or deaths > self._deaths or (end > self._read_to and self._is_written()):
            self._changed()
        self._records, self._deaths, self._read_to = records, deaths, end

    def _is_written(self) -> bool:
        """Whether anything was written since the last look that somebody goes by."""
        log = self._log
        kinds = [plural_of(c.key) for c in log.changes[max(self._read_to - log.first, 0) :]]
        return any(kind != Event.plural for kind in kinds) or self._are_events_asked

    # -- whether it only goes round --------------------------------------------------------------

    def is_reached(self) -> bool:
        """Whether nothing can change any more; asked when no turn is open."""
        pending = self._table.pending
        if not len(pending) or pending.next_due_ms <= pending.now_ms:
            return False
        self._take_note()
        names: set[str] = set()
        for option in self._in_line():
            if not is_timer(option):
                return False
            if not option.is_idle or pending.until_ms is not None:
                names.add(option.actor)
        if names and self._claims_read_time(pending.now_ms):
            return False
        rounds = self._rounds
        for name in names:
            if name not in rounds or not rounds[name].is_settled:
                return False
        if self._claims.varies or (len(names) > 1 and self._endpoints.varies):
            return False
        return not names or not self._claims.goes_by_what_grows(self._records_then)

    def _in_line(self) -> Iterable[Option]:
        """What is pending, and what is held back and not due yet. That has its place as if it were
        not: another Chooser passes it over in the same Run."""
        pending = self._table.pending
        if not pending.held:
            return pending
        early = [option for option in pending.held if option.due_ms > pending.now_ms]
        return [*pending, *early]

    def _waiting(self, by: Option | None = None) -> tuple[dict[str, list[Option]], set[str]]:
        """The timers of each actor that has any, and who has something in flight."""
        has_end = self._table.pending.until_ms is not None
        timers: dict[str, list[Option]] = {}
        busy: set[str] = set()
        for option in [*self._in_line(), *([] if by is None else [by])]:
            if not is_timer(option):
                busy.add(option.actor)
            elif not option.is_idle or has_end:
                timers.setdefault(option.actor, []).append(option)
        return timers, busy

    def _claims_read_time(self, now_ms: int) -> bool:
        """Whether a claim has read the time in the last round of some actor."""
        if self._evidence.reads.time_at > self._time_at:
            self._time_at, self._read_ms = self._evidence.reads.time_at, now_ms
        laps = [each.lap_ms for each in self._rounds.values()]
        return now_ms - self._read_ms < max(laps, default=0)

    def _visit(self, name: str, timers: Sequence[Option]) -> None:
        """Note at which point of its round an actor is, and whether it was there before."""
        one = self._rounds.setdefault(name, _Round())
        if one.is_settled:
            return
        now_ms, step = self._table.now_ms, self._table.step
        key = tuple(sorted([(uncounted(o.path), o.verb, o.due_ms - now_ms) for o in timers]))
        point = one.points.get(key)
        if point is None:
            one.points[key] = _Point(step)
            return
        point.visits += 1
        nth = point.visits
        if nth <= SELDOM or (nth > OFTEN and nth & (nth - 1) and (nth - 1) & (nth - 2)):
            return
        try:
            reads_clock = self._reads_clock(name, point.step)
            kept = self._names, self._lasting[reads_clock]
            now = moment_of(self._evidence, name, timers, *kept, reads_clock=reads_clock)
        except Unlike as why:
            one.why = f"holds what cannot be compared: {why}"
            return
        point.step = step
        last, one.last, one.differs = one.last, (key, now), None
        before = point.states.get(now.digest)
        point.states[now.digest] = (step, now_ms)
        if before is None:
            one.why = "holds something else each time"
            one.differs = (now, last[1]) if last is not None and last[0] == key else None
        elif self._picked.get(name, -1) > before[0]:
            one.why = "picks"
        elif self._reads_clock(name, before[0]) and not self._tells_time(name):
            one.why = "looks at a clock"
        else:
            one.is_settled = True
            one.lap_ms = now_ms - before[1]

    def _reads_clock(self, name: str, since: int) -> bool:
        """Whether it has read a clock since that Step."""
        role = self._table.roles.get(name)
        if self._asked.get(name, -1) > since:
            return True
        return role is not None and role.life is not None and role.life.saw_time_at > since

    def _tells_time(self, name: str) -> bool:
        """Whether it digests itself: then its digest says how far from now all its times are."""
        role = self._table.roles.get(name)
        return role is not None and role.life is not None and tells_time(role.life)

    # -- in words -------------------------------------------------------------------------------

    @property
    def told(self) -> str:
        """From when on the Run is idle, and who goes round; empty if nobody does."""
        names = sorted(self._waiting()[0])
        if not names:
            return ""
        rounds = [f"{name} looks every {self._rounds[name].lap_ms:,} ms" for name in names]
        return f"Idle from {self._since_ms:,} ms on: {names_of(rounds)}, and nothing changes."

    @property
    def awake(self) -> str:
        """Who keeps the Run awake though nothing changes, and how; empty if that is not known."""
        self._take_note()
        timers = self._waiting()[0]
        return names_of([
            f"{name} {one.said}" for name, one in sorted(self._rounds.items())
            if name in timers and one.why and not one.is_settled
        ])  # fmt: skip
