"""Outside: what an actor or a verdict goes by beside the Store and the actors' own memory.

An Endpoint of a user's own may count what it is asked, or answer by the time. A claim may count
turns, or look at records and at the time when the Run has ended. None of that is a commit.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import cache, cached_property
from types import FunctionType

from testbed.client.request import Post
from testbed.invariant import DELIVERY, RECORD, SERVED, TURN, Evidence, FunctionClaim, Invariant
from testbed.invariants.lasso.lasting import Lasting
from testbed.invariants.lasso.likeness import Unlike
from testbed.invariants.lasso.moment import held_by, kept_by
from testbed.invariants.lasso.renaming import Renaming

WITHOUT_COMMIT = frozenset({TURN, SERVED, DELIVERY, RECORD})
"""The occasions to look that come again and again in a Run in which nothing is written."""
OURS = ("testbed", "actors")
"""The rooms whose Endpoints and claims change only with what is written, or read the time."""


def is_ours(kind: type) -> bool:
    """Return whether the testbed brings a class along."""
    return kind.__module__.partition(".")[0] in OURS


class SameAgain:
    """Notes whether something holds the same each time that it is looked at, as long as nothing is
    written."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._likeness: tuple[Renaming, Lasting] | None = None
        """What is kept from one look to the next; made for the first."""
        self._digests: set[str] = set()

    def forget(self) -> None:
        """Called when something was written."""
        self._digests.clear()

    def _note(self, digest_of: Callable[..., str], held: object) -> None:
        kept = self._likeness = self._likeness or (Renaming(), Lasting())
        try:
            self._digests.add(digest_of(self._evidence, held, *kept))
        except Unlike as why:
            self._digests |= {"", str(why)}

    @property
    def varies(self) -> bool:
        """True if it did not always hold the same."""
        return len(self._digests) > 1


class Endpoints(SameAgain):
    """The Endpoints of a user's own, and what they hold."""

    @cached_property
    def _own(self) -> list[Post]:
        posts = self._evidence.wire.posts.values()
        return [post for post in posts if not is_ours(type(post.endpoint))]

    def look(self) -> None:
        """Look at what they hold now."""
        if self._own:
            self._note(kept_by, self._own)


class ClaimLooks(SameAgain):
    """The claims of a Run: what those hold that somebody else has written, and what those read that
    look at the end alone."""

    def __init__(self, evidence: Evidence, claims: Sequence[Invariant]) -> None:
        super().__init__(evidence)
        self._claims = claims

    @cached_property
    def _at_end(self) -> list[FunctionClaim]:
        claims = self._claims
        return [each for each in claims if isinstance(each, FunctionClaim) and not each.looks_at]

    @cached_property
    def _own(self) -> list[Invariant]:
        return [
            each
            for each in self._claims
            if not is_ours(type(each)) and not WITHOUT_COMMIT.isdisjoint(each.looks_at)
        ]

    def look(self) -> None:
        """Look at what those hold now that somebody else has written."""
        if self._own:
            self._note(held_by, [vars(each) for each in self._own])

    def goes_by_what_grows(self, records: int) -> bool:
        """Return whether a claim that looks at the end alone goes by the time then, or by what
        actors have recorded, if there are more records than that. They are asked to see at what
        they look."""
        reads, table = self._evidence.reads, self._evidence.table
        grow = len(table.records) > records
        for claim in self._at_end:
            before = reads.time_at, reads.records_at
            reads.time_at = reads.records_at = -1
            with suppress(Exception):
                claim.claim(self._evidence)
            reads_time, reads_records = reads.time_at >= 0, reads.records_at >= 0
            reads.time_at, reads.records_at = before
            if reads_time or (reads_records and grow):
                return True
        return False


@cache
def answers_by_time(kind: Hashable) -> bool:
    """Return whether that class of Endpoints, of a user's own, looks at the time that it is given,
    and does not only hand it on; not if it says itself how far from now its times are."""
    if hasattr(kind, "digest_at") or not isinstance(kind, type):
        return False
    for each in kind.__mro__:
        if is_ours(each) or each is object:
            return False
        handle = vars(each).get("handle")
        if handle is not None and _looks_at_time(handle):
            return True
    return False


def _looks_at_time(handle: object) -> bool:
    if not isinstance(handle, FunctionType) or handle.__code__.co_argcount < 4:
        return True
    name = handle.__code__.co_varnames[3]
    used = handed = 0
    for each in dis.get_instructions(handle):
        names = each.argval if isinstance(each.argval, tuple) else (each.argval,)
        if each.opname.startswith("LOAD_") and "ATTR" not in each.opname:
            used += names.count(name)
        handed += each.opname.startswith(("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER")) and (
            "handle" in names
        )
    return used > handed
