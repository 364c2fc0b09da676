"""Wording: a write, a value or a list of names, as the sentences of a story say it."""

from __future__ import annotations

from testbed.objects.condition import Condition
from testbed.objects.meta import changed_fields, field_of
from testbed.store.change import Change
from testbed.story.knowledge import Version
from testbed.words import past

FIELDS_MAX = 2
VALUE_MAX = 24


def did(version: Version) -> str:
    """What the writer of a version did: `bound pods/default/c`."""
    return f"{past(version.word)} {version.key}"


def changed(change: Change) -> str:
    """How a write changed an object: its first fields, before → after."""
    if change.old is None or change.new is None:
        return ""
    old, new = change.old.value, change.new.value
    fields = list(changed_fields(old, new))
    shown = [
        f"{field} {_became(field_of(old, field), field_of(new, field))}"
        for field in fields[:FIELDS_MAX]
    ]
    more = [f"and {len(fields) - FIELDS_MAX} more"] if len(fields) > FIELDS_MAX else []
    return f": {', '.join([*shown, *more])}" if shown else ""


def were(known: object, change: Change) -> str:
    """What the first fields that a write changed were in an older version, `known`."""
    if change.old is None or change.new is None:
        return ""
    fields = list(changed_fields(change.old.value, change.new.value))[:FIELDS_MAX]
    new = change.new.value
    shown = [
        f"{field} was {_shown(_others(field_of(known, field), field_of(new, field)))}"
        for field in fields
    ]
    return f": {', '.join(shown)}" if shown else ""


def _became(old: object, new: object) -> str:
    """A field before → after. Of a list of conditions, only those that changed."""
    was, now = (_shown(_others(one, other)) for one, other in ((old, new), (new, old)))
    return f"{was}, in other words" if was == now else f"{was} → {now}"


def _others(value: object, known: object) -> object:
    """The value; without the conditions that the other value has too."""
    if not (isinstance(value, tuple) and isinstance(known, tuple)):
        return value
    return tuple(each for each in value if each not in known or not isinstance(each, Condition))


def _shown(value: object) -> str:
    if value is None or value in ("", ()):
        return "empty"
    if isinstance(value, tuple) and all(isinstance(each, Condition) for each in value):
        text = " ".join(f"{each.type}={each.status or 'nothing'}" for each in value)
    else:
        text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= VALUE_MAX else f"{text[: VALUE_MAX - 1]}…"


def to_and_fro(versions: list[Version]) -> list[Version]:
    """The last of these writes, as long as the same two actors wrote in turn."""
    turns: list[Version] = []
    for version in reversed(versions):
        if len(turns) > 1 and version.actor != turns[-2].actor:
            break
        if turns and version.actor == turns[-1].actor:
            break
        turns.append(version)
    return turns[::-1]


def listed(names: list[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
