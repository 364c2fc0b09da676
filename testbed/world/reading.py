"""Reading: what claims declare to read, held against what a World has.

A claim that declares a name which nothing has reads nothing by it. A search would leave out orders
that it can tell apart, and no figure would show it. So such a name is refused before the Run.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from testbed.errors import ScenarioError, UnknownName
from testbed.invariant import DEATHS, RECORDS, Invariant
from testbed.invariants.confluence import has_field
from testbed.objects.kinds import kinds_below
from testbed.store.footprint import HISTORY, LOG, ORDER
from testbed.store.store import plural_of
from testbed.whose import at_place

WORDS = frozenset({RECORDS, DEATHS, HISTORY, *ORDER})
OF_ACTORS = ("life", "mem", "cache")
"""What stands before the name of an actor in a key."""
SEE = "say `log:pods`, `log:pods.spec`, a key, `records`, `deaths`, or `life:` with an actor's name"


@attrs.frozen
class Claimed:
    """A claim, and where a scenario has made it."""

    invariant: Invariant
    place: str
    """The file and the line; empty if no code of a scenario has."""


def check_reads(claims: Iterable[Claimed], actors: Iterable[str], keys: Iterable[str]) -> None:
    """Raise UnknownName or ScenarioError if a claim declares what the World does not have. The keys
    are those that the Store begins with: one may be of no kind of object."""
    names = sorted(actors)
    kinds = {kind.plural: kind for kind in kinds_below() if kind.plural}
    known = sorted({*kinds, *map(plural_of, keys)})
    for claim in claims:
        for key in sorted(claim.invariant.reads or ()):
            with at_place(claim.place):
                _check(key, claim.invariant.name, names, known, kinds)


def _check(
    key: str, claim: str, actors: list[str], known: list[str], kinds: dict[str, type]
) -> None:
    prefix, colon, rest = key.partition(":")
    if key in WORDS or key == LOG or rest.startswith("@"):
        return
    if colon and prefix in OF_ACTORS:
        actor = rest.partition("/")[0]
        if actor not in actors:
            raise UnknownName(f"actor that the claim {claim} could read:", actor, actors, see=SEE)
    elif colon and f"{prefix}:" == LOG:
        plural, _, path = rest.partition(".")
        if plural not in known:
            raise UnknownName(f"kind that the claim {claim} could read:", plural, known, see=SEE)
        kind = kinds.get(plural)
        if path and kind is not None and not has_field(kind, path):
            fields = [f"{plural}.{field.name}" for field in attrs.fields(kind) if field.init]
            raise UnknownName(f"field that the claim {claim} could read:", rest, fields, see=SEE)
    elif not colon and "/" not in key:
        if key in known:
            raise ScenarioError(
                f"the claim {claim} reads {key!r}, which is no key: expected `{LOG}{key}`.\n"
                f"Next: {SEE}."
            )
        words = [*WORDS, *(f"{LOG}{plural}" for plural in known)]
        raise UnknownName(f"thing that the claim {claim} could read:", key, words, see=SEE)
    elif not colon and plural_of(key) not in known:
        what = f"kind that the claim {claim} could read:"
        raise UnknownName(what, plural_of(key), known, see=SEE)
