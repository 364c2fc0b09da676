"""Looks: which parts of a Run's past the claims look at, found by watching them look.

A state of a map has all that is there now. Nothing declares whether it must have some of the past
too. So each claim sees the Evidence through a window that notes what it asks for. If it asks for
the log of the pods, the log of the pods becomes a part of the state. What no claim has ever asked
for cannot tell two Runs apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from testbed.invariant import DEATHS, RECORDS, Evidence, Invariant
from testbed.invariants.caches import CachesShowOneRevision
from testbed.invariants.lasso.moment import EVENTS
from testbed.invariants.lasso.no_lasso import NoLasso
from testbed.objects.meta import LOOKED
from testbed.store.footprint import LOG
from testbed.turns.found import Wrong
from testbed.turns.trace import Step
from testbed.world.world import CLAIMS

PATH = "all choices so far"
TIME, FAULT_TIME = "the time", "the time of the last fault"
NUMBERS, STEPS = "how many commits there were", "how many turns there were"
EVENTS_TOO, LIVES = "the Events", "what actors show"
HITS = "where faults have struck"
"""What a claim may look at beside `log:<kind>`, `records` and `deaths`."""
PRESENT = frozenset(
    {"changes", "faults", "forget_scenario", "named_in", "served", "stuck", "waiting", "wire"}
)  # fmt: skip
"""What of the Evidence says how it is now, or what has just happened."""
PAST = {
    "records": RECORDS, "deaths": DEATHS, "now_ms": TIME, "last_fault_ms": FAULT_TIME,
    "calm_end": HITS, "actors": LIVES, "roles": LIVES,
}  # fmt: skip
OF_STORE = {"revision": NUMBERS, "compacted": NUMBERS} | dict.fromkeys(
    ("changes", "get", "range", "between"), LOG
)
"""What of the Store is neither how it is now nor looked at otherwise."""
OF_STEP = dict.fromkeys(("kind", "option", "sentence", "marks", "did", "operation", "outcome"), "")
OF_STEP |= {"now_ms": TIME} | dict.fromkeys(("number", "revision", "records"), STEPS)
OF_ROLE = dict.fromkeys(("name", "rank", "actor", "switches", "is_up", "home", "lives"), "")
OF_LIFE = dict.fromkeys(("is_alive", "shown", "role"), "")
"""Of a Step, a Role and a Life: which part of the past each attribute is; empty: none."""
COUNTED = ("number", "step", "now_ms")
"""What of a Record only says when it was written."""
OWN = (*CLAIMS, CachesShowOneRevision)
"""They check the testbed itself: what they keep follows from the Store and the watches."""


class PastLooks:
    """What the claims of a scenario have looked at so far, in all Runs of a map."""

    def __init__(self) -> None:
        self.at: set[str] = set()
        """Parts of the past that have to be compared."""
        self.unordered: dict[str, bool] = {}
        """By part, whether each claim that looked at it has declared that no order matters."""
        self.has_grown = False
        """Whether something was added since this was last set to False."""

    def add(self, part: str, *, unordered: bool = False) -> None:
        """Note that a claim has looked at that part of the past."""
        was = (part in self.at, self.unordered.get(part, True))
        self.at.add(part)
        self.unordered[part] = now = was[1] and unordered
        self.has_grown = self.has_grown or was != (True, now)

    def watch(self, claim: Invariant) -> None:
        """Let this claim see the Evidence through a window from now on."""
        if isinstance(claim, OWN):
            return
        seen = _Silent() if isinstance(claim, NoLasso) else _Asked(claim, self)
        try:
            object.__setattr__(claim, "look", seen.look)
            object.__setattr__(claim, "end", seen.end)
        except AttributeError:
            self.add(PATH)


class _Silent:
    """Stands in for `no_lasso`, which judges a way and not a state: on a map, what goes on for ever
    is a circle, and a Run is cut where it closes."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        """Nothing."""
        return None

    def end(self, evidence: Evidence) -> Wrong:
        """Nothing."""
        return None


WRAPPED = ("look", "end")
"""What `watch` sets on a claim; it is no part of its memory."""


class _Asked:
    """Asks a claim, and shows it the Evidence through a window."""

    def __init__(self, claim: Invariant, looks: PastLooks) -> None:
        self._look, self._end = claim.look, claim.end
        self._minds_no_order = claim.reads is not None and not claim.reads
        self._declares = claim.declares
        self._looks = looks

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        """What the claim says after a turn."""
        seen = cast(Step, _Seen(step, OF_STEP, self._note)) if step is not None else None
        return self._shown(lambda: self._look(seen, self._window(evidence)))

    def end(self, evidence: Evidence) -> Wrong:
        """What the claim says at rest."""
        return self._shown(lambda: self._end(self._window(evidence)))

    def _shown(self, ask: Callable[[], Wrong]) -> Wrong:
        """What it says, while a look at the text of a revision is noted."""
        token = LOOKED.set(lambda: self._note(NUMBERS))
        try:
            return ask()
        finally:
            LOOKED.reset(token)

    def _window(self, evidence: Evidence) -> Evidence:
        if not self._declares:  # it may know its Entries by identity, so it is shown them bare
            self._note(NUMBERS)
        return cast(Evidence, _Window(evidence, self._note, bare=not self._declares))

    def _note(self, part: str) -> None:
        self._looks.add(part, unordered=self._minds_no_order)


class _Window:
    """The Evidence, which notes what is asked of it."""

    def __init__(self, evidence: Evidence, note: Callable[[str], None], *, bare: bool) -> None:
        self._evidence = evidence
        self._note = note
        self._bare = bare

    def __getattr__(self, name: str) -> Any:
        if name not in PRESENT:
            self._note(PAST.get(name, PATH))
        return getattr(self._evidence, name)

    @property
    def records(self) -> Any:
        """All that actors have recorded, the numbers of which are noted."""
        self._note(RECORDS)
        return _SeenRecords(self._evidence.records, self._note)

    @property
    def actors(self) -> Any:
        """The actors, of which only what they show is known not to be the past."""
        self._note(LIVES)
        return [_SeenRole(role, OF_ROLE, self._note) for role in self._evidence.actors]

    @property
    def ask(self) -> Any:
        """Asks a function of the user's own, through the same window."""
        return lambda _, look: look(self)

    @property
    def store(self) -> Any:
        """The Store, the past of which is noted."""
        return _SeenPast(self._evidence.store, self._note, bare=self._bare)

    @property
    def table(self) -> Any:
        """The Table, the lists and times of which are noted."""
        return _SeenTable(self._evidence.table, self._note)


class _SeenTable:
    """The Table, which notes what is asked of its past."""

    def __init__(self, table: Any, note: Callable[[str], None]) -> None:
        self._table = table
        self._note = note

    def __getattr__(self, name: str) -> Any:
        if name in PAST:
            self._note(PAST[name])
        if name == "records":
            return _SeenRecords(self._table.records, self._note)
        if name == "roles":
            roles = self._table.roles.items()
            return {each: _SeenRole(role, OF_ROLE, self._note) for each, role in roles}
        if name in ("pending", "step"):
            self._note(TIME if name == "pending" else STEPS)
        return getattr(self._table, name)


class _Seen:
    """One thing, which notes which part of the past is asked for with each of its attributes; all
    choices so far with one that it does not know."""

    def __init__(self, it: Any, parts: Mapping[str, str], note: Callable[[str], None]) -> None:
        self._it = it
        self._parts = parts
        self._note = note

    def __getattr__(self, name: str) -> Any:
        if part := self._parts.get(name, PATH):
            self._note(part)
        return getattr(self._it, name)


class _SeenRole(_Seen):
    """A Role, and so its Life."""

    @property
    def life(self) -> Any:
        """The Life that it is in, if it is in one."""
        life = self._it.life
        return None if life is None else _Seen(life, OF_LIFE, self._note)


class _SeenRecords(Sequence[Any]):
    """The Records, which note whether their numbers are asked for."""

    def __init__(self, records: Sequence[Any], note: Callable[[str], None]) -> None:
        self._records = records
        self._note = note

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return _SeenRecords(self._records[place], self._note)
        return _SeenRecord(self._records[place], self._note)


class _SeenRecord:
    """A Record, which notes whether its numbers are asked for."""

    __slots__ = ("_note", "_record")

    def __init__(self, record: Any, note: Callable[[str], None]) -> None:
        self._record = record
        self._note = note

    def __getattr__(self, name: str) -> Any:
        if name in COUNTED:
            self._note(STEPS)
        return getattr(self._record, name)


class _SeenEntry:
    """An Entry, which notes whether its numbers are asked for."""

    __slots__ = ("_entry", "_note", "key", "value")

    def __init__(self, entry: Any, note: Callable[[str], None]) -> None:
        self.key = entry.key
        self.value = entry.value
        self._entry = entry
        self._note = note

    def __getattr__(self, name: str) -> Any:
        self._note(NUMBERS)
        return getattr(self._entry, name)


class _SeenPast:
    """The Store, which notes whether its present or its past is asked for."""

    def __init__(self, store: Any, note: Callable[[str], None], *, bare: bool) -> None:
        self._store = store
        self._note = note
        self._bare = bare

    def peek(self, key: str, at: int | None = None) -> Any:
        """The Entry at a key, if there is one."""
        self._seen(key, at)
        found = self._store.peek(key, at)
        return found if self._bare or found is None else _SeenEntry(found, self._note)

    def snapshot(self, prefix: str, at: int | None = None, limit: int | None = None) -> Any:
        """The Entries under a prefix."""
        self._seen(prefix, at)
        found = self._store.snapshot(prefix, at, limit)
        return found if self._bare else [_SeenEntry(each, self._note) for each in found]

    def log(self, plural: str | None = None) -> Any:
        """The Log of a kind, or of all."""
        self._note(f"{LOG}{plural or ''}")
        return self._store.log(plural)

    def _seen(self, prefix: str, at: int | None) -> None:
        if at is not None:
            self._note(LOG)
        if EVENTS.startswith(prefix) or prefix.startswith(EVENTS):
            self._note(EVENTS_TOO)

    def __len__(self) -> int:
        return len(self._store)

    def __getattr__(self, name: str) -> Any:
        self._note(OF_STORE.get(name, PATH))
        return getattr(self._store, name)


def memory_of(claim: Invariant) -> Any:
    """What a claim keeps from one look to the next, by name; the claim itself if that is not to be
    seen."""
    held = getattr(claim, "__dict__", None)
    if held is None:
        return claim
    return {name: held[name] for name in held if name not in WRAPPED}
