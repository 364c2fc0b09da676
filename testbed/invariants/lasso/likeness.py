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
from collections.abc import Callable, Mapping
from functools import cache
from operator import itemgetter
from typing import Any

import attrs

from testbed.client.audit import unwrapped
from testbed.invariants.lasso.lasting import FROM_NOW, Lasting, Listed
from testbed.invariants.lasso.renaming import Mark, Renaming
from testbed.invariants.lasso.written import Due, Item, Piece, digest_of, order_of, texts_of
from testbed.objects.meta import Map, Revision

NODES_MAX = 1_000_000
"""The most values that are written down; an actor that holds more has a leak."""
PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range, slice})
CODE = (types.CodeType, types.FrameType)
PICKLED = 4
"""The protocol by which an object tells its state."""

StandIns = Mapping[type, Callable[[Any], Any]]
"""What is written instead of an object of that type, or of one derived from it."""
Way = Callable[["Likeness", Any], None]
"""Writes a value of one type."""


class Unlike(Exception):
    """It holds what cannot be compared; the text says what and where."""


class Likeness:
    """Writes values down, part by part; `digests` when all is written."""

    def __init__(
        self,
        stand_ins: StandIns,
        names: Renaming | None = None,
        now_ms: int | None = None,
        lasting: Lasting | None = None,
    ) -> None:
        self._stand_ins = stand_ins
        self._now_ms = now_ms
        """The time of the moment; None: times are written as they are."""
        self._names = Renaming() if names is None else names
        """The texts that only name something."""
        self._lasting = Lasting() if lasting is None else lasting
        self._ways = self._lasting.ways
        self._places: dict[Mark, int] = {}
        """The names in labels, in the order in which they were met."""
        self._parts: dict[str, list[Item]] = {}
        self._part: list[Item] = []
        self._label = ""
        self._met: dict[int, int] = {}
        """By id, the number of each mutable object, in the order in which they were met. So it is
        seen whether two names are of one object or of two that are equal."""
        self._numbered = 0
        """How many have a number, those included that can never be met again."""
        self._known: dict[int, Piece] = {}
        """By id, what is written of an object that never changes."""
        self._shown: dict[int, Piece] = {}
        """By id, what is written of an object for which something else stands."""
        self._kept: list[object] = []
        """All objects by the id of which something is kept."""
        # An id is only the address of an object, and a new object may get it when the old one is
        # gone. Much of what is written lives only here: what stands in for an object, the state
        # that pickling gives. Kept in this list, no object dies before the comparison is over, so
        # no id means two. And no id is written down itself: another process has others.
        self._changing = 0
        """How often something was written that may change, or be written otherwise next time."""
        self._begun = 0
        """How often a part was begun."""
        self._nodes = 0

    def begin(self, label: str) -> None:
        """Begin a part: what is written from now on belongs to it. Its label names a difference."""
        self._begun += 1
        parts = self._names.parts(label)
        if parts != (label,):
            label = "".join(map(self._told, parts))
        self._label = label
        self._part = self._parts.setdefault(label, [])

    def _told(self, part: str | Mark) -> str:
        """A part of a label. Two labels that differ in a name alone are two."""
        if isinstance(part, str):
            return part
        return f"({part.kind}: {self._places.setdefault(part, len(self._places) + 1)})"

    def write(self, value: Any) -> None:
        """Write down a value, and all that it holds."""
        (self._ways.get(type(value)) or self._way(value))(self, value)

    def _way(self, value: Any) -> Way:
        """How to write down what is of that type, from now on."""
        kind = type(value)
        way = self._ways[kind] = self._first_way(kind, value)
        return way

    def _first_way(self, kind: type, value: Any) -> Way:
        if type(unwrapped(value)) is not kind:
            return lambda self, view: self.write(unwrapped(view))
        base = next((each for each in kind.__mro__ if each in self._stand_ins), None)
        if base is not None:
            return lambda self, value: self._instead(value, base)
        if kind in WAYS:
            return WAYS[kind]
        if kind in PLAIN:
            return Likeness._plain
        if issubclass(kind, type | types.ModuleType):
            return Likeness._by_name
        if attrs.has(kind) and kind.__setattr__ is not object.__setattr__:
            self._lasting.plan(kind)
            return Likeness._frozen
        if issubclass(kind, types.CoroutineType | types.GeneratorType):
            return _once(Likeness._suspended)
        return _once(Likeness._pickled)

    def _text(self, text: str) -> None:
        self._part += self._names.said(text)

    def _plain(self, value: Any) -> None:
        self._part.append(f"{type(value).__name__} {value!r}")

    def _nothing(self, _: None) -> None:
        self._part.append("NoneType None")

    def _truth(self, value: bool) -> None:
        self._part.append("bool True" if value else "bool False")

    def _number(self, value: int) -> None:
        self._part.append(f"int {value}")

    def _revision(self, value: Revision) -> None:
        text = value.text
        self._part.append(Mark("rv", int(text)) if text.isdecimal() else f"rv {text!r}")

    def _tuple(self, items: tuple[Any, ...]) -> None:
        self._list("tuple", items)

    def _map(self, value: Map[Any]) -> None:
        keys = self._names.in_order(value)
        self._list("Map", [part for key in keys for part in (key, value[key])])

    def _list(self, kind: str, items: Any) -> None:
        self._part.append(f"{kind} of {len(items)}")
        self._nodes += len(items)
        if self._nodes > NODES_MAX:
            raise Unlike(f"{self._label}: more than {NODES_MAX:,} values")
        ways = self._ways
        for item in items:
            (ways.get(type(item)) or self._way(item))(self, item)

    def _by_name(self, value: Any) -> None:
        self._part.append(f"{type(value).__name__} {_named(value)}")

    def _code(self, value: types.CodeType) -> None:
        self._part.append(f"code of {value.co_qualname}, line {value.co_firstlineno}")

    def _frozen(self, value: Any) -> None:
        """Write what never changes. It is the same wherever it is met, so it is written once; and
        if all that it holds never changes either, once for all moments."""
        piece = self._known.get(id(value))
        if piece is None:
            piece = self._lasting.piece_at(id(value), self._names)
            if piece is None:
                self._write_frozen(value)
                return
            self._known[id(value)] = piece
            self._kept.append(value)
        if not piece.lasts:
            self._changing += 1
        self._part.append(piece)

    def _write_frozen(self, value: Any) -> None:
        part, begun, changing = self._part, self._begun, self._changing
        start, ways = len(part), self._ways
        kind = type(value)
        part.append(_named(kind))
        for name, time, is_age in self._lasting.plans[kind]:
            held = getattr(value, name)
            if not (time or is_age) or type(held) is not int:
                (ways.get(type(held)) or self._way(held))(self, held)
            elif time and self._now_ms is not None:
                part.append(Due(held, time == FROM_NOW))
            elif is_age:
                part.append(Mark("ms", held))
            else:
                self.write(held)
        if self._begun != begun:
            return
        piece = Piece(part[start:])
        part[start:] = [piece]
        piece.lasts = self._changing == changing
        piece.learned = len(self._names.learned)
        self._known[id(value)] = piece
        self._kept.append(value)
        if piece.lasts:
            self._lasting.keep(id(value), value, piece)

    def _instead(self, value: Any, base: type) -> None:
        """Write what stands for a value. Where it is met again, that is the same."""
        self._changing += 1
        piece = self._shown.get(id(value))
        if piece is not None:
            self._numbered += piece.numbered
            self._part.append(piece)
            return
        part, begun, met, numbered = self._part, self._begun, len(self._met), self._numbered
        start = len(part)
        shown = self._stand_ins[base](value)
        if type(shown) is str:
            part += self._names.said(shown)
            return
        self._kept += (value, shown)
        self.write(shown)
        # What it shows of others is written whole the first time, and by its number from then on.
        if self._begun == begun and len(self._met) == met:
            piece = self._shown[id(value)] = Piece(part[start:], self._numbered - numbered)
            part[start:] = [piece]

    def _unordered(self, items: Any) -> None:
        """Write a set. It has no order: of objects that hash by their address it has another one in
        each process. So each member is first written as if it were the only one, and then, in the
        order of these texts, once more: only then does it get its number."""
        kind = type(items)
        self._changing += kind is set
        outside, alone, numbered = self._part, [], self._numbered
        kept = [(each, len(each)) for each in (self._met, self._known, self._shown)]
        for item in items:
            self._part = []
            self.write(item)
            alone.append((order_of(self._part, self._now_ms or 0, self._names), item))
            # What was met last stands last, so this forgets what only this member has shown.
            self._numbered = numbered
            for each, length in kept:
                while len(each) > length:
                    each.popitem()
        self._part = outside
        self._part.append(f"{kind.__name__} of {len(items)}")
        for _, item in sorted(alone, key=itemgetter(0)):
            self.write(item)

    def _is_met(self, value: Any) -> bool:
        """Whether it was met before, so that its number stands for it; else it gets one."""
        self._changing += 1
        met = self._met.get(id(value))
        if met is not None:
            self._part.append(f"met before: {met}")
            return True
        self._met[id(value)] = self._numbered
        self._numbered += 1
        self._kept.append(value)
        return False

    def _items(self, items: list[Any]) -> None:
        self._list("list", items)

    def _listed(self, items: Listed) -> None:
        self._numbered += 1
        self._list("list", items)

    def _pairs(self, pairs: dict[Any, Any]) -> None:
        self._list("dict", [part for item in pairs.items() for part in item])

    def _function(self, value: types.FunctionType) -> None:
        self._part.append(f"function {_named(value)}")
        held = (value.__defaults__, value.__kwdefaults__, value.__closure__)
        self._list("holds", (*held, value.__dict__) if value.__dict__ else held)

    def _method(self, value: Any) -> None:
        self._part.append(f"method {value.__name__}")
        self.write(value.__self__)

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
        label, name, names = self._label, frame.f_code.co_qualname, frame.f_locals
        self._part.append(f"{name} at {frame.f_lasti}")
        for local in sorted(names):  # their own order depends on when each was first seen
            self.begin(f"{label}, `{local}` in {name}")
            self.write(names[local])
        self.begin(f"{label}, a loop in {name}")
        waits: list[object] = []
        known = {id(names), id(frame.f_globals), id(frame.f_builtins)}
        *held, last = gc.get_referents(task)
        # The last is the exception being handled; None if one was, and that is over.
        for other in held if last is None else (*held, last):
            if isinstance(other, types.CoroutineType | types.GeneratorType):
                waits.append(other)
            elif id(other) not in known and not isinstance(other, CODE):
                self.write(other)
        self.begin(label)
        for other in waits:
            self.write(other)

    def _pickled(self, value: Any) -> None:
        kind = type(value)
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
        return {part: digest_of(text.encode()) for part, text in self.texts().items()}

    def texts(self) -> dict[str, str]:
        """What is written of each part, with ranks for what only has an order."""
        return texts_of(self._parts, self._now_ms or 0)


def _once(way: Way) -> Way:
    """A way for what may change: by value the first time, then by its number."""

    def written(self: Likeness, value: Any) -> None:
        if not self._is_met(value):
            way(self, value)

    return written


WAYS: Mapping[type, Way] = {
    str: Likeness._text, Revision: Likeness._revision, type(None): Likeness._nothing,
    bool: Likeness._truth, int: Likeness._number,
    Mark: lambda self, mark: self._part.append(mark),
    tuple: Likeness._tuple, Map: Likeness._map, types.CodeType: Likeness._code,
    set: Likeness._unordered, frozenset: Likeness._unordered, Listed: Likeness._listed,
    list: _once(Likeness._items), dict: _once(Likeness._pairs),
    types.FunctionType: _once(Likeness._function), types.CellType: _once(Likeness._cell),
    types.MethodType: _once(Likeness._method), types.BuiltinMethodType: _once(Likeness._method),
}  # fmt: skip
"""How the types are written that are no class of the testbed's or an actor's."""


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
