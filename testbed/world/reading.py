"""Reading: what claims declare to read, held against what a World has.

A claim that declares a name which nothing has reads nothing by it. A search would leave out orders
that it can tell apart, and no figure would show it. So such a name is refused before the Run.

An Endpoint that is not the testbed's may mark keys of families of its own, and one of the user's
may put objects of kinds that nothing has yet. Where one is served, an unknown name is refused only
if it is nearly one that is known.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Collection, Iterable, Mapping
from functools import cache

import attrs

from testbed.client.request import Post
from testbed.code.whose import OWN, SHIPPED, TESTBED, at_place, whose
from testbed.errors import ScenarioError, UnknownName
from testbed.invariant import DEATHS, RECORDS, Invariant
from testbed.objects.dotted import has_field
from testbed.objects.kinds import KINDS_BY_PLURAL, kinds_below
from testbed.store.footprint import ACTOR, ENDPOINT, FAMILIES, HISTORY, KIND, LOG, ORDER, TIME
from testbed.store.store import plural_of

WORDS = frozenset({RECORDS, DEATHS, HISTORY, TIME, LOG, *ORDER})
"""Keys that have no name in them."""
OF_KINDS = ("cache", "cursor")
"""In keys of these families a kind stands behind the name."""
FAMILY, THING = "family of keys", "thing"
NEAR = 0.7
"""How alike a name must be to one that is known to be taken for a slip of it."""
SEE = "say `log:pods`, `log:pods.spec`, a key, `records`, `deaths`, or `life:` with an actor's name"


@attrs.frozen
class Claimed:
    """A claim, and where a scenario has made it."""

    invariant: Invariant
    place: str
    """The file and the line; empty if no code of a scenario has."""


@attrs.frozen
class _Known:
    """All names that a claim may say."""

    keys: frozenset[str]
    kinds: Mapping[str, type]
    """The kinds of objects, by their plurals."""
    names: Mapping[str, Collection[str]]
    """By what they name."""
    is_open: Mapping[str, bool]
    """Whether there may be more of them."""

    def check(self, what: str, name: str, claim: str) -> None:
        """Raise UnknownName unless there is one of that name, or may be."""
        known = self.names[what]
        if name in known or (
            self.is_open.get(what) and not difflib.get_close_matches(name, known, 1, NEAR)
        ):
            return
        raise UnknownName(f"{what} for the claim `{claim}` to read:", name, known, see=SEE)


# Claims are checked at the beginning of every Run, and nearly all read kinds that all Worlds have.
# So that is asked first, and remembered; only for the others the names of this World are gathered.
def unsure(claims: Iterable[Claimed]) -> list[Claimed]:
    """The claims that read something which not every World has."""
    return [each for each in claims if not all(map(_is_everywhere, each.invariant.reads or ()))]


@cache
def _is_everywhere(key: str) -> bool:
    plural, _, path = key.removeprefix(LOG).partition(".")
    kind = KINDS_BY_PLURAL.get(plural) if key.startswith(LOG) else None
    return key in WORDS or (kind is not None and (not path or has_field(kind, path)))


def check_reads(
    claims: Iterable[Claimed],
    actors: Iterable[str],
    keys: Iterable[str],
    posts: Mapping[str, Post],
) -> None:
    """Raise UnknownName or ScenarioError if a claim declares what the World does not have. The keys
    are those that the Store begins with: one may be of no kind of object."""
    made_by = {_maker(post.endpoint) for post in posts.values()}
    there = frozenset(keys)
    kinds = {kind.plural: kind for kind in kinds_below() if kind.plural}
    plurals = {*kinds, *map(plural_of, there)}
    known = _Known(
        there,
        kinds,
        {
            KIND: plurals, ACTOR: {*actors}, ENDPOINT: {*posts},
            FAMILY: {f"{family}:" for family in FAMILIES},
            THING: {*WORDS, *(f"{LOG}{plural}" for plural in plurals)},
        },
        {KIND: OWN in made_by, THING: OWN in made_by, FAMILY: made_by != {TESTBED}},
    )  # fmt: skip
    for claim in claims:
        for key in sorted(claim.invariant.reads or ()):
            with at_place(claim.place):
                _check(key, claim.invariant.name, known)


def _maker(endpoint: object) -> str:
    """Whose class it is: the testbed's, one that comes with it, or the user's."""
    file = getattr(sys.modules.get(type(endpoint).__module__), "__file__", None)
    maker = OWN if file is None else whose(file)
    return maker if maker in (TESTBED, SHIPPED) else OWN


def _check(key: str, claim: str, known: _Known) -> None:
    family, colon, rest = key.partition(":")
    if key in WORDS or key in known.keys:
        return
    if "/" in family:
        known.check(KIND, plural_of(key), claim)
    elif colon:
        known.check(FAMILY, f"{family}:", claim)
        _check_named(family, rest, claim, known)
    elif key in known.names[KIND]:
        raise ScenarioError(
            f"the claim `{claim}` reads {key!r}, which is no key: expected `{LOG}{key}`.\n"
            f"Next: {SEE}."
        )
    else:
        known.check(THING, key, claim)


def _check_named(family: str, rest: str, claim: str, known: _Known) -> None:
    """Check what stands behind the colon, as far as it is known before the Run."""
    what, named = FAMILIES.get(family), rest.split("/")
    if what in (ACTOR, ENDPOINT):
        known.check(what, named[0], claim)
        if family in OF_KINDS and len(named) > 1:
            known.check(KIND, named[1], claim)
    elif what == KIND:
        plural, _, path = rest.partition(".")
        known.check(KIND, plural, claim)
        kind = known.kinds.get(plural)
        if path and kind is not None and not has_field(kind, path):
            fields = [f"{plural}.{field.name}" for field in attrs.fields(kind) if field.init]
            raise UnknownName(f"field for the claim `{claim}` to read:", rest, fields, see=SEE)
