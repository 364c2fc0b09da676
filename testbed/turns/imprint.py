"""Imprint: what a turn has shown, kept to be compared when the same choices are played again.

A Run is a function of its choices. So a turn that is played again asks, answers, writes and touches
what it did before, unless something outside the World has decided: a global, a closure, a clock.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol
from zlib import crc32

from testbed.errors import ReplayDiverged
from testbed.objects.codec import decode, encode, encode_any, encode_line
from testbed.objects.meta import Object
from testbed.store.endpoint import Listing, Operation
from testbed.turns.option import SERVE, Option
from testbed.turns.suspects import suspects_of
from testbed.turns.trace import Step

SHOWN_MAX = 100
"""How much of a value is shown on each side of a difference."""
UNCHANGING = (Object, Listing, str, int, type(None))


class Imprint(NamedTuple):
    """All of a turn that a second Run with the same choices must show again."""

    what: str
    """What was performed, or picked."""
    due: int
    asked: Any
    """What a request asked for, besides its verb and its object."""
    refused: str
    revision: str
    answered: Any
    changed: tuple[Any, ...]
    """What was committed."""
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    recorded: tuple[Any, ...]
    """The Records that were written in it."""
    because: tuple[int, ...]
    """The numbers of the turns that made it possible, and of the Record that it names."""

    @property
    def shown(self) -> str:
        """What it has shown, in one line; empty parts are left out."""
        values = {
            n: v for n, v in zip(self._fields[2:], self[2:], strict=True) if v not in ("", None, ())
        }
        return _cut(as_json(values), 0)

    @property
    def texts(self) -> list[str]:
        """Each of its values as a text, the same in every process."""
        return [value if isinstance(value, str) else as_json(value) for value in self]


# The order is that of a reader: what was done, what was asked for, what came of it.
_WORDS = {
    "what": "the turn",
    "due": "its time in ms",
    "asked": "what it asked for",
    "refused": "its refusal",
    "answered": "the answer",
    "changed": "what it wrote",
    "revision": "the revision",
    "recorded": "what it recorded",
    "reads": "what it read",
    "writes": "what it touched",
    "because": "what made it possible",
}


def imprint_of(step: Step) -> Imprint:
    """The Imprint of a turn that has just ended, or of a pick."""
    option, marks, operation = step.option, step.marks, step.operation
    asked = None if operation is None else asked_of(operation)
    answered: Any = None
    if option.kind == SERVE and (request := option.source) is not None:
        error = request.error
        answered = kept(request.value) if error is None else str(error)
    sentence = option.sentence
    return Imprint(
        f"{sentence} {option.label}".rstrip(),
        step.now_ms,
        asked,
        step.outcome,
        step.revision,
        answered,
        tuple([(c.key, c.revision, c.new and c.new.value) for c in marks.changes]),
        tuple(marks.reads),
        tuple(marks.writes),
        step.records,
        (*step.causes, step.because),
    )


def asked_of(operation: Operation) -> Any:
    """What a request asks for, besides its verb and its object."""
    return (operation.revision, operation.uid, operation.options, kept(operation.body))


def kept(value: Any) -> Any:
    """A value as it is now: it is compared later, when its owner may have changed it."""
    return value if isinstance(value, UNCHANGING) else as_json(value)


def as_json(value: Any) -> str:
    """A value as JSON; of what has no such form, its fields, and never its address."""
    try:
        return encode_any(value).decode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return type(value).__name__


def sum_of(imprint: Imprint, before: int = 0) -> int:
    """A checksum of it and of all before it; the same in every process."""
    try:
        text = encode(imprint)
    except (TypeError, ValueError, OverflowError, RecursionError):
        text = "\0".join(imprint.texts).encode()
    return crc32(text, before)


def difference(was: Imprint, now: Imprint) -> str:
    """What is not the same in two Imprints, in words; empty if nothing is."""
    return "" if was == now else _unlike(was.texts, now.texts)


def _unlike(was: Sequence[str], now: Sequence[str]) -> str:
    for name, words in _WORDS.items():
        place = Imprint._fields.index(name)
        if was[place] != now[place]:
            one, other = apart(was[place], now[place])
            return f"{words} was {one or 'nothing'}, and is {other or 'nothing'} now"
    return ""


def apart(one: str, other: str) -> tuple[str, str]:
    """Return both texts, cut to the place where they part."""
    if max(len(one), len(other)) <= SHOWN_MAX:
        return one, other
    pairs = enumerate(zip(one, other, strict=False))
    place = next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
    start = max(place - SHOWN_MAX // 2, 0)
    return tuple(_cut(text, start) for text in (one, other))  # type: ignore[return-value]


def _cut(text: str, start: int) -> str:
    shown = text[start : start + SHOWN_MAX]
    return f"{'…' * (start > 0)}{shown}{'…' * (start + SHOWN_MAX < len(text))}"


def check_texts(first: Iterable[Step], second: Iterable[Sequence[str]], again: str) -> None:
    """Raise ReplayDiverged at the first turn of a Run that was not the same in another process,
    which has sent the texts of its Imprints."""
    for number, (step, now) in enumerate(zip(first, second, strict=False), 1):
        if said := _unlike(imprint_of(step).texts, now):
            raise diverged(step, f"step {number}", said, again)


def unlike_line(then: Mapping[str, Any], step: Step) -> str:
    """What is not the same in a Step and in the line of a trace, in words; empty if nothing is."""
    was = {name: value for name, value in then.items() if name != "sum"}
    now = decode(encode_line(step.line()))
    for name in (*now, *was):
        one, other = was.get(name), now.get(name)
        if one != other:
            return f"{name!r} was {as_json(one)} in the trace, and is {as_json(other)} now"
    return ""


def check_same(was: Imprint, step: Step, where: str, again: str) -> None:
    """Raise ReplayDiverged if a turn is not what it was when the same choices were played before.

    `where` says which turn it is, `again` is what a user should paste.
    """
    now = imprint_of(step)
    if was != now and (said := difference(was, now)):
        raise diverged(step, where, said, again)


def check_steps(first: Iterable[Step], second: Sequence[Step], again: str) -> None:
    """Raise ReplayDiverged at the first turn that is not the same in two whole Runs."""
    for number, (one, other) in enumerate(zip(first, second, strict=False), 1):
        check_same(imprint_of(one), other, f"step {number}", again)


class Rerunnable(Protocol):
    """A Run, as far as it takes to play it again."""

    @property
    def scenario(self) -> str:
        """The name of its scenario."""

    @property
    def switches(self) -> Mapping[str, Any]:
        """The switches that the scenario was given."""


def twice_line(run: Rerunnable) -> str:
    """The command that plays the scenario of that Run twice, and shows where it differs."""
    given = [
        word for name, value in run.switches.items() for word in ("--switch", f"{name}={value}")
    ]
    return shlex.join(["testbed", "run", run.scenario, *given, "--twice"])


def diverged(
    step: Step | None, where: str, said: str, again: str, option: Option | None = None
) -> ReplayDiverged:
    """The error that names the turn, what is not the same, and what may have decided it: the code
    that ran in it, or that offers the Option which is not the same."""
    ran = step.option if option is None and step is not None else option
    turn = "" if step is None else f", `{imprint_of(step).what}`"
    return ReplayDiverged(
        f"{where}{turn}: {said}, after the same choices.\n"
        f"Something outside the World decided. {_likely(ran)}\n"
        f"Next: {again}"
    )


def _likely(option: Option | None) -> str:
    found = [] if option is None else suspects_in(option)
    if found:
        return f"Most likely: {'; '.join(found)}."
    who = (option and option.actor) or "the scenario"
    return (
        f"Look in {who} for a global, an object that Worlds share, a closure, a clock, an id(), "
        "the order of a set, `random`, or the environment."
    )


def suspects_in(option: Option) -> list[str]:
    """What may have decided otherwise: in the code of the actor, and of the Endpoint, that runs
    when it is performed or has led to it."""
    source, seat = option.source, option.seat
    life = getattr(seat or source, "life", None)
    post = getattr(source, "post", None)
    # The start of a life is offered before there is one: what is performed has its Role.
    roles = getattr(option.perform, "args", ()) if life is None else (life.role,)
    actor = next((getattr(role, "actor", None) for role in roles), None)
    return suspects_of(each for each in (getattr(post, "endpoint", None), actor) if each)
