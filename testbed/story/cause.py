"""Cause: why a claim broke, in one sentence that a stranger can repeat; and its shape.

Six shapes cover what goes wrong between programs that share a store:

1. *Old news*: one acted on what was no longer so, or before what another had sent had come.
2. *Unread*: one had promised something, such as room on a node, and another did not go by it.
3. *Half done*: of writes that belong together only some were made, or made yet.
4. *Did it happen?* An operation took effect and its caller got no answer; or the reverse.
5. *Disagree*: two undo each other's work, each by its own rule.
6. *Gone*: one crashed and was never started again, and what the claim wants waits for it.

A story says no more than the trace shows. If none of the six is shown, it says what was done last,
or of which error an actor died, and no more.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import attrs

from testbed.story.knowledge import Act, Version
from testbed.words import past

BROKE = ", and that broke it"
"""What is said of the last act, if no more is known."""
NOBODY = "No write or record"
"""Begins what is said if there is no such act."""
WORDS_MAX = 40
"""A cause has at most this many words."""


class CauseShape(StrEnum):
    """What sort of cause it is."""

    OLD_NEWS = "acted on old news"
    UNREAD = "a promise that was not read"
    HALF_DONE = "half done"
    DID_IT_HAPPEN = "did it happen?"
    DISAGREE = "two rules that disagree"
    GONE = "gone for good"
    UNKNOWN = "none of the six"


@attrs.frozen
class Cause:
    """Why a claim broke: who did what, on which belief, and which write had made that false."""

    shape: CauseShape
    text: str
    """The sentence, with its full stop."""
    actor: str
    """Who did what broke it, or left it half done."""
    did: str
    """What that was: the operation and its object, or the name of a record."""
    since: Version | None = None
    """The write that made the belief false, that was promised or undone, or that has no end."""
    step: int = 0
    """The Step of what was done."""
    also: tuple[int, ...] = ()
    """The Steps of whatever else it names, such as that in which another reported it."""
    is_guess: bool = False
    """Whether nothing shows that its actor should have known what it did not know."""
    setting: str = ""
    """By which setting of a component, if the guard sets that otherwise; else empty."""

    @property
    def is_told(self) -> bool:
        """Whether it says more than what was done last."""
        return not self.text.split(";")[0].endswith(BROKE) and not self.text.startswith(NOBODY)

    @property
    def steps(self) -> tuple[int, ...]:
        """The Steps it speaks of."""
        since = self.since.step if self.since is not None else 0
        return tuple(step for step in (self.step, since, *self.also) if step)

    @classmethod
    def of(cls, shape: CauseShape, act: Act, text: str, since: Version | None = None) -> Cause:
        """A cause that ends with that act."""
        return cls(shape, text, act.actor, named(act), since, act.step)


def named(act: Act) -> str:
    """An act in its operation and object: `bind pods/default/c`; or the name of a record."""
    if act.record is not None:
        return act.record.name
    return " ".join([act.word, *(version.subject for version in act.versions[:1])])


def sentence(*parts: str | tuple[str, ...]) -> str:
    """The parts as one sentence of at most 40 words. A part may be given in several wordings, the
    longest first; the last such part is the first to be shortened."""
    chosen = [0] * len(parts)
    while True:
        said = [p if isinstance(p, str) else p[n] for p, n in zip(parts, chosen, strict=True)]
        text = _joined(said)
        if len(text.split()) <= WORDS_MAX:
            break
        shorter = [
            place
            for place, part in enumerate(parts)
            if not isinstance(part, str) and chosen[place] + 1 < len(part)
        ]
        if not shorter:
            text = " ".join(text.split()[: WORDS_MAX - 1]).rstrip(",;:") + " …"
            break
        chosen[shorter[-1]] += 1
    return f"{text[0].upper() if text.startswith('the ') else text[0]}{text[1:]}."


def before_its_own(head: str, own: Version) -> str:
    """That an act came before a Cache showed what its actor had itself written: `…, not knowing of
    pods/default/a, which it had itself created at rv 5 (step 23)`."""
    at = f"at rv {own.revision} (step {own.step})"
    if own.change.old is not None:
        return sentence(f"{head} before its Cache showed its own {own.word} of {own.key}", at)
    made = f"{past(own.word)} {at}"
    return sentence(
        f"{head}, not knowing of {own.key}, which it had itself {made}",
        ("; its Cache did not show that yet", ""),
    )


def fitting(*choices: tuple[str, ...]) -> str:
    """The first of these sentences, each in parts, that has at most 40 words; else the last."""
    fits = (parts for parts in choices if len(_joined(parts).split()) <= WORDS_MAX)
    return sentence(*next(fits, choices[-1]))


def _joined(parts: Iterable[str]) -> str:
    return " ".join(filter(None, parts)).replace(" ,", ",").replace(" ;", ";").replace(" : ", ": ")
