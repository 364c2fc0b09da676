"""Selecting: the label selector and the field selector of a list or a watch, as a Selector."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.place import Place, is_of_events_group
from testbed.errors import BadRequest
from testbed.objects import form, labels
from testbed.objects.event import NAMES
from testbed.store.selector import Selector

NAME, NAMESPACE = "meta.name", "meta.namespace"
_TERM = re.compile(r"((?:\\.|[^\\,])*)(,|\Z)", re.DOTALL)
_SIGN = re.compile(r"!=|==|=")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
Value = str | int | bool


@attrs.frozen
class _Term:
    """One condition of a field selector."""

    path: str
    """Dotted, in the names of the testbed."""
    value: Value
    is_equal: bool


def selector_of(request: HttpRequest, place: Place) -> Selector:
    """What the request selects of the place; BadRequest if either selector cannot be read."""
    try:
        required = labels.parse(request.asks("labelSelector"))
    except ValueError as error:
        raise BadRequest(f"unable to parse requirement: expected {error}") from error
    terms = list(_terms(request.asks("fieldSelector"), place))
    name = place.name or _taken(terms, NAME)
    namespace = place.namespace or _taken(terms, NAMESPACE)
    fields = tuple((each.path, each.value) for each in terms if each.is_equal)
    unlike = tuple((each.path, each.value) for each in terms if not each.is_equal)
    return Selector(
        namespace=namespace or None, name=name or None, fields=fields, unlike=unlike,
        labels=required,
    )  # fmt: skip


def _taken(terms: list[_Term], path: str) -> str:
    """The value that a term requires at that path; the term is taken out."""
    # A Selector finds a name or a namespace by their keys, and a field by looking at each object.
    for term in terms:
        if term.path == path and term.is_equal and term.value:
            terms.remove(term)
            return str(term.value)
    return ""


def _terms(text: str, place: Place) -> Iterator[_Term]:
    """The terms of `status.phase!=Failed,spec.nodeName=n1`."""
    for found in _TERM.finditer(text):
        term = found[1]
        if not term:
            continue
        sign = _SIGN.search(term)
        if sign is None:
            raise BadRequest(f"invalid selector: {text!r}; can't understand {term!r}")
        path, hint = _ours(term[: sign.start()], place)
        value = _ESCAPED.sub(r"\1", term[sign.end() :])
        yield _Term(path, _value(value, hint), sign[0] != "!=")


def _ours(path: str, place: Place) -> tuple[str, str]:
    """A path of the wire in the names of the testbed, and what stands there; BadRequest."""
    first, dot, rest = path.partition(".")
    if is_of_events_group(place.resource):
        first = NAMES.get(first, first)
    cls: type | None = place.cls
    names, expected = [], ""
    for part in f"{first}{dot}{rest}".split("."):
        known = {} if cls is None else {each.wire_name: each for each in form.fields_of(cls)}
        if part not in known:
            raise BadRequest(f"field label not supported: {path}")
        names.append(known[part].name)
        expected, cls = known[part].shape.expected, known[part].shape.parts
    return ".".join(names), expected


def _value(text: str, expected: str) -> Value:
    """The value of a term, of the type that its field has."""
    if expected == "true or false" and text in ("true", "false"):
        return text == "true"
    if expected == "a whole number" and text.isdecimal():
        return int(text)
    return text
