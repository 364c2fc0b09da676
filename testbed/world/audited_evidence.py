"""AuditedEvidence: what a claim may look at that has declared what it reads; more is an error.

A search leaves out orders because of what a claim has declared. If the claim looks at more, a Run
in which it is breached may be left out, and no figure would show it. So with `audit=True` such a
claim is shown less:

- The kinds of which it has declared a key or a log. At the end of a Run it may read all kinds. Of
  the Changes of a turn it may take all, but may look only into those of its kinds.
- Records, if it has declared `records`, and deaths, if it has declared `deaths`. At the end it may
  read both in any case, since it may have declared that their order does not matter.
- Caches and lives, if it has declared a key of one: `life:alpha`, `cache:alpha/pods`.
- How many faults have struck, at the end of a Run alone.
- No number that counts all commits. Whether two objects are of one revision is the same in every
  order; what their revisions are, or how far a Cache has come, is not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, TypeVar, cast

from testbed.errors import ScenarioError
from testbed.invariant import DEATHS, RECORDS, Evidence, Invariant
from testbed.objects.meta import LOOKED
from testbed.store.change import Change, Entry, Log
from testbed.store.footprint import LOG
from testbed.turns.found import Wrong
from testbed.world.seen_store import SeenStore

LIVES = ("life:", "cache:", "mem:")
"""The keys by which a claim declares that it looks at actors."""
T = TypeVar("T")
Ask = Callable[[Evidence], Wrong]
"""`look` or `end` of an Invariant, given what it may look at."""


def asked(invariant: Invariant, evidence: Evidence, ask: Ask, *, at_end: bool) -> Wrong:
    """What the claim says, given no more than it has declared."""
    if not invariant.declares:
        return ask(evidence)
    return shown_less(invariant, evidence, ask, at_end=at_end)


def shown_less(
    invariant: Invariant, evidence: Evidence, ask: Callable[[Evidence], T], *, at_end: bool = False
) -> T:
    """What a function of the user's own says, given no more than the claim has declared."""
    reads = invariant.reads
    if reads is None:
        return ask(evidence)
    shown = AuditedEvidence(invariant.name, evidence, reads, at_end=at_end)
    token = LOOKED.set(lambda: shown.refuse("a number that counts all commits", "nothing"))
    try:
        return ask(cast(Evidence, shown))
    finally:
        LOOKED.reset(token)


class AuditedEvidence:
    """Evidence that refuses what the claim has not declared."""

    def __init__(
        self, name: str, evidence: Evidence, reads: frozenset[str], *, at_end: bool
    ) -> None:
        self._name = name
        self._evidence = evidence
        self._reads = reads
        self._at_end = at_end
        self._kinds = {key.removeprefix(LOG).partition(".")[0].partition("/")[0] for key in reads}

    def __getattr__(self, name: str) -> Any:
        if name in ("choices", "happened") or (name == "faults" and not self._at_end):
            self.refuse(f"evidence.{name}", "nothing")
        is_life = name in ("actors", "table", "wire", "served")
        if is_life and not self._at_end and not any(key.startswith(LIVES) for key in self._reads):
            self.refuse(f"evidence.{name}", "a key such as life:alpha")
        return getattr(self._evidence, name)

    @property
    def records(self) -> Any:
        """All that actors have recorded."""
        if RECORDS not in self._reads and not self._at_end:
            self.refuse("evidence.records", RECORDS)
        return self._evidence.records

    @property
    def deaths(self) -> Any:
        """The lives that have ended by an exception."""
        if DEATHS not in self._reads and not self._at_end:
            self.refuse("evidence.deaths", DEATHS)
        return self._evidence.deaths

    @property
    def changes(self) -> Any:
        """The commits of the turn that has just ended."""
        return [_Change(change, self) for change in self._evidence.changes]

    @property
    def store(self) -> Any:
        """The Store, as far as it was declared."""
        return SeenStore(self._evidence.store, self.check, partial(_shown, self), self._no_number)

    def check(self, prefix: str) -> None:
        """Refuse to read these keys if nothing of their kind was declared."""
        kind = prefix.partition("/")[0]
        if not self._at_end and kind not in self._kinds and LOG not in self._reads:
            self.refuse(f"{prefix or 'all keys'} in the Store", f"{LOG}{kind}")

    def _no_number(self, name: str) -> NoReturn:
        """Refuse what the Store has beside its Entries and Logs: it counts all commits."""
        self.refuse(f"evidence.store.{name}", "nothing")

    def refuse(self, what: str, key: str) -> NoReturn:
        """Raise the error that ends the Run."""
        said = ", ".join(sorted(self._reads)) or "nothing"
        raise ScenarioError(
            f"the claim {self._name} reads {what}, and declared {said}.\n"
            f"Add {key} to its `reads=`, or leave `reads=` out: a Run may be skipped for what it "
            "declares."
        )


class _Log:
    """The Changes of a kind, in their order, without their numbers."""

    def __init__(self, log: Log, audit: AuditedEvidence) -> None:
        self._log = log
        self._audit = audit

    @property
    def changes(self) -> list[_Change]:
        """All that are kept, oldest first."""
        return [_Change(change, self._audit) for change in self._log.changes]

    def __getattr__(self, name: str) -> Any:
        self._audit.refuse(f"the {name} of a log", "nothing")


class _Change:
    """A Change without its numbers; refused if it is of a kind that was not declared."""

    def __init__(self, change: Change, audit: AuditedEvidence) -> None:
        self._change = change
        self._audit = audit

    @property
    def key(self) -> str:
        """The key that was written."""
        self._audit.check(self._change.key)
        return self._change.key

    @property
    def old(self) -> Any:
        """What was there before."""
        self._audit.check(self._change.key)
        return _shown(self._audit, self._change.old)

    @property
    def new(self) -> Any:
        """What is there now."""
        self._audit.check(self._change.key)
        return _shown(self._audit, self._change.new)

    @property
    def before(self) -> object:
        """The object before; None for a creation."""
        self._audit.check(self._change.key)
        return self._change.before

    @property
    def after(self) -> object:
        """The object now; None for a deletion."""
        self._audit.check(self._change.key)
        return self._change.after

    def __getattr__(self, name: str) -> Any:
        self._audit.refuse(f"the {name} of a Change of {self._change.key}", "nothing")


def _shown(audit: AuditedEvidence, found: Entry | Log | None) -> _Entry | _Log | None:
    if isinstance(found, Log):
        return _Log(found, audit)
    return None if found is None else _Entry(found, audit)


class _Entry:
    def __init__(self, entry: Entry, audit: AuditedEvidence) -> None:
        self.key = entry.key
        self.value = entry.value
        self.version = entry.version
        self._audit = audit

    def __getattr__(self, name: str) -> Any:
        self._audit.refuse(f"the {name} of {self.key}", "nothing")
