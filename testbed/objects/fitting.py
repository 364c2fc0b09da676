"""Fitting: whether each value of an object has the type that its field declares.

Python lets `finalizers="x"` stand where a tuple of texts is meant, and what reads it later takes it
for a tuple of letters. So an object is looked at once where it enters a World: when a scenario adds
it, and when an actor asks to create or update it. A list becomes a tuple and a dict a Map, since
nothing else can be meant; any other misfit is refused. Types that are not in use here, as a kind of
the user's own may have them, are not looked at.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import attrs

from testbed.errors import ScenarioError, shown
from testbed.objects.meta import Map, Object, evolved

T = TypeVar("T")
Test = Callable[[Any], bool]


class Unfit(Exception):
    """A value of the wrong type for its field; it may be deep within an object."""

    def __init__(self, expected: str, found: object, step: str = "") -> None:
        super().__init__(expected, found)
        self.path = ""
        """In the names of Python: `spec.containers[0].name`."""
        self.expected = expected
        self.found = found
        self.next_step = step or f"give it {expected}"

    def within(self, path: str) -> Unfit:
        """The same, of a value that holds the one that does not fit."""
        dot = "." if self.path and not self.path.startswith("[") else ""
        self.path = f"{path}{dot}{self.path}"
        return self

    def of(self, item: object) -> str:
        """The same, with the object that has the value; what is no object has none."""
        return (
            f"{item.kind} {item.meta.name!r}, but {self}" if isinstance(item, Object) else f"{self}"
        )

    def __str__(self) -> str:
        where = f"{self.path} is " if self.path else ""
        return f"{where}{shown(self.found)}: expected {self.expected}"


@attrs.frozen
class _Want:
    """What one field, or one item of it, may be."""

    expected: str
    many: str = "values"
    """The same of several: `texts`."""
    kinds: tuple[type, ...] = ()
    """The classes of its values; empty: any class."""
    is_optional: bool = False
    is_fit: Test | None = None
    """Whether all parts of a value fit; None if it has no parts to look at."""
    mend: Callable[[Any], Any] | None = None
    """The value with all its parts as they are meant; Unfit if one of them does not fit."""
    turns: type | None = None
    """What a list or a dict is turned into; None if neither can be meant."""
    step: Callable[[Any], str] = attrs.field(default=lambda found: "")
    """What to do about a value that does not fit, if there is more to say than what it expects."""

    def mended(self, value: Any) -> Any:
        """The value as it is meant, with all its parts; Unfit if it does not fit."""
        if not self.kinds or (value is None and self.is_optional):
            return value
        if (self.turns, type(value)) in ((tuple, list), (Map, dict)):
            value = self.turns(value)  # type: ignore[misc]
        if not isinstance(value, self.kinds) or (
            isinstance(value, bool) and bool not in self.kinds
        ):
            raise Unfit(self.expected, value, self.step(value))
        return value if self.mend is None else self.mend(value)


def fitted(item: T) -> T:
    """The object itself if each of its values fits; a copy with tuples and Maps where it has lists
    and dicts; or Unfit, also if it is no object at all."""
    try:
        test = _tests_of_objects[type(item)]
    except KeyError:
        if not issubclass(type(item), Object):
            step = 'give it one, such as Node.of("n1", cpu_m=1000)'
            raise Unfit("an object of testbed.objects", item, step) from None
        test = _tests_of_objects[type(item)] = _test_for(type(item))
    return item if test(item) else _mended(item)


def fitted_part(item: T) -> T:
    """The same for an instance of any other class of attrs, such as the settings of a fault."""
    return item if _test_for(type(item))(item) else _mended(item)


def to_add(item: Object) -> Object:
    """The object that is to be added, if each of its values has the type that it should have."""
    try:
        fit = fitted(item)
    except Unfit as unfit:
        raise ScenarioError(
            f"world.add was given {unfit.of(item)}.\nNext: {unfit.next_step}."
        ) from unfit
    if not fit.meta.name:
        raise ScenarioError(
            f"world.add was given a {fit.kind} without a name: expected one, since no server draws "
            f'it here.\nNext: say {fit.kind}("a").'
        )
    return fit


_tests_of_objects: dict[type, Test] = {}
_tests: dict[type, Test] = {}
_wants: dict[type, dict[str, _Want]] = {}


def _test_for(kind: type) -> Test:
    """Whether each value of an instance has exactly the type that it should have."""
    if kind not in _tests:
        _tests[kind] = lambda value: _tests[kind](value)  # where a class has parts of its own kind
        _tests[kind] = _test_of(kind)
    return _tests[kind]


# Objects enter a World in every Run, and a Pod has some sixty values. So for each class one
# expression is made of its fields, as attrs makes its `__init__`; what it takes costs a hundredth
# of a Run. Only what it does not take is looked at value by value.
def _test_of(kind: type) -> Test:
    """One expression for all fields of a class: `type(v.name) is str and …`."""
    known: dict[str, Any] = {}
    parts = []
    for n, (name, want) in enumerate(_wants_of(kind).items()):
        if not want.kinds:
            continue
        known |= {f"k{n}_{m}": each for m, each in enumerate(want.kinds)}
        ways = []
        if want.is_optional:
            ways.append("{} is None")
        elif attrs.has(type(default := attrs.fields_dict(kind)[name].default)):
            known[f"d{n}"] = default
            ways.append(f"{{}} is d{n}")
        ways += [f"type({{}}) is k{n}_{m}" for m in range(len(want.kinds))]
        if want.is_fit is not None:
            known[f"f{n}"] = want.is_fit
            ways[-1] += f" and f{n}(x)" if want.mend is _mended else f" and (not x or f{n}(x))"
        value = f"(x := v.{name})" if len(ways) > 1 or want.is_fit is not None else f"v.{name}"
        first, *others = ways
        parts.append(" or ".join([first.format(value), *(way.format("x") for way in others)]))
    made: Test = eval(f"lambda v: {' and '.join(f'({part})' for part in parts) or True}", known)
    return made


def _wants_of(kind: type) -> dict[str, _Want]:
    """What the fields of a class want, by name."""
    wants = _wants.get(kind)
    if wants is None:
        hints = _hints_of(kind)
        names = [field.name for field in attrs.fields(kind)]
        wants = _wants[kind] = {name: _want(hints.get(name, Any)) for name in names}
    return wants


def _hints_of(kind: type) -> dict[str, Any]:
    """The types of its fields. A class of the user's own may keep them from us, as with a name that
    only a type checker imports; then only those that it inherits."""
    for base in kind.__mro__:
        with suppress(Exception):  # to get them is to evaluate whatever stands there
            return get_type_hints(base)
    return {}


def _mended(item: T) -> T:
    """The same, value by value."""
    # Under an audit, a part may be a view, which names another class as its own.
    changes = {}
    for name, want in _wants_of(item.__class__).items():
        value = getattr(item, name)
        mended = _at(name, want, value)
        if mended is not value:
            changes[name] = mended
    return evolved(item, **changes) if changes else item


def _at(path: str, want: _Want, value: object) -> Any:
    try:
        return want.mended(value)
    except Unfit as unfit:
        raise unfit.within(path) from None


def _want(hint: Any) -> _Want:
    """What a field of that type may be."""
    with suppress(KeyError, TypeError):  # what a class says of a type need not have a hash
        return SCALARS[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    others = [each for each in arguments if each is not types.NoneType]
    if isinstance(hint, types.UnionType) and len(others) == 1:
        return attrs.evolve(_want(others[0]), is_optional=True)
    if origin is tuple and arguments[1:] == (...,):
        return _tuple_of(_want(arguments[0]))
    if origin is Map:
        return _map_of(_want(arguments[0]))
    if isinstance(hint, type) and attrs.has(hint):
        name = hint.__name__
        article = "an" if name[0] in "AEIOU" else "a"
        return _Want(f"{article} {name}", f"{name}s", (hint,), is_fit=_test_for(hint), mend=_mended)
    return ANYTHING


def _tuple_of(item: _Want) -> _Want:
    def mend(values: tuple[Any, ...]) -> tuple[Any, ...]:
        made = [_at(f"[{n}]", item, each) for n, each in enumerate(values)]
        return values if all(map(_is_same, made, values)) else tuple(made)

    def step(found: object) -> str:
        is_one = isinstance(found, item.kinds) and not isinstance(found, bool)
        return f"say ({shown(found)},), as even one of them stands in a tuple" if is_one else ""

    expected = f"a tuple of {item.many}"
    return _Want(expected, "tuples", (tuple,), False, _all_of(item), mend, tuple, step)


def _map_of(item: _Want) -> _Want:
    def mend(values: Map[Any]) -> Map[Any]:
        for name in values:
            if not isinstance(name, str):
                raise Unfit("a text as its name", name, _text(name)).within(f"[{name!r}]")
        made = {name: _at(f"[{name!r}]", item, each) for name, each in values.items()}
        return values if all(map(_is_same, made.values(), values.values())) else Map(made)

    kinds, is_item_fit = item.kinds, item.is_fit

    def is_fit(values: Map[Any]) -> bool:
        for name, each in values.items():
            if type(name) is not str or (kinds and type(each) not in kinds):
                return False
            if is_item_fit is not None and not is_item_fit(each):
                return False
        return True

    return _Want(f"a Map of {item.many}", "Maps", (Map,), False, is_fit, mend, Map)


def _all_of(item: _Want) -> Test:
    """Whether all of some values fit."""
    kinds, is_item_fit = item.kinds, item.is_fit

    def is_fit(values: tuple[Any, ...]) -> bool:
        for each in values:
            if kinds and type(each) not in kinds:
                return False
            if is_item_fit is not None and not is_item_fit(each):
                return False
        return True

    return is_fit


def _is_same(one: object, other: object) -> bool:
    return one is other


def _number(found: object) -> str:
    """How to say a whole number that was given as a text, with a point, or of another class."""
    if isinstance(found, str) and found.strip().removeprefix("-").isdecimal():
        return f"say {int(found)}, without quotes"
    if isinstance(found, float):
        return f"say {int(found)}" if found.is_integer() else ""
    is_number = hasattr(found, "__index__") and not isinstance(found, bool | type)
    return "make it one with int(…)" if is_number else ""


def _text(found: object) -> str:
    return f"say {str(found)!r}" if isinstance(found, int | float) else ""


ANYTHING = _Want("anything")
SCALARS: dict[Any, _Want] = {
    Any: ANYTHING,
    str: _Want("a text", "texts", (str,), step=_text),
    bool: _Want("True or False", "bools", (bool,)),
    int: _Want("a whole number", "whole numbers", (int,), step=_number),
    int | str: _Want("a whole number or a text", "whole numbers or texts", (int, str)),
}
