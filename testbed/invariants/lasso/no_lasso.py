"""No ping-pong: no two actors undo each other's work for ever (a lasso is a path into a loop)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import attrs

from testbed.code.quick import quick
from testbed.errors import ScenarioError
from testbed.invariant import COMMIT, Evidence, Invariant
from testbed.invariants.lasso.lasting import Lasting
from testbed.invariants.lasso.likeness import Likeness, Unlike
from testbed.invariants.lasso.moment import (
    EVENTS,
    Moment,
    difference,
    moment,
    outline,
    ready,
    starved,
    tells_time,
)
from testbed.invariants.lasso.renaming import Renaming
from testbed.invariants.lasso.shown import shown
from testbed.invariants.lasso.written import digest_of
from testbed.objects.codec import encode
from testbed.objects.meta import Object, changed_fields, field_of
from testbed.store.change import Change, plural_of
from testbed.store.footprint import LOG
from testbed.turns.option import Option
from testbed.turns.trace import Step
from testbed.words import counted

AGAIN = 3
"""How often the same lap must be seen again before it is a proof."""
SEEN_MAX = 10_000
"""The most states, and the most writes, that are remembered."""
LOOKS_MAX = 1_000
"""How often one Run is looked at closely, at most."""
TRIES_MAX = 2
"""How often one lap is played again without success: what is held when it begins may settle."""
FULL_MAX = 8
"""Of how many Moments all that is written is kept."""
SHOWN_MAX = 6
"""The most writes of a lap that are listed one by one."""
WORD = 1 << 64

Abstraction = Callable[[Evidence], object]
"""Says the state as coarsely as a person would, in plain data."""


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


@quick
@attrs.frozen
class Write:
    """One write that changed something, and the actor that wrote it."""

    who: str
    change: Change
    now_ms: int

    @cached_property
    def fields(self) -> list[str]:
        """What it changed of an object that was there before and after."""
        old, new = self.change.old, self.change.new
        return list(changed_fields(old.value, new.value)) if old and new else []


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

    name = "no_lasso"
    follows: ClassVar[bool] = True
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(
        self,
        abstraction: Abstraction | None,
        named_anew: tuple[str, ...],
        reads: tuple[str, ...] | None = None,
    ) -> None:
        self.reads = None if reads is None else frozenset(reads)
        self._coarse = _Multiset(self) if abstraction is None else _Abstracted(abstraction, self)
        self._named_anew = named_anew
        self._names = Renaming(named_anew)
        self._lasting = Lasting()
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
        self._doubt = ""
        self._differing: tuple[Moment, Moment] | None = None
        """The two Moments that were last found to differ, if that is the doubt."""

    @property
    def suspicion(self) -> str:
        doubt = self._doubt
        if self._differing is not None:
            doubt = f"each time round, this differs: {difference(*self._differing)}"
        return f"suspected: a ping-pong, not proved: {doubt}" if doubt else ""

    def minds(self, key: str) -> bool:
        """Whether it looks at that object."""
        if key.startswith(EVENTS) or self.reads is None or LOG in self.reads:
            return not key.startswith(EVENTS)
        log = f"{LOG}{plural_of(key)}"
        return any(each in (key, log) or each.startswith(f"{log}.") for each in self.reads)

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        request = evidence.wire.served
        who = "somebody" if request is None else request.role.name
        changes = [change for change in evidence.changes if self.minds(change.key)]
        if not changes:
            return None
        for change in changes:
            if change.new is not None and isinstance(change.new.value, Object):
                self._names.learn(change.new.value, is_new=change.old is None)
            self._writes.append(Write(who, change, evidence.now_ms))
            self._written += 1
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

    def _look_closely(self, state: str, before: Moment | None, evidence: Evidence) -> str | None:
        try:
            now = moment(evidence, self._names, self._lasting, names_matter=not self._named_anew)
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

    def _played_on(self, visits: list[Visit], evidence: Evidence) -> str | None:
        """The Violation, if the lap was played again often enough, in this World or in another."""
        play_lap, is_seen_again = evidence.play_lap, len(visits) > AGAIN + 1
        lap = self._lap(visits[-2], visits[-1]) if is_seen_again or play_lap else []
        if is_seen_again:
            ends = visits[-AGAIN - 2 :]
            if all(self._lap(a, b) == lap for a, b in pairwise(ends)):
                return self._message(lap, visits[-2], visits[-1])
        found: str | None = None
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
            found = play_lap(happened, start)
        self._doubt_that(f"played again from turn {end}, it did not come back")
        return found

    def _lap(self, start: Visit, end: Visit) -> list[str]:
        """The writes between two visits, as sentences."""
        first = start.writes - (self._written - len(self._writes))
        if first < 0:
            return []
        writes = list(self._writes)[first : len(self._writes) - (self._written - end.writes)]
        # The last writer of a field before the lap is its last writer in the lap before.
        owners = {(w.change.key, path): w.who for w in writes for path in w.fields}
        return [self._sentence(write, owners) for write in writes]

    def _message(self, lap: list[str], start: Visit, end: Visit) -> str:
        listed = lap[:SHOWN_MAX] + [f"… {len(lap) - SHOWN_MAX} more"] * (len(lap) > SHOWN_MAX)
        took = end.now_ms - start.now_ms
        time = f"{took:,} ms" if took else "no time at all"
        names = f", the names of {' and '.join(self._named_anew)}" if self._named_anew else ""
        return (
            f"for ever, a lap of {counted(len(lap), 'write')} in {time}, played {AGAIN} more times "
            f"to the same state: {'; '.join(listed)}; and again. Everyone who could move did in "
            f"each lap. Taken to mean nothing: revisions, uids{names}"
        )

    # -- what is written ------------------------------------------------------------------------

    def _sentence(self, write: Write, owners: dict[tuple[str, str], str]) -> str:
        """What a write did, and over which actor's work, in a sentence."""
        who, change = write.who, write.change
        key = self._names.unnamed_key(change.key)
        if change.old is None or change.new is None:
            return f"{who} {'creates' if change.old is None else 'deletes'} {key}"
        old, new, fields = change.old.value, change.new.value, []
        others: dict[str, None] = {}
        for path in write.fields:
            values = (shown(field_of(item, path), path, write.now_ms) for item in (old, new))
            was, now = map(self._names.unnamed, values)
            fields.append(f"{path} {was} → {now}")
            owner, owners[change.key, path] = owners[change.key, path], who
            others |= {} if owner == who else {owner: None}
        over = f" (set by {' and '.join(others)})" if others else ""
        return f"{who} sets {key} {', '.join(fields)}{over}"


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


class _Multiset:
    """What all objects say, without their names, as a sum with one number for each object. So a
    commit costs only what it changes."""

    def __init__(self, claim: NoLasso) -> None:
        self._claim = claim
        self._weights: dict[str, int] = {}
        self._sum = 0
        self._has_begun = False

    def state(self, evidence: Evidence) -> str:
        """The state now; called at each commit."""
        if not self._has_begun:
            self._has_begun = True
            for entry in evidence.store.snapshot(""):
                self._weigh(entry.key, entry.value)
        for change in evidence.changes:
            self._weigh(change.key, change.after)
        return f"{self._sum:x}"

    def _weigh(self, key: str, value: object) -> None:
        if not self._claim.minds(key):
            return
        weight = 0 if value is None else _weight(key, value)
        self._sum = (self._sum + weight - self._weights.pop(key, 0)) % WORD
        if weight:
            self._weights[key] = weight


class _Abstracted:
    """What the scenario's own `abstraction` says of the state."""

    def __init__(self, abstraction: Abstraction, claim: NoLasso) -> None:
        self._abstraction = abstraction
        self._claim = claim

    def state(self, evidence: Evidence) -> str:
        """The state now; called at each commit."""
        likeness = Likeness({})
        likeness.begin("what the abstraction says")
        likeness.write(evidence.ask(self._claim, self._abstraction))
        return digest_of(repr(likeness.digests()).encode())


def _weight(key: str, value: object) -> int:
    """A number for what an object says: its kind, its labels, and all fields but `meta`."""
    if not isinstance(value, Object):
        return int(digest_of(f"{key} {value!r}".encode()), 16)
    fields: list[Any] = [value.plural, value.meta.labels]
    fields += [getattr(value, field.name) for field in attrs.fields(type(value))[1:]]
    return int(digest_of(encode(fields)), 16)
