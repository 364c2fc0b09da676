"""Change: what one write did to one key. Entry: one object as one write left it."""

from __future__ import annotations

import attrs


@attrs.frozen(weakref_slot=False)
class Entry:
    """One object as one write left it."""

    key: str
    value: object
    """Immutable, and shared with everyone who reads it."""
    created: int
    """The revision at which this life of the key began (etcd's create_revision)."""
    revision: int
    """The revision of this write (etcd's mod_revision)."""
    version: int
    """How many writes this life of the key has seen, from 1."""


@attrs.frozen(weakref_slot=False)
class Change:
    """What one write did to one key; the atom of history and of every watch."""

    revision: int
    key: str
    old: Entry | None
    """None if the key was absent: a creation."""
    new: Entry | None
    """None if the key is absent now: a deletion."""
    serial: int
    """Its place in the whole history, from 1; Changes of one transaction share a revision."""
