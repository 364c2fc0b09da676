"""Outside: what an actor or a verdict goes by beside the Store and the actors' own memory.

An Endpoint of a user's own may count what it is asked, or answer by the time. A claim may count
turns, or look at records and at the time when the Run has ended. None of that is a commit.
"""

from __future__ import annotations

import dis
from collections.abc import Hashable, Sequence
from contextlib import suppress
from functools import cache
from types import FunctionType

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
    """Whether the testbed brings a class along."""
    return kind.__module__.partition(".")[0] in OURS


class Endpoints:
    """What the Endpoints of a user's own hold, as long as nothing is written."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._names = Renaming()
        self._lasting = Lasting()
        self._digests: set[str] = set()

    def forget(self) -> None:
        """Something was written."""
        self._digests.clear()

    def look(self) -> None:
        """Look at what they hold now."""
        posts = self._evidence.wire.posts.values()
        own = [post for post in posts if not is_ours(type(post.endpoint))]
        if own:
            try:
                self._digests.add(kept_by(self._evidence, own, self._names, self._lasting))
            except Unlike as why:
                self._digests |= {"", str(why)}

    @property
    def varies(self) -> bool:
        """Whether they did not always hold the same."""
        return len(self._digests) > 1


class ClaimLooks:
    """What claims hold and read, as long as nothing is written."""

    def __init__(self, evidence: Evidence, claims: Sequence[Invariant]) -> None:
        self._evidence = evidence
        self._names = Renaming()
        self._lasting = Lasting()
        self._at_end = [
            each for each in claims if isinstance(each, FunctionClaim) and not each.looks_at
        ]
        self._own = [
            each
            for each in claims
            if not is_ours(type(each)) and not WITHOUT_COMMIT.isdisjoint(each.looks_at)
        ]
        self._digests: set[str] = set()

    def forget(self) -> None:
        """Something was written."""
        self._digests.clear()

    def look(self) -> None:
        """Look at what those hold now that somebody else has written."""
        if self._own:
            try:
                held = [vars(each) for each in self._own]
                self._digests.add(held_by(self._evidence, held, self._names, self._lasting))
            except Unlike as why:
                self._digests |= {"", str(why)}

    @property
    def varies(self) -> bool:
        """Whether they did not always hold the same."""
        return len(self._digests) > 1

    def goes_by_what_grows(self, records: int) -> bool:
        """Whether a claim that looks at the end alone goes by the time then, or by what actors have
        recorded, if there are more records than that. They are asked to see at what they look."""
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
    """Whether that class of Endpoints, of a user's own, looks at the time that it is given, and
    does not only hand it on; not if it says itself how far from now its times are."""
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
