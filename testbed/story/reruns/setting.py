"""Setting: what the components of a scenario are set to that its guard sets otherwise.

A trace shows what a program did, and not by which rule. If the guard of a scenario is a switch of a
component, such as a bug of an older Kubernetes, that switch is the rule. So two Worlds are
assembled, with the guard off and with it on, and compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from testbed.client.actor import made_by
from testbed.switches import PROFILE
from testbed.turns.trace import Trace
from testbed.words import names_of

OFF, GUARD = "off", "guard"
CITED = re.compile(r" \([A-Z]+-\d+(?:, [A-Z]+-\d+)*\)|(?<=\()[A-Z]+-\d+, ")
"""A requirement that the docstring of a switch cites: no reader of a story has the list."""
PLAIN = (bool, int, str)
"""Of a field of such a type, both values can be told."""
PARTS_MAX = 3
"""If more parts than this are set otherwise, they are counted, and not named."""


@attrs.frozen
class SetOtherwise:
    """One thing that the guard sets otherwise."""

    who: tuple[str, ...]
    """The actors and Endpoints, or the object."""
    what: str
    """The switch, or the field."""
    here: str
    there: str
    doc: str = ""
    """What a switch does, as its component says."""

    @property
    def is_of_objects(self) -> bool:
        """Whether it is a field of objects, and not how a program is set."""
        return all("/" in name for name in self.who)

    @property
    def is_profile(self) -> bool:
        """Whether it is the profile, of which other switches follow."""
        return self.what == PROFILE


def said(trace: Trace) -> str:
    """A sentence on the one switch that the guard sets otherwise, or the profile; empty if there is
    none, or if there are several."""
    world = trace.played_in
    make: Callable[..., Any] | None = getattr(world, "again", None)
    if make is None or world.switches.get(GUARD) != OFF:
        return ""
    differing_ = differing(world, make(guard="on"))
    if any(trace.choices):
        # Where it takes a race, the objects that the guard sets otherwise are no rule.
        differing_ = [each for each in differing_ if not each.is_of_objects]
    found = [each for each in differing_ if each.is_profile] or differing_
    if len(found) != 1 or found[0].what == GUARD:
        return ""  # that a guard sets a guard says nothing
    one = found[0]
    parts = "objects" if one.is_of_objects else "components"
    who = names_of(one.who) if len(one.who) <= PARTS_MAX else f"{len(one.who)} {parts}"
    if one.is_of_objects:
        has = "has" if len(one.who) == 1 else "have"
        return f"{who} {has} {one.what} {one.here}, which the guard sets to {one.there}."
    run = "runs" if len(one.who) == 1 else "run"
    head = f"{who} {run} with {one.what}={one.here}, which the guard sets to {one.there}"
    return f'{head}: "{one.doc}"' if one.doc else f"{head}."


def differing(world: Any, other: Any) -> list[SetOtherwise]:
    """What is set otherwise in another World of the same scenario: switches of components; if none
    is, the fields of actors."""
    found = [
        SetOtherwise(
            tuple(parts), switch, here, there,
            CITED.sub("", world.in_force.says(parts[0], switch)),
        )
        for (switch, here, there), parts in world.in_force.differing(other.in_force).items()
    ]  # fmt: skip
    return found or list(_of_fields(world, other))


def _of_fields(world: Any, other: Any) -> Iterator[SetOtherwise]:
    by: dict[tuple[str, str, str], list[str]] = {}
    for name, role in sorted(world.table.roles.items()):
        theirs = other.table.roles.get(name)
        if theirs is None:
            continue
        one, two = made_by(role.factory), made_by(theirs.factory)
        if type(one) is not type(two) or not attrs.has(type(one)):
            continue
        for path, was, now in _differing(one, two):
            by.setdefault((path, _shown(was), _shown(now)), []).append(name)
    theirs_by_key = {entry.key: entry.value for entry in _first(other)}
    for entry in _first(world):
        if (there := theirs_by_key.get(entry.key)) is not None:
            for path, was, now in _differing(entry.value, there):
                by.setdefault((path, _shown(was), _shown(now)), []).append(entry.key)
    for (field_name, here, there), names in by.items():
        yield SetOtherwise(tuple(names), field_name, here, there)


def _first(world: Any) -> list[Any]:
    """The objects that a World begins with, as they were made."""
    made = {change.key: change.new for change in reversed(world.store.log().changes)}
    return [entry for entry in made.values() if entry is not None and entry.version == 1]


def _differing(one: Any, two: Any, path: str = "") -> Iterator[tuple[str, object, object]]:
    """The plain fields in which these two differ, at any depth."""
    for field in attrs.fields(type(one)):
        was, now = getattr(one, field.name), getattr(two, field.name)
        here = f"{path}.{field.name}".lstrip(".")
        if type(was) is not type(now) or was is now:
            continue
        if type(was) in PLAIN:
            if was != now and not field.name.startswith("_"):
                yield here, was, now
        elif attrs.has(type(was)):
            yield from _differing(was, now, here)


def _shown(value: object) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)
