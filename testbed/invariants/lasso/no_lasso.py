"""No ping-pong: no two actors undo each other's work for ever (a lasso is a path into a loop)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import pairwise
from typing import ClassVar

import attrs

from testbed.code.quick import quick
from testbed.errors import ScenarioError
from testbed.invariant import COMMIT, Evidence, Invariant
from testbed.invariants.lasso.coarse import Abstracted, Abstraction, Multiset, Returning, says_more
from testbed.invariants.lasso.differing import difference, writers_of
from testbed.invariants.lasso.lap import (
    AGAIN,
    NO_LASSO,
    Write,
    about_lap,
    duration,
    ending,
    listed,
    sentences,
)
from testbed.invariants.lasso.lasting import Lasting
from testbed.invariants.lasso.likeness import Unlike
from testbed.invariants.lasso.moment import (
    EVENTS,
    Moment,
    moment,
    outline,
    ready,
    starved,
    tells_time,
)
from testbed.invariants.lasso.renaming import Renaming
from testbed.invariants.lasso.written import digest_of
from testbed.objects.meta import Object
from testbed.store.change import plural_of
from testbed.store.footprint import LOG
from testbed.turns.found import LAP, Found, Wrong
from testbed.turns.option import Option
from testbed.turns.trace import Step
from testbed.words import counted

SEEN_MAX = 10_000
"""The most states, and the most writes, that are remembered."""
LOOKS_MAX = 1_000
"""How often one Run is looked at closely, at most."""
GOES_ON_AT = 200
"""How many turns there are before a Run is gone on with in another World."""
RETURNS_MIN = 40
"""How often something must come back to what it was, before that is done."""
RETURNS_AT_END = 3
"""How often, by the end of a Run that is judged up to a time: twice there and back."""
TRIES_MAX = 2
"""How often one lap is played again without success: what is held when it begins may settle."""
FULL_MAX = 8
"""Of how many Moments all that is written is kept."""


@quick
@attrs.frozen
class Visit:
    """One moment at which the World was in a given state."""

    happened: int
    """How many turns, faults and picks there had been."""
    step: int
    now_ms: int
    writes: int
    """How many commits there had been."""
    ready: list[Option]
    """What could happen at that moment."""


class NoLasso(Invariant):
    """No state comes back for ever with writes between.

    1. At each commit the coarse state is noted: the multiset of what all objects say, without
       their names. A state that comes back is a suspicion.
    2. From then on the whole Moment is compared whenever that state comes back. If it is equal, and
       in between no actor read its clock and nothing ready was left waiting, the choices in between
       are a lap.
    3. The lap is played again from there, three times: here, if the Chooser goes on like that, or
       in another World of the same scenario. If it leads to the same Moment by the same writes each
       time, it can go on for ever: that is the Violation.
    """

    name = NO_LASSO
    ends_run: ClassVar[bool] = True
    follows: ClassVar[bool] = True
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(
        self,
        abstraction: Abstraction | None,
        named_anew: tuple[str, ...],
        reads: tuple[str, ...] | None = None,
    ) -> None:
        self.reads = None if reads is None else frozenset(reads)
        self._coarse = Abstracted(abstraction, self) if abstraction else Multiset(self.minds)
        self.named_anew = named_anew
        """The kinds with objects that get a new name in each lap."""
        self._names = Renaming(named_anew)
        self._lasting = Lasting(with_messages=False)
        self._states: dict[str, Moment | None] = {}
        """Each coarse state, latest last, and the Moment when it was last looked at closely."""
        self._visits: dict[tuple[int, str], list[Visit]] = {}
        self._tried: dict[str, int] = {}
        self._writes: deque[Write] = deque(maxlen=SEEN_MAX)
        self._written = 0
        self._full: deque[tuple[str, Moment]] = deque()
        """The last Moments, of which the texts are kept to tell what differs."""
        self._looks = 0
        self._lap_begins: tuple[str, object] | None = None
        """The coarse state and the outline of the moment at which the lap is known to begin."""
        self._returning = Returning()
        self._goes_on_at = GOES_ON_AT
        """From which turn on it plays on, in another World, what has happened."""
        self._why_it_ends = ""
        """Why the last of these Worlds proved nothing."""
        self._doubt = ""
        self._is_hushed = False
        """Whether something has changed only in a sentence for people."""
        self._differing: tuple[Moment, Moment] | None = None
        """The two Moments that were last found to differ, if that is the doubt."""

    @property
    def suspicion(self) -> str:
        doubt = self._doubt
        if self._differing is not None:
            writes = ((each.who, each.change.key, each.fields) for each in self._writes)
            said = difference(*self._differing, writers_of(writes), self.named_anew)
            doubt = f"each time round, this differs: {said}"
        if doubt and self._why_it_ends:
            doubt += f"; gone on from turn {self._goes_on_at // 2:,}, {self._why_it_ends}"
        return f"suspected: a ping-pong, not proved: {doubt}" if doubt else ""

    def minds(self, key: str) -> bool:
        """Whether it looks at that object."""
        if key.startswith(EVENTS) or self.reads is None or LOG in self.reads:
            return not key.startswith(EVENTS)
        log = f"{LOG}{plural_of(key)}"
        return any(each in (key, log) or each.startswith(f"{log}.") for each in self.reads)

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        request = evidence.wire.served
        who = "somebody" if request is None else request.role.name
        changes = [change for change in evidence.changes if self.minds(change.key)]
        if not all(map(says_more, changes)):
            changes, self._is_hushed = [each for each in changes if says_more(each)], True
        if not changes:
            return None
        for change in changes:
            if change.new is not None and isinstance(change.new.value, Object):
                self._names.learn(change.new.value, is_new=change.old is None)
            self._writes.append(write := Write(who, change, evidence.now_ms))
            self._written += 1
            is_soon = evidence.table.pending.until_ms is not None or self._written >= RETURNS_MIN
            if is_soon and evidence.go_on is not None:
                self._returning.note(write, self._names.unnamed_key(change.key))
        said = self._look_at_state(evidence)
        if said is None and self._returning.times >= RETURNS_MIN:
            said = self._gone_on(evidence)
        return said

    def at_instant_limit(self, evidence: Evidence) -> Wrong:
        return self._gone_on(evidence)

    # A Run that ends by itself does not go round. One that is judged up to a time may have made few
    # laps by then, and whoever says a shorter time would see fewer loops.
    def end(self, evidence: Evidence) -> Wrong:
        if evidence.table.pending.never and self._returning.times >= RETURNS_AT_END:
            self._goes_on_at = 0
            return self._gone_on(evidence)
        return None

    def _gone_on(self, evidence: Evidence) -> Wrong:
        """The Violation, if all goes round for ever in a World that goes on calmly from here."""
        step = evidence.table.step
        if evidence.go_on is None or step < self._goes_on_at:
            return None
        # Each time when the Run is twice as long: so all of them cost no more than the Run does.
        self._goes_on_at = 2 * step
        said, self._why_it_ends = evidence.go_on(evidence.happened or [])
        return self._here(said, evidence)

    def _here(self, found: Wrong, evidence: Evidence) -> Wrong:
        """What another World has found, about objects of this one. A lap that goes on there may
        have others by then, under names that were drawn."""
        if not isinstance(found, Found) or found.about is None:
            return found
        about, written = found.about, [(w.who, w.change.key) for w in reversed(self._writes)]
        known = {key for _, key in written}
        keys = {key: None for key in about.keys if key in known}
        for key in (key for key in about.keys if key not in known):
            alike = (
                other for who, other in written
                if who in about.actors and plural_of(other) == plural_of(key) and other not in keys
            )  # fmt: skip
            keys.update(dict.fromkeys([*alike][:1]))
        is_here = found.since is not None and found.since <= evidence.store.revision
        since = found.since if is_here else None
        return attrs.evolve(found, about=attrs.evolve(about, keys=keys), since=since)

    def _look_at_state(self, evidence: Evidence) -> Wrong:
        # In the World that only plays a suspected lap again, the lap begins at a known choice. The
        # moment there is the only one that can prove it, so none is looked at that has another
        # coarse state or another outline.
        if evidence.laps_from and len(evidence.choices) < evidence.laps_from:
            return None
        state = self._coarse.state(evidence)
        if evidence.laps_from:
            if self._lap_begins is None:
                self._lap_begins = (state, outline(evidence))
            elif state != self._lap_begins[0] or outline(evidence) != self._lap_begins[1]:
                return None
        # A coarse state costs little, a Moment much: so the first visit of a state is only noted,
        # and only its second and later ones are looked at closely. Where a lap is known to begin,
        # the first is its second.
        if state not in self._states and not evidence.laps_from:
            self._states[state] = None
            if len(self._states) > SEEN_MAX:
                del self._states[next(iter(self._states))]
            return None
        self._states[state] = before = self._states.pop(state, None)
        self._looks += 1
        if self._looks > LOOKS_MAX:
            self._doubt_that(f"looked {LOOKS_MAX:,} times, and no two moments were the same")
            return None
        return self._look_closely(state, before, evidence)

    def _look_closely(self, state: str, before: Moment | None, evidence: Evidence) -> Wrong:
        try:
            now = moment(evidence, self._names, self._lasting, names_matter=not self.named_anew)
        except Unlike as why:
            self._doubt_that(f"what is in {why}")
            return None
        self._states[state] = now
        self._full.append((state, now))
        if len(self._full) > FULL_MAX:
            old, full = self._full.popleft()
            if self._states.get(old) is full:
                self._states[old] = full.without_texts()
        here = Visit(
            len(evidence.happened or ()), evidence.table.step, evidence.now_ms, self._written,
            ready(evidence),
        )  # fmt: skip
        visits = self._visits.setdefault((evidence.table.faults, now.digest), [])
        visits.append(here)
        if len(visits) == 1:
            if before is not None:
                self._differing = (now, before)
            return None
        self._doubt_that(self._why_not(visits[-2], evidence))
        return None if self._doubt else self._played_on(visits, evidence)

    def _doubt_that(self, why: str) -> None:
        self._doubt, self._differing = why, None

    def _why_not(self, start: Visit, evidence: Evidence) -> str:
        """Why the Run may not go on like this for ever; empty if nothing speaks against it."""
        # Equal Moments alone prove nothing. If something was ready all through the lap, a fair
        # World lets it move some time, and it may end the loop. If an actor reads its clock, the
        # next lap shows it another time, unless its digest has all times as distances from now.
        waiting = starved(start.ready, evidence)
        if waiting:
            return f"the lap never lets {waiting[0]} have its turn"
        clocks = [
            role.name
            for role in evidence.actors
            if role.life is not None
            and role.is_up
            and role.life.saw_time_at > start.step
            and not tells_time(role.life)
        ]
        if clocks and evidence.now_ms > start.now_ms:
            return f"{clocks[0]} looks at a clock, which never shows the same again"
        if self._written - start.writes > SEEN_MAX:
            return f"a lap has more than {SEEN_MAX:,} writes"
        return ""

    def _played_on(self, visits: list[Visit], evidence: Evidence) -> Wrong:
        """The Violation, if the lap was played again often enough, in this World or in another."""
        play_lap, is_seen_again = evidence.play_lap, len(visits) > AGAIN + 1
        lap = self._lap(visits[-2], visits[-1]) if is_seen_again or play_lap else []
        if is_seen_again:
            ends = visits[-AGAIN - 2 :]
            if all(self._lap(a, b) == lap for a, b in pairwise(ends)):
                return self._message(lap, visits[-2], visits[-1])
        found: Wrong = None
        start, end = visits[-2].happened, visits[-1].happened
        happened = (evidence.happened or [])[:end]
        # By what has happened, and not by choices: of two Runs with the same turns, one may have
        # held back what the other has passed over, and both must find the same.
        unnamed = self._names.unnamed
        turns = [
            [unnamed(said) if isinstance(said, str) else said for said in each.again]
            for each in happened[start:]
        ]
        key = digest_of(repr((lap, turns)).encode())
        if play_lap is not None and self._tried.get(key, 0) < TRIES_MAX:
            self._tried[key] = self._tried.get(key, 0) + 1
            found = self._here(play_lap(happened, start), evidence)
        self._doubt_that(f"played again from turn {end}, it did not come back")
        return found

    def _lap(self, start: Visit, end: Visit) -> list[str]:
        """The writes between two visits, as sentences."""
        return sentences(self._between(start, end), self._names)

    def _between(self, start: Visit, end: Visit) -> list[Write]:
        """The writes between two visits; none if they are not all kept."""
        first = start.writes - (self._written - len(self._writes))
        if first < 0:
            return []
        return list(self._writes)[first : len(self._writes) - (self._written - end.writes)]

    def _message(self, lap: list[str], start: Visit, end: Visit) -> Found:
        writes = self._between(start, end)
        text = (
            f"for ever, a lap of {counted(len(lap), 'write')} in "
            f"{duration(end.now_ms - start.now_ms)}, played {AGAIN} more times to the same state: "
            f"{listed(lap)}; and again. Everyone who could move did in each lap. "
            f"{ending(self._is_hushed, self.named_anew)}"
        )
        return Found(text, about_lap(writes), LAP, writes[0].change.revision if writes else None)


def no_lasso(
    *,
    abstraction: Abstraction | None = None,
    named_anew: Iterable[str] = (),
    reads: tuple[str, ...] | None = None,
) -> NoLasso:
    """No two actors undo each other's work for ever.

    `abstraction` says the state coarsely, in plain data, if comparing all that the objects say is
    too fine to suspect anything. `named_anew` has the kinds (`pods`) with objects that get a new
    name in each lap, if no actor decides by such a name or by the order of them. `reads` has what
    is written over and over (`("log:pods",)`): writes of other kinds make no lap then, and a
    complete search need not keep the order of anything else for it.
    """
    if reads is not None and not any(each.startswith(LOG) or "/" in each for each in reads):
        raise ScenarioError(
            f"no_lasso(reads={reads!r}): expected at least one kind or key; it would look at "
            'nothing.\nNext: say reads=("log:pods",), or leave it out to look at all.'
        )
    return NoLasso(abstraction, tuple(named_anew), reads)
