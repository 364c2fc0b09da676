"""Quick: a constructor for frozen classes that does not call out for each field (see `twin.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import attrs

from testbed.code.twin import open_twin
from testbed.errors import HarnessBug

T = TypeVar("T")
_SET_CLASS = object.__dict__["__class__"].__set__


# Nothing else can see the object while it is of its twin, except for defaults that are worked out
# from the object itself and for `__attrs_post_init__`: these come after.
def quick(frozen: type[T]) -> type[T]:
    """Give a class of `@attrs.frozen` a quick constructor, and return it.

    It takes the same arguments, with the same defaults and converters; one with validators is
    refused.
    """
    if hasattr(frozen, "__attrs_pre_init__") or "__dict__" in dir(frozen):
        raise HarnessBug(f"{frozen.__name__}: expected @attrs.frozen, with slots alone")
    known: dict[str, Any] = {
        "_open": _SET_CLASS,
        "_twin": open_twin(frozen),
        "_frozen": frozen,
        "_usual": frozen.__init__,
        "_set": object.__setattr__,
        "_nothing": attrs.NOTHING,
    }
    text = "\n".join(_lines(frozen, known))
    scope: dict[str, Any] = {}
    exec(compile(text, f"<attrs quick init {frozen.__qualname__}>", "exec"), known, scope)
    made: Callable[..., None] = scope["__init__"]
    made.__annotations__ = frozen.__init__.__annotations__
    made.__qualname__ = f"{frozen.__qualname__}.__init__"
    made.__module__ = frozen.__module__
    frozen.__init__ = made  # type: ignore[method-assign]
    return frozen


def _lines(frozen: type, known: dict[str, Any]) -> Iterator[str]:
    """The lines of the constructor; what they name beside its arguments is added to `known`."""
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(frozen)
    ordered = [field for field in fields if field.init and not field.kw_only]
    by_name = [field for field in fields if field.init and field.kw_only]
    arguments = ["self", *(_argument(field, known) for field in ordered)]
    if by_name:
        arguments += ["*", *(_argument(field, known) for field in by_name)]
    yield f"def __init__({', '.join(arguments)}):"
    passed = [*(_name(each) for each in ordered), *(f"{_name(e)}={_name(e)}" for e in by_name)]
    # A class below it, without an `__init__` of its own, is none that this one could open.
    yield "    if self.__class__ is not _frozen:"
    yield f"        return _usual(self, {', '.join(passed)})"
    yield "    _open(self, _twin)"
    late: list[str] = []
    for field in fields:
        if field.validator is not None or isinstance(field.converter, attrs.Converter):
            raise HarnessBug(f"{frozen.__name__}.{field.name}: a quick constructor only converts")
        value = _name(field)
        default: Any = field.default
        if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
            made = f"_make_{field.name}({'self' if default.takes_self else ''})"
            known[f"_make_{field.name}"] = default.factory
            value = f"{made} if {value} is _nothing else {value}" if field.init else made
        elif not field.init:
            value = f"_default_{field.name}"
            known[value] = default
        if field.converter is not None:
            known[f"_convert_{field.name}"] = field.converter
            value = f"_convert_{field.name}({value})"
        if getattr(default, "takes_self", False):
            late.append(f"    _set(self, {field.name!r}, {value})")
        else:
            yield f"    self.{field.name} = {value}"
    yield "    self.__class__ = _frozen"
    yield from late
    if hasattr(frozen, "__attrs_post_init__"):
        yield "    self.__attrs_post_init__()"


def _name(field: attrs.Attribute[Any]) -> str:
    """What its argument is called."""
    return field.alias or field.name


def _argument(field: attrs.Attribute[Any], known: dict[str, Any]) -> str:
    """How it takes a field, with the default that attrs would give it."""
    name = _name(field)
    if field.default is attrs.NOTHING:
        return name
    if isinstance(field.default, attrs.Factory):  # type: ignore[arg-type]
        return f"{name}=_nothing"
    known[f"_default_{field.name}"] = field.default
    return f"{name}=_default_{field.name}"
