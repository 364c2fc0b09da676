"""Likeness: a value written down so that two moments of a Run can be compared.

What only counts on is left out or renamed. A revision is its place among the revisions in sight, a
uid the order in which it was met, an age its place among the ages. A time that is to come, or a
lease that runs out, is how far it is from now. What an actor keeps is written by value, as pickling
would write it; a task that is parked, by where it stands and by all that its frames hold.

A frame does not show the iterator of a `for` that is under way, nor the exception being handled.
The garbage collector does: it must know whatever a coroutine refers to. What neither can be read
nor pickled makes the whole Unlike, which is never taken for equal.
"""

from __future__ import annotations

import gc
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from operator import itemgetter
from typing import Any

import attrs

from testbed.client.audit import unwrapped
from testbed.invariants.lasso.renaming import Mark, Renaming
from testbed.objects.meta import Map, Revision

NODES_MAX = 1_000_000
"""The most values that are written down; an actor that holds more has a leak."""
PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range, slice})
FINE = "fine time"
TIMES = ("time", FINE)
"""The shapes of fields that are times; actors compare the fine ones with their clock."""
PICKLED = 4
"""The protocol by which an object tells its state."""

StandIns = Mapping[type, Callable[[Any], Any]]
"""What is written instead of an object of that type, or of one derived from it."""


class Unlike(Exception):
    """It holds what cannot be compared; the text says what and where."""


class Likeness:
    """Writes values down, part by part; `digests` when all is written."""

    def __init__(
        self, stand_ins: StandIns, names: Renaming | None = None, now_ms: int | None = None
    ) -> None:
        self._stand_ins = stand_ins
        self._now_ms = now_ms
        """The time of the moment; None: times are written as they are."""
        self._names = Renaming() if names is None else names
        """The texts that only name something."""
        self._places: dict[Mark, int] = {}
        """The names in labels, in the order in which they were met."""
        self._parts: dict[str, list[str | Mark]] = {}
        self._part: list[str | Mark] = []
        self._label = ""
        self._met: dict[int, int] = {}
        """By id, the number of each mutable object, in the order in which they were met. So it is
        seen whether two names are of one object or of two that are equal."""
        self._known: dict[int, list[str | Mark]] = {}
        """By id, what is written of an object that never changes."""
        self._ways: dict[type, Callable[[Any, type], None]] = {}
        """How each type that was met is written."""
        self._kept: list[object] = []
        """All objects by the id of which something is kept."""
        # An id is only the address of an object, and a new object may get it when the old one is
        # gone. Much of what is written lives only here: what stands in for an object, the state
        # that pickling gives. Kept in this list, no object dies before the comparison is over, so
        # no id means two. And no id is written down itself: another process has others.
        self._nodes = 0

    def begin(self, label: str) -> None:
        """Begin a part: what is written from now on belongs to it. Its label names a difference."""
        self._label = label = "".join(map(self._told, self._names.parts(label)))
        self._part = self._parts.setdefault(label, [])

    def _told(self, part: str | Mark) -> str:
        """A part of a label. Two labels that differ in a name alone are two."""
        if isinstance(part, str):
            return part
        return f"({part.kind}: {self._places.setdefault(part, len(self._places) + 1)})"

    def write(self, value: Any) -> None:
        """Write down a value, and all that it holds."""
        self._nodes += 1
        if self._nodes > NODES_MAX:
            raise Unlike(f"{self._label}: more than {NODES_MAX:,} values")
        kind = type(value)
        if kind is str:
            self._text(value)
        elif kind in PLAIN:
            self._part.append(f"{kind.__name__} {value!r}")
        elif kind is Revision:
            text = value.text
            self._part.append(Mark("rv", int(text)) if text.isdecimal() else f"rv {text!r}")
        elif kind is Mark:
            self._part.append(value)
        else:
            self._write_made(value, kind)

    def _text(self, text: str) -> None:
        parts = self._names.parts(text)
        if len(parts) > 1:
            self._part.append(f"str of {len(parts)}")
        self._part += [p if isinstance(p, Mark) else f"str {p!r}" for p in parts]

    def _write_made(self, value: Any, kind: type) -> None:
        value = unwrapped(value)
        kind = type(value)
        way = self._ways.get(kind)
        if way is None:
            way = self._ways[kind] = self._way(kind)
        way(value, kind)

    def _way(self, kind: type) -> Callable[[Any, type], None]:
        """How to write down what is of that type."""
        if any(each in self._stand_ins for each in kind.__mro__):
            return self._instead
        if kind in (Map, tuple):
            return self._in_order
        if kind in (set, frozenset):
            return self._unordered
        if kind is types.CodeType:
            return self._code
        if issubclass(kind, type | types.ModuleType):
            return self._by_name
        if attrs.has(kind) and kind.__setattr__ is not object.__setattr__:
            return self._frozen
        return self._write_once

    def _instead(self, value: Any, kind: type) -> None:
        stand_in = next(self._stand_ins[each] for each in kind.__mro__ if each in self._stand_ins)
        shown = stand_in(value)
        self._kept.append(shown)
        self.write(shown)

    def _in_order(self, value: Any, kind: type) -> None:
        if kind is Map:
            keys = sorted(value, key=self._names.place)
            value = [part for key in keys for part in (key, value[key])]
        self._list(kind.__name__, value)

    def _by_name(self, value: Any, kind: type) -> None:
        self._part.append(f"{kind.__name__} {_named(value)}")

    def _code(self, value: Any, kind: type) -> None:
        self._part.append(f"code of {value.co_qualname}, line {value.co_firstlineno}")

    def _frozen(self, value: Any, kind: type) -> None:
        """Write what never changes. It is the same wherever it is met, so it is written once."""
        written = self._known.get(id(value))
        if written is None:
            outside, self._part = self._part, []
            self._part.append(_named(kind))
            for field in attrs.fields(kind):
                self._field(field, getattr(value, field.name))
            written, self._part = self._part, outside
            self._known[id(value)] = written
            self._kept.append(value)
        self._part.extend(written)

    def _field(self, field: attrs.Attribute[Any], value: Any) -> None:
        name, shape, now_ms = field.name, field.metadata.get("shape"), self._now_ms
        if type(value) is not int:
            self.write(value)
        elif shape in TIMES and now_ms is not None and (shape == FINE or name == "deleted_ms"):
            self._part.append(f"{value - now_ms} ms from now")
        elif shape in TIMES and now_ms is not None and value > now_ms:
            self._part.append(f"in {value - now_ms} ms")
        elif (shape in TIMES and now_ms is not None) or (
            name == "created_ms" or name.endswith("_at_ms")
        ):
            self._part.append(Mark("ms", value))
        else:
            self.write(value)

    def _list(self, kind: str, items: Any) -> None:
        self._part.append(f"{kind} of {len(items)}")
        for item in items:
            self.write(item)

    def _unordered(self, items: Any, kind: type) -> None:
        """Write a set. It has no order: of objects that hash by their address it has another one in
        each process. So each member is first written as if it were the only one, and then, in the
        order of these texts, once more: only then does it get its number."""
        outside, alone = self._part, []
        met, known = len(self._met), len(self._known)
        for item in items:
            self._part = []
            self.write(item)
            alone.append((self._order(self._part), item))
            # What was met last stands last, so this forgets what only this member has shown.
            while len(self._met) > met:
                self._met.popitem()
            while len(self._known) > known:
                self._known.popitem()
        self._part = outside
        self._part.append(f"{kind.__name__} of {len(items)}")
        for _, item in sorted(alone, key=itemgetter(0)):
            self.write(item)

    def _order(self, part: Sequence[str | Mark]) -> tuple[list[str], list[int]]:
        """What a member of a set is sorted by: what it says, then what of it means only an order,
        then the age of what it names."""
        texts = [item.kind if isinstance(item, Mark) else item for item in part]
        values = [item.value for item in part if isinstance(item, Mark)]
        numbers = [value for value in values if isinstance(value, int)]
        ages = [self._names.number(value) for value in values if isinstance(value, str)]
        return texts, numbers + ages

    def _write_once(self, value: Any, kind: type) -> None:
        """Write what may change or may hold itself: by value the first time, then by its number."""
        met = self._met.get(id(value))
        if met is not None:
            self._part.append(f"met before: {met}")
            return
        self._met[id(value)] = len(self._met)
        self._kept.append(value)
        if kind in (list, dict):
            items = value if kind is list else [part for item in value.items() for part in item]
            self._list(kind.__name__, items)
        elif isinstance(value, types.CoroutineType | types.GeneratorType):
            self._suspended(value)
        elif isinstance(value, types.FunctionType):
            self._part.append(f"function {_named(value)}")
            self._list("holds", (value.__defaults__, value.__kwdefaults__, value.__closure__))
        elif isinstance(value, types.MethodType | types.BuiltinMethodType):
            self._part.append(f"method {value.__name__}")
            self.write(value.__self__)
        elif isinstance(value, types.CellType):
            self._cell(value)
        else:
            self._pickled(value, kind)

    def _cell(self, cell: types.CellType) -> None:
        try:
            held = cell.cell_contents
        except ValueError:
            self._part.append("cell, empty")
        else:
            self.write(held)

    def _suspended(self, task: Any) -> None:
        """Where it is parked, its locals by name, and what else it refers to."""
        is_generator = isinstance(task, types.GeneratorType)
        frame = task.gi_frame if is_generator else task.cr_frame
        if frame is None:
            self._part.append("ended")
            return
        if not sees_loops():
            raise Unlike(f"{self._label}: this Python hides how far a loop is")
        label, name = self._label, frame.f_code.co_qualname
        names = frame.f_locals
        self._part.append(f"{name} at {frame.f_lasti}")
        for local in list(names):
            self.begin(f"{label}, `{local}` in {name}")
            self.write(names[local])
        self.begin(f"{label}, a loop in {name}")
        waits: list[object] = []
        for other in gc.get_referents(task):
            is_known = any(other is one for one in (names, frame.f_globals, frame.f_builtins))
            if isinstance(other, types.CoroutineType | types.GeneratorType):
                waits.append(other)
            elif not is_known and not isinstance(other, types.CodeType | types.FrameType):
                self.write(other)
        self.begin(label)
        for other in waits:
            self.write(other)

    def _pickled(self, value: Any, kind: type) -> None:
        try:
            state = value.__reduce_ex__(PICKLED)
            if isinstance(state, tuple):
                state = tuple(s if n < 3 or s is None else list(s) for n, s in enumerate(state))
        except Exception as error:
            raise Unlike(f"{self._label}: {_named(kind)} shows no state to compare") from error
        self._kept.append(state)
        self._part.append(_named(kind))
        self.write(state)

    def digests(self) -> dict[str, str]:
        """A digest for each part: the same for equal parts, and for no others."""
        return {part: digest_of("\0".join(t).encode()) for part, t in self.texts().items()}

    def texts(self) -> dict[str, list[str]]:
        """What is written of each part, with ranks for what only has an order."""
        marks: dict[str, set[Any]] = {}
        for part in self._parts.values():
            for item in part:
                if type(item) is Mark and type(item.value) is not str:
                    marks.setdefault(item.kind, set()).add(item.value)
        ranks: dict[tuple[str, Any], int] = {}
        for kind, values in marks.items():
            ranks |= {(kind, value): rank for rank, value in enumerate(sorted(values))}
        numbers = len(ranks)
        found = {}
        for label, part in self._parts.items():
            texts = found[label] = list[str]()
            for item in part:
                if isinstance(item, Mark):
                    rank = ranks.setdefault((item.kind, item.value), len(ranks) - numbers)
                    texts.append(f"{item.kind} #{rank}")
                else:
                    texts.append(item)
        return found


def digest_of(text: bytes) -> str:
    """Sixteen hexadecimal digits."""
    return blake2b(text, digest_size=8).hexdigest()


@cache
def sees_loops() -> bool:
    """Whether this Python shows how far a loop in a parked task has come; found by trying it."""

    async def loops() -> None:
        for _ in [None, None, None]:
            await _Parked()

    task = loops()
    task.send(None)
    digests = []
    for _ in range(2):
        likeness = Likeness({})
        likeness.begin("")
        for held in gc.get_referents(task):
            if not isinstance(held, types.CodeType | types.FrameType | types.GeneratorType | dict):
                likeness.write(held)
        digests.append(likeness.digests())
        task.send(None)
    task.close()
    return digests[0] != digests[1]


class _Parked:
    def __await__(self) -> Any:
        yield


def _named(value: Any) -> str:
    module = getattr(value, "__module__", "")
    return f"{module}.{getattr(value, '__qualname__', getattr(value, '__name__', '?'))}"
