"""confluent: in whatever order things happen, the Store ends alike.

When a Run comes to rest, its Store is compared with that of the calm run of the same scenario and
switches. Both must hold the same objects with the same fields, except for what an order may rightly
change. These are never compared:

- when something was made or said: every time, heartbeats too, uids, revisions and Events;
- the names that a server draws (`generateName`): such objects are compared as a set of equals, and
  where another object speaks of one, its name counts as drawn;
- the order of conditions, which have a type each.

A scenario declares what else may differ. A Run that faults have struck is compared with the calm
run in which the same faults strike at the same points of their targets' work. If there is none, it
is not compared, and its Verdict says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from testbed.errors import UnknownName
from testbed.invariant import Evidence, Invariant
from testbed.objects.dotted import fields_below, fields_within, has_field
from testbed.objects.kinds import kinds_below
from testbed.objects.meta import Object
from testbed.store.change import plural_of
from testbed.turns.found import TWO_ENDS, About, Found, Wrong

LEFT_OUT = frozenset({"uid", "revision"})
"""The fields that tell which object it is, and not what it is."""
EVENTS = "events"
TIMES = ("time", "fine time")
SHOWN_MAX = 3
"""The most differences that a Violation lists."""
NO_POINT = "no point of work says where a fault has struck"
NOT_THERE = "the calm run does not come to the points of work at which the same faults can strike"
NO_REST = "the calm run comes to no rest"
"""Why a Run is compared with nothing."""
TEXT_MAX = 120
"""The most characters of a value that it shows."""
ALIKE_MAX = 20
"""Of what two long values begin with alike, the characters that it shows."""

End = Mapping[str, Any]
"""What a Run has come to: objects by their keys, or what `seen_as` makes of it."""


@attrs.frozen
class NoCounterpart:
    """Stands for the end of a calm run that a Run cannot be compared with."""

    why: str


@attrs.frozen
class Differing:
    """One difference of two ends: an object that only one of them has, or a field of both."""

    key: str
    """The object, by its key; empty if no objects were compared."""
    field: str
    """The field, dotted; empty if it is the whole object."""
    how: str

    def __str__(self) -> str:
        return " ".join(filter(None, (self.key, self.field, self.how)))


class Confluent(Invariant):
    """The claim of `confluent`, and what its own Run has come to."""

    name = "confluent"

    def __init__(
        self,
        ignoring: Sequence[str] = (),
        unordered: Sequence[str] = (),
        seen_as: Callable[[Evidence], Any] | None = None,
        reads: tuple[str, ...] | None = None,
    ) -> None:
        self._ignored_kinds = {EVENTS, *(name for name in ignoring if name in _plurals())}
        self._ignoring = [name for name in ignoring if name not in _plurals()]
        for path in (*self._ignoring, *unordered):
            _check_path(path)
        self._unordered = frozenset(unordered)
        self._seen_as = seen_as
        if seen_as is None:
            reads = ()  # it compares what is the same in all orders of the same
        self.reads = None if reads is None else frozenset(reads)
        self.declares = seen_as is not None
        self._drawn: dict[str, list[str]] = {}
        """By what stands for a name that a server has drawn, the keys of the objects."""
        self.came_to: End | None = None
        """None until its Run has come to rest."""
        self.not_compared = ""
        """Why its Run was compared with nothing; empty if it was compared."""
        self.was_compared = False

    def end(self, evidence: Evidence) -> Wrong:
        came_to = self.came_to = self._end_of(evidence)
        # The calm run is played in another World, which claims the same: there `calm_end` is None,
        # and it only notes what it has come to. Otherwise each would play the next one for ever.
        if evidence.calm_end is None:
            return None
        faults, drawn = evidence.table.faults, self._drawn
        calm_end = evidence.calm_end(self)
        # One that was made outside of its scenario is a claim of the calm World, too.
        self.came_to, self.not_compared, self.was_compared = came_to, "", False
        if isinstance(calm_end, NoCounterpart):
            self.not_compared = calm_end.why
            return None
        self.was_compared = True
        found = self.differences(calm_end, came_to)
        if not found:
            return None
        more = f"; and {len(found) - SHOWN_MAX} more" if len(found) > SHOWN_MAX else ""
        calm, so = struck_alike("the calm run", faults), ""
        if faults:
            what = "fault alone does" if faults == 1 else "faults alone do"
            so = f", so the {what} not decide"
        told = "; ".join(map(str, found[:SHOWN_MAX]))
        about = _about(found[:SHOWN_MAX], drawn, evidence.named_in(told))
        return Found(f"{calm} ends otherwise{so}: {told}{more}", about, TWO_ENDS)

    @property
    def note(self) -> str:
        why = self.not_compared
        return f"confluent has compared it with nothing: {why}." if why else ""

    def _end_of(self, evidence: Evidence) -> End:
        if self._seen_as is not None:
            return {"": self._seen_as(evidence)}
        entries = [
            entry for entry in evidence.store.snapshot("") if not self._is_ignored(entry.key)
        ]
        drawn = {
            entry.value.meta.name: f"{entry.value.meta.generate_name}*"
            for entry in entries
            if isinstance(entry.value, Object) and entry.value.meta.generate_name
        }
        said, self._drawn = _Plain(drawn), {}
        found: dict[str, Any] = {}
        groups: dict[str, list[Any]] = {}
        for entry in entries:
            tree, key = said.of(entry.value), said.text(entry.key)
            if key == entry.key:
                found[key] = tree
            else:
                groups.setdefault(key, []).append(tree)
                self._drawn.setdefault(key, []).append(entry.key)
        for key, trees in groups.items():
            # Which of equals bears which name, only the server knows. Those are equals that differ
            # in nothing that is compared.
            trees.sort(key=lambda tree: repr(self._compared(plural_of(key), tree)))
            for number, tree in enumerate(trees, 1):
                found[f"{key} ({number} of {len(trees)})"] = tree
        return found

    def _compared(self, plural: str, tree: Any, path: str = "") -> Any:
        """Of an object, what is compared; what may stand in any order stands in one."""
        names = (path, f"{plural}.{path}")
        if any(_is_within(name, own) for name in names for own in self._ignoring):
            return None
        if self._unordered.intersection(names) and (items := _items(tree)) is not None:
            return items
        if not isinstance(tree, dict):
            return tree
        start = f"{path}." if path else ""
        return {name: self._compared(plural, each, f"{start}{name}") for name, each in tree.items()}

    def _is_ignored(self, key: str) -> bool:
        return key.partition("/")[0] in self._ignored_kinds

    def differences(self, calm: End, here: End) -> list[Differing]:
        """The differences, in order of the keys."""
        if self._seen_as is not None:
            is_same = calm == here
            return [] if is_same else [Differing("", "", f"{calm['']!r} there, {here['']!r} here")]
        found = []
        for key in sorted({*calm, *here}):
            if (key in calm) != (key in here):
                where = "only there" if key in calm else "only here"
                found.append(Differing(key, "", f"is {where}"))
            else:
                found += self._fields(key, calm[key], here[key])
        return found

    def _fields(self, key: str, calm: Any, here: Any) -> Iterator[Differing]:
        plural = key.partition("/")[0]
        for path, there, now in _differing(calm, here):
            names = (path, f"{plural}.{path}")
            if any(_is_within(name, own) for name in names for own in self._ignoring):
                continue
            if self._unordered.intersection(names) and _items(there) == _items(now):
                continue
            was, here_is = _shown(there, now)
            yield Differing(key, path, f"is {was} there, {here_is} here")


def _about(found: Sequence[Differing], drawn: Mapping[str, list[str]], values: About) -> About:
    """What these differences are about: the objects, of which some have drawn names; their fields;
    and what their values name, such as a node."""
    names = (each.key for each in found if each.key)
    keys = (key for name in names for key in drawn.get(name.partition(" (")[0], [name]))
    fields = (each.field for each in found if each.field)
    return About((*keys, *values.keys), fields, values.actors)


class _Plain:
    """Makes plain data of objects, without what an order may rightly change."""

    def __init__(self, drawn: Mapping[str, str]) -> None:
        self._drawn = drawn
        # The longest first, since one name may begin another.
        names = sorted(drawn, key=lambda name: (-len(name), name))
        self._named = re.compile(r"(?<![\w.-])(" + "|".join(map(re.escape, names)) + r")(?![\w.-])")

    def text(self, text: str) -> str:
        """It with each name that a server has drawn made alike."""
        return self._named.sub(lambda m: self._drawn[m[0]], text) if self._drawn else text

    def of(self, value: Any, shape: str = "") -> Any:
        """A value and all within it."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            plain = {self.text(str(name)): self.of(each) for name, each in value.items()}
            return sorted(plain) if shape == "times" else plain
        if isinstance(value, list | tuple):
            items = [self.of(each) for each in value]
            if items and all(isinstance(each, dict) and "type" in each for each in items):
                items.sort(key=lambda each: (str(each["type"]), repr(each)))
            return items
        if attrs.has(type(value)):
            fields = [field for field in attrs.fields(type(value)) if _counts(field)]
            return {
                field.name: self.of(getattr(value, field.name), field.metadata.get("shape", ""))
                for field in fields
            }
        return value


def _counts(field: attrs.Attribute[Any]) -> bool:
    is_time = field.metadata.get("shape") in TIMES
    return bool(field.eq) and field.name not in LEFT_OUT and not is_time


def _is_within(path: str, own: str) -> bool:
    return path == own or path.startswith(f"{own}.")


def _differing(calm: Any, here: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The path of each difference, and the values there. Of items that have a type each, such as
    conditions, the path names the type."""
    if calm == here:
        return
    typed = _by_type(calm), _by_type(here)
    if None not in typed and typed[0] != typed[1]:  # else they differ in their order
        calm, here = typed
    if isinstance(calm, dict) and isinstance(here, dict):
        for name in sorted({*calm, *here}):
            under = f"{path}.{name}" if path else name
            yield from _differing(calm.get(name), here.get(name), under)
    else:
        yield path, calm, here


def _by_type(items: Any) -> dict[str, Any] | None:
    """The items of a list by their types; None if they have none, or two have the same."""
    if not isinstance(items, list) or not all(isinstance(i, dict) and "type" in i for i in items):
        return None
    found = {str(item["type"]): item for item in items}
    return found if len(found) == len(items) else None


def _shown(there: object, here: object) -> tuple[str, str]:
    """Both values. Of long ones, what they begin with alike is left out."""
    texts = repr(there), repr(here)
    start = 0
    if max(map(len, texts)) > TEXT_MAX:
        pairs = enumerate(zip(*texts, strict=False))
        alike = next((n for n, (was, now) in pairs if was != now), min(map(len, texts)))
        start = max(0, alike - ALIKE_MAX)
    first, second = (f"…{text[start:]}" if start else text for text in texts)
    return _cut(first), _cut(second)


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_MAX else f"{text[: TEXT_MAX - 1]}…"


def _plurals() -> set[str]:
    return {kind.plural for kind in kinds_below() if kind.plural}


def _check_path(path: str) -> None:
    """UnknownName unless it is a field of some kind of object."""
    first, _, rest = path.partition(".")
    kinds = [kind for kind in kinds_below() if kind.plural]
    within = [kind for kind in kinds if kind.plural == first]
    start, own = (f"{first}.", rest) if within else ("", path)
    if any(has_field(kind, own) for kind in within or kinds):
        return
    # As far as it is right, what may stand next is known; else its last word may be a field, too.
    parts = own.split(".")
    right = next(
        n for n in range(len(parts) - 1, -1, -1)
        if not n or any(has_field(kind, ".".join(parts[:n])) for kind in within or kinds)
    )  # fmt: skip
    above = start + "".join(f"{part}." for part in parts[:right])
    known = {above + name for kind in within or kinds for name in fields_below(kind, parts[:right])}
    if not right:
        known |= set() if within else _plurals()
        nested = {f"{start}{each}" for kind in within or kinds for each in fields_within(kind)}
        known |= {each for each in nested if _is_near(each.rpartition(".")[2], parts[-1])}
    see = "name a kind (`leases`), or a field of one (`spec.node_name`, `pods.status.phase`)"
    raise UnknownName("kind or field to leave out", path, sorted(known), see=see)


def _is_near(name: str, asked: str) -> bool:
    return name.replace("_", "") == asked.replace("_", "").lower()


def struck_alike(name: str, faults: int) -> str:
    """`the calm run` or `calm`, as the counterpart of a Run in which faults have struck."""
    return f"{name} with the same {'fault' if faults == 1 else 'faults'}" if faults else name


def confluent(
    *,
    ignoring: Sequence[str] = (),
    unordered: Sequence[str] = (),
    seen_as: Callable[[Evidence], Any] | None = None,
    reads: tuple[str, ...] | None = None,
) -> Confluent:
    """Every Run ends as the calm run does; a Run that faults have struck, as the calm run in which
    the same faults strike at the same points of work. `ignoring` names what may differ: kinds
    (`leases`) and fields (`spec.node_name`, `pods.status`); Events, times, uids and names that a
    server draws are left out by themselves. `unordered` names fields with words or items that may
    stand in any order. If something else is to be alike, the function `seen_as` makes it from the
    Evidence at the end, and says what it `reads` as a claim of `quiescent` does."""
    return Confluent(ignoring, unordered, seen_as, reads)


def _items(value: object) -> list[str] | None:
    """The words of a text, or the items of a list, in one order."""
    if isinstance(value, str):
        return sorted(value.split())
    if isinstance(value, list | tuple):
        return sorted(map(repr, value))
    return None
