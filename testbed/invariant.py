"""Invariant: a named claim, and what it may look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from typing import Any, ClassVar, Protocol

from testbed.client.request import Request
from testbed.client.wire import Wire
from testbed.code.takes import wrong_count
from testbed.errors import ScenarioError, shown
from testbed.store.change import Change
from testbed.store.store import Store
from testbed.turns.found import DEADLINE, NEVER, About, Found, Wrong, named_in, told
from testbed.turns.happening import Happening
from testbed.turns.life import Death, Role, StuckTask
from testbed.turns.option import Choice
from testbed.turns.table import Table
from testbed.turns.trace import Record, Step

MANY = (tuple, list, set, frozenset)
NOT_PLAIN = CO_COROUTINE | CO_GENERATOR | CO_ASYNC_GENERATOR
"""What marks the code of a function that says nothing when it is called."""
COMMIT, RECORD, DELIVERY, DEATH, TURN = "commit", "record", "delivery", "death", "turn"
SERVED = "served"
"""The occasions at which an Invariant may look. It is called at those it names, and no others."""


RECORDS, DEATHS = "records", "deaths"
"""Stand for all that actors record, and for who died, among what an Invariant reads."""
PlayLap = Callable[[Sequence[Happening], int], Wrong]
"""Given what has happened up to the end of a lap, and at which place of it the lap began, what
`no_lasso` says when the lap is played again and again."""
GoOn = Callable[[Sequence[Happening]], tuple[Wrong, str]]
"""Given what has happened, what `no_lasso` says when all goes on calmly from there; or else None,
and why no lap is proved."""


class ClaimReads:
    """At which Step claims have last read what grows by itself: the time, and all records."""

    time_at = -1
    records_at = -1


class Evidence:
    """What an Invariant may look at. It may read everything, and change nothing."""

    def __init__(self, table: Table, wire: Wire, store: Store) -> None:
        self._table = table
        self.wire = wire
        self.store = store
        """Read it with `peek`, `snapshot` and `log`, which leave no mark."""
        self.reads = ClaimReads()
        self.changes: Sequence[Change] = ()
        """The commits of the turn that has just ended."""
        self.waiting: tuple[StuckTask, ...] = ()
        """At the end of a Run that got stuck: the tasks that wait, and for what."""
        self.choices: Sequence[Choice] = ()
        """All that the Chooser has chosen so far."""
        self.happened: list[Happening] | None = None
        """All that has happened so far; None unless a claim `follows` it."""
        self.play_lap: PlayLap | None = None
        """Plays choices in another World of the scenario, and then a lap of them again and again.
        None if this World was not assembled by a scenario alone."""
        self.go_on: GoOn | None = None
        """Plays what has happened in another World, and lets all go on calmly there, with numbers
        that are watched. None as above."""
        self.ask: Callable[[Invariant, Callable[[Evidence], Any]], Any] = self._ask
        """Asks a function of a user's own that a claim calls; for the testbed itself. In an audit
        it is shown no more than the claim has declared."""
        self.laps_from = 0
        """The number of choices after which a lap may begin, if that is known; else 0."""
        self.calm_end: Callable[[Invariant], Any] | None = None
        """Returns what the calm run of this scenario has come to in which the same faults strike at
        the same points, as that claim of this World sees it, or why there is none. It is None
        itself in such a calm run, and in a World that does not know its scenario."""

    def _ask(self, _: Invariant, look: Callable[[Evidence], Any]) -> Any:
        return look(self)

    def forget_scenario(self) -> None:
        """Called when something is added to a World that its scenario had assembled: no other
        World of that scenario is like it any more."""
        self.play_lap = self.go_on = self.calm_end = None

    @property
    def stuck(self) -> tuple[str, ...]:
        """At the end of a Run that got stuck: which task waits for what, a sentence each."""
        return tuple(map(str, self.waiting))

    @property
    def now_ms(self) -> int:
        """Virtual time."""
        self.reads.time_at = self._table.step
        return self._table.now_ms

    @property
    def served(self) -> Request | None:
        """The request whose Endpoint moved in the turn that has just ended, or None. The commits of
        that turn are its own. If it `is_served`, its answer is known."""
        return self.wire.served

    def named_in(self, text: str, upto: int | None = None) -> About:
        """The objects and actors that a text names: of the actors of this World, and of the objects
        that are or were in its Store; with `upto`, by that revision."""
        store = self.store
        changes = store.log().changes
        if upto is not None:
            changes = [change for change in changes if change.revision <= upto]
        written = {change.key: None for change in changes}
        if store.compacted:
            now = (e.key for e in store.snapshot("") if upto is None or e.created <= upto)
            written.update(dict.fromkeys(now))
        return named_in(text, written, self._table.roles)

    @property
    def table(self) -> Table:
        """The tasks that wait, and what may happen next."""
        return self._table

    @property
    def faults(self) -> int:
        """How many faults have struck: after one, what has to be done may come late, or never. An
        audit shows it at the end alone."""
        return self._table.faults

    @property
    def last_fault_ms(self) -> int:
        """When the last fault was over. A time limit of a claim counts from there."""
        return self._table.last_fault_ms

    @property
    def records(self) -> list[Record]:
        """All that actors have recorded so far, oldest first: their `path`, `name`, `facts`."""
        self.reads.records_at = self._table.step
        return self._table.records

    @property
    def deaths(self) -> list[Death]:
        """The lives that have ended by an exception so far."""
        return self._table.deaths

    @property
    def actors(self) -> list[Role]:
        """The actors, by name, whether they run or not."""
        return [role for _, role in sorted(self._table.roles.items())]


class Invariant:
    """A named claim about one Run. Each World has an instance of its own, so it may keep state.

    The World calls `look` after each turn with an occasion the claim names, and `end` once, at
    quiescence, before anything is torn down. Each returns what was found, or None.
    """

    name: str = ""
    looks_at: ClassVar[frozenset[str]] = frozenset()
    ends_run: ClassVar[bool] = False
    """Whether nothing more is to be seen of a Run that has breached it, whoever would go on."""
    follows: ClassVar[bool] = False
    """Whether it wants to know all that has happened (`evidence.happened`)."""
    reads: frozenset[str] | None = None
    """What may break it if it changes: keys, logs (`log:pods.spec`), `records`, `deaths`. None:
    anything. A search that leaves out orders keeps every order of changes to these."""
    within_ms: int | None = None
    """The time within which it must come true; None: any time."""
    breach_reason: ClassVar[str] = ""
    """Which kind of breach each of its breaches is that names none itself, one of `REASONS`."""
    breach_fields: ClassVar[tuple[str, ...]] = ()
    """The fields that matter of the objects that its breaches are about, where one names none."""
    declares: bool = False
    """Whether a user wrote it, who says what it `reads`: an audit then shows it no more."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        """A turn has just ended in which one of its occasions occurred."""

    def end(self, evidence: Evidence) -> Wrong:
        """The Run has come to rest."""

    def at_instant_limit(self, evidence: Evidence) -> Wrong:
        """The Run is about to be cut, since so many turns were played and no time has passed."""

    @property
    def suspicion(self) -> str:
        """What it suspects and could not prove; shown if the Run ends undecided."""
        return ""

    @property
    def note(self) -> str:
        """A sentence on what it could not judge of this Run; the Verdict says it."""
        return ""

    @property
    def allowed(self) -> str:
        """A word for what it has seen of this Run and allows, if its note tells of that, such as
        `allowed_double_run`. A search, which shows no notes, counts the Runs of each word."""
        return ""


Claim = Callable[[Evidence], Wrong]
"""What a scenario writes: a function that says what is wrong, or returns None."""


def _name_of(claim: Any) -> str:
    """The name of a claim's function, also if some arguments of it are given already."""
    named = claim
    while isinstance(named, partial):
        named = named.func
    name: str | None = getattr(named, "__name__", None)
    if not callable(claim) or name is None:
        raise ScenarioError(
            f"a claim was made of {shown(claim)}: expected a function that says what is wrong, or "
            "returns None.\nNext: write it as `def all_is_well(see)`."
        )
    # Also of a `partial`, the function says whether it is async.
    flags: int = getattr(getattr(named, "__code__", None), "co_flags", 0)
    if flags & NOT_PLAIN or wrong_count(claim, 1):
        raise ScenarioError(
            f"the claim {name} cannot be asked: expected a function of the Evidence alone, without "
            "`async` and `yield`.\nNext: write it as `def all_is_well(see)`."
        )
    return name


def _is_text(name: object) -> bool:
    return isinstance(name, str)


def _declared(reads: object) -> frozenset[str] | None:
    """What a claim declares to read, as a set; ScenarioError if it is no tuple of texts."""
    if reads is None:
        return None
    if isinstance(reads, MANY) and all(map(_is_text, reads)):
        return frozenset(reads)
    alone = f"({reads!r},)" if isinstance(reads, str) else '("log:pods",)'
    raise ScenarioError(
        f"a claim declares reads={shown(reads)}: expected a tuple of texts.\n"
        f"Next: say reads={alone}."
    )


class Onlooker(Protocol):
    """Notes what a claim looks at, until it has found something."""

    is_found: bool

    def shown(self, evidence: Evidence) -> Evidence:
        """The Evidence, as it is shown to that claim until then."""


class FunctionClaim(Invariant):
    """A claim that a function of the user's makes."""

    claim: Claim
    subject: Onlooker | None = None
    """What notes at what it looks in this Run; None if nobody asks."""

    def ask(self, evidence: Evidence) -> Wrong:
        """What the function says is wrong."""
        subject = self.subject
        if subject is None or subject.is_found:
            return self.claim(evidence)
        return self.claim(subject.shown(evidence))


class _Always(FunctionClaim):
    declares = True
    looks_at = frozenset({COMMIT, RECORD})

    def __init__(self, claim: Claim, reads: frozenset[str] | None) -> None:
        self.name = _name_of(claim)
        self.claim = claim
        self.reads = reads

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        return self.ask(evidence)

    def end(self, evidence: Evidence) -> Wrong:
        return self.ask(evidence)


class _Quiescent(FunctionClaim):
    declares = True

    def __init__(self, claim: Claim, reads: frozenset[str] | None) -> None:
        self.name = _name_of(claim)
        self.claim = claim
        self.reads = reads

    def end(self, evidence: Evidence) -> Wrong:
        return self.ask(evidence)


class _Eventually(FunctionClaim):
    looks_at = frozenset({TURN})

    def __init__(self, claim: Claim, within_ms: int | None) -> None:
        self.name = _name_of(claim)
        self.claim = claim
        self.within_ms = within_ms
        self._met_after_ms: int | None = None
        """When the fault was over after which it has come true; None as long as it has not."""
        self._holds = False

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        since = evidence.last_fault_ms
        if self.within_ms is None and self._met_after_ms == since:
            return None
        wrong = self.ask(evidence)
        held, self._holds = self._holds, wrong is None
        if self._met_after_ms == since:
            return None
        late = self.within_ms is not None and evidence.now_ms > since + self.within_ms
        # What held at the look before, and holds now, held when the fault was over.
        if wrong is None and (held or not late):
            self._met_after_ms = since
        elif late:
            wrong = "it came true too late" if wrong is None else wrong
            after = f", {self.within_ms} ms after the last fault"
            return _told(wrong, DEADLINE, after)
        return None

    def end(self, evidence: Evidence) -> Wrong:
        if self._met_after_ms == evidence.last_fault_ms:
            return None
        return _told(self.ask(evidence), NEVER)


def _told(wrong: Wrong, reason: str, more: str = "") -> Wrong:
    """What a function says is wrong, with more said of it, and the kind of breach that it is if the
    function names none."""
    return told(wrong, after=more, reason=reason) if isinstance(wrong, str | Found) else wrong


def always(claim: Claim, *, reads: tuple[str, ...] | None = None) -> Invariant:
    """The claim holds after every commit and every record, and at the end. If it says what it
    `reads`, a complete search need not keep the order of anything else for it."""
    return _Always(claim, _declared(reads))


def quiescent(claim: Claim, *, reads: tuple[str, ...] | None = None) -> Invariant:
    """The claim holds when nothing can move any more. It may tell in which order things were
    committed and recorded, and who died first, unless it says what it `reads`: `("records",)` if
    that is only the order in which actors recorded; `()` if no order matters to it."""
    return _Quiescent(claim, _declared(reads))


def eventually(claim: Claim, *, within_ms: int | None = None) -> Invariant:
    """The claim comes true after the last fault; if `within_ms` is given, within that time."""
    is_time = isinstance(within_ms, int) and not isinstance(within_ms, bool) and within_ms >= 0
    if within_ms is not None and not is_time:
        raise ScenarioError(
            f"a claim was made with within_ms={within_ms!r}: expected whole milliseconds from 0.\n"
            "Next: say within_ms=1500 for 1.5 seconds."
        )
    return _Eventually(claim, within_ms)
