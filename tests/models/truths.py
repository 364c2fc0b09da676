"""Truths: what a person knows of a Finding, to hold against what its story says."""

from __future__ import annotations

import re

import attrs

from testbed.story.cause import WORDS_MAX, Cause, CauseShape
from testbed.story.opening import cause_of
from testbed.story.slice import Slice
from testbed.turns.trace import Trace
from testbed.turns.verdict import Violation


@attrs.frozen
class Truth:
    """What a person knows of one Finding."""

    shape: CauseShape
    actor: str
    did: str
    """What it did: the operation and its object, or the name of a record."""
    since: str
    """The write behind it: who, what, which object; empty if there was none."""

    @classmethod
    def told(cls, cause: Cause) -> Truth:
        """The same, as a story tells it."""
        since = cause.since
        said = f"{since.actor} {since.word} {since.key}" if since is not None else ""
        return cls(cause.shape, cause.actor, cause.did, said)


def cause_in(trace: Trace, violation: Violation) -> Cause:
    """The cause that the story of that Run opens with."""
    found = cause_of(Slice(trace, violation))
    assert found is not None
    return found


def can_be_repeated(cause: Cause) -> None:
    """One sentence of at most forty words, that names who, the objects of both ends, the revision
    or the Step of both."""
    said, since = cause.text, cause.since
    assert len(said.split()) <= WORDS_MAX, said
    assert said.endswith("."), said
    assert "\n" not in said
    assert ". " not in said
    assert "…" not in said
    assert not re.search(r"\s[.,;]|[,;]\.", said), said
    assert cause.actor in said
    assert cause.did.rpartition(" ")[2] in said
    assert f"(step {cause.step})" in said
    if since is not None:
        assert since.actor in said
        assert since.key.rpartition("/")[2] in said
        assert f"(step {since.step})" in said or f"rv {since.revision}" in said
