"""What drawn Worlds claim: functions of all that the Evidence shows, in claims of every kind.

A claim is data: the word of its maker, the word of its look, and what it is given. A look returns
what it has seen as a text; the claim is breached as soon as that is another one than before the
Run, and says it. So whatever a claim can tell of a Run is told by its Violation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from testbed import always, confluent, eventually, no_lasso, quiescent
from testbed.invariant import (
    COMMIT,
    DEATH,
    DELIVERY,
    RECORD,
    SERVED,
    TURN,
    Evidence,
    Invariant,
)
from testbed.turns.trace import Step
from tests.models.worlds.doing import said_by

Look = Callable[[Evidence], str]
ALL_NOTES = ("log:notes",)


def _at(see: Evidence, key: str) -> Any:
    entry = see.store.peek(key)
    return None if entry is None else entry.value


def there(see: Evidence) -> str:
    """What the notes say."""
    return str([said_by(entry.value) for entry in see.store.snapshot("notes/")])


def pair(see: Evidence) -> str:
    """Which of two notes is there."""
    return str([_at(see, f"notes/default/{name}") is not None for name in "xyz"])


def which_is_newer(see: Evidence) -> str:
    """Which of two objects was written last."""
    found = [_at(see, key) for key in ("notes/default/x", "notes/default/y", "leases/default/x")]
    return str([int(str(item.meta.revision)) if item else 0 for item in found])


def how_far(see: Evidence) -> str:
    """The revision of the Store."""
    return str(see.store.revision)


def last_write(see: Evidence) -> str:
    """What was written last, of any kind."""
    changes = see.store.log(plural=None).changes
    return changes[-1].key if changes else "nothing"


def once(see: Evidence) -> str:
    """What there was before the last write."""
    store = see.store
    before = max(store.revision - 1, store.compacted, 1)
    note = store.peek("notes/default/x", at=before)
    found = [entry.key for entry in store.snapshot("", at=before, limit=2)]
    return f"{found} {None if note is None else said_by(note.value)}"


def just_written(see: Evidence) -> str:
    """What this turn has written."""
    return str([change.key for change in see.changes])


def how_many_records(see: Evidence) -> str:
    """How much was recorded."""
    return str(len(see.records))


def who_recorded(see: Evidence) -> str:
    """Who recorded what, in which order."""
    return str([(record.path, record.name) for record in see.records])


def numbers(see: Evidence) -> str:
    """The numbers of the Records of each task, and when they were written."""
    return str(sorted((record.path, record.number, record.now_ms) for record in see.records))


def steps(see: Evidence) -> str:
    """In which turns it was recorded."""
    return str([(record.path, record.step) for record in see.records])


def moods(see: Evidence) -> str:
    """What the actors show."""
    return str([sorted(r.life.shown.items()) if r.life else [] for r in see.actors])


def lives(see: Evidence) -> str:
    """Which actors are up, and in which life."""
    return str([(role.name, role.is_up, role.lives) for role in see.actors])


def deaths(see: Evidence) -> str:
    """Who has died, of what, in which order."""
    return str([(death.path, death.error) for death in see.deaths])


def held(see: Evidence) -> str:
    """What the Caches of the actors hold."""
    found = []
    for role in see.actors:
        for cache in role.life.caches if role.life else ():
            found.append((role.name, sorted(cache.known), str(cache.upto)))
    return str(found)


def time(see: Evidence) -> str:
    """What time it is, when the last fault was over, and how many there were."""
    return f"{see.now_ms} {see.last_fault_ms} {see.faults}"


def served(see: Evidence) -> str:
    """Which request was served in this turn."""
    request = see.served
    return "none" if request is None else f"{request.operation} {request.is_served}"


def stuck(see: Evidence) -> str:
    """Who waits at the end, for what."""
    return str(sorted(see.stuck))


LOOKS: dict[str, Look] = {
    look.__name__: look
    for look in (
        there, pair, which_is_newer, how_far, last_write, once, just_written, how_many_records,
        who_recorded, numbers, steps, moods, lives, deaths, held, time, served, stuck,
    )
}  # fmt: skip
DECLARED: dict[str, tuple[str, ...]] = {
    "there": ALL_NOTES,
    "pair": ALL_NOTES,
    "which_is_newer": ("log:",),
    "how_many_records": ("records",),
    "who_recorded": ("records",),
    "last_write": ("log:",),
}
"""What a look reads, for those that can say it."""
OCCASIONS = {
    "commit": COMMIT, "record": RECORD, "delivery": DELIVERY, "death": DEATH, "turn": TURN,
    "served": SERVED,
}  # fmt: skip


class Listener(Invariant):
    """A claim of one's own: it keeps all that it sees at its occasion, and tells it at the end."""

    def __init__(self, look: Look, before: str, reads: tuple[str, ...] | None) -> None:
        self.name = f"listener_{look.__name__}"
        self.looked = [before]
        self.reads = None if reads is None else frozenset(reads)
        self._look = look

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        """Keep what is new."""
        said = self._look(evidence)
        if said != self.looked[-1]:
            self.looked.append(said)
        return None

    def end(self, evidence: Evidence) -> str | None:
        """Tell all of it."""
        return " | ".join(self.looked)

    @property
    def suspicion(self) -> str:
        """What it saw last."""
        return self.looked[-1]


LISTENERS: dict[str, type[Listener]] = {
    word: type(f"At{word.title()}", (Listener,), {"looks_at": frozenset({occasion})})
    for word, occasion in OCCASIONS.items()
}
"""By the word for its occasion."""


@attrs.frozen
class Claimed:
    """A claim as data."""

    maker: str
    """always, quiescent, eventually, confluent, no_lasso, or listener."""
    look: str = "pair"
    declares: bool = False
    """Whether it says what it reads."""
    given: dict[str, Any] = attrs.Factory(dict)

    def made(self, see: Evidence) -> Invariant:
        """It, for one World that is assembled but for its claims."""
        given, look = dict(self.given), LOOKS[self.look]
        reads, before = DECLARED[self.look] if self.declares else None, look(see)
        match self.maker:
            case "always":
                claim = _told(look, before)
                return always(claim, reads=reads) if reads else always(claim)
            case "quiescent":
                claim = _told(look, "")
                return quiescent(claim, reads=reads) if reads else quiescent(claim)
            case "eventually":
                return eventually(_come_true(look, before), **given)
            case "confluent" if self.look != "pair":
                if reads:
                    return confluent(seen_as=look, reads=reads, **given)
                return confluent(seen_as=look, **given)
            case "confluent":
                return confluent(**given)
            case "no_lasso" if given.pop("coarsely", False):
                return no_lasso(abstraction=pair, **given)
            case "no_lasso":
                return no_lasso(**given)
        return LISTENERS[given["occasion"]](look, before, reads)


def _told(look: Look, before: str) -> Callable[[Evidence], str | None]:
    """A claim that is breached when something else is to be seen than before; it says what."""

    def claim(see: Evidence) -> str | None:
        said = look(see)
        return None if said == before else said

    claim.__name__ = f"tells_{look.__name__}"
    return claim


def _come_true(look: Look, before: str) -> Callable[[Evidence], str | None]:
    """A claim that comes true when something else is to be seen than before."""

    def claim(see: Evidence) -> str | None:
        said = look(see)
        return None if said != before else f"still {said}"

    claim.__name__ = f"later_{look.__name__}"
    return claim
