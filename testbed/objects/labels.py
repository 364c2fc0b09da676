"""LabelSelector: selects objects by their labels; also parsed from a line of text."""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from testbed.objects.meta import Map, Meta, Object, texts

IN, NOT_IN, EXISTS, ABSENT = "In", "NotIn", "Exists", "DoesNotExist"
MORE, LESS = "Gt", "Lt"
SHOWN = 80
"""How many letters of a bad line an error shows."""
_SIGNS = {"=": IN, "==": IN, "in": IN, "!=": NOT_IN, "notin": NOT_IN, ">": MORE, "<": LESS}
_WORD = re.compile(r"==|!=|[=!(),<>]|[^\s=!(),<>]+")
_KEY = re.compile(r"([a-z0-9][-a-z0-9.]{0,252}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")


Labelled = Mapping[str, str] | Object | Meta
"""Labels, or what has some."""


def meta_of(item: Object | Meta) -> Meta:
    """Return the metadata of an object, or metadata as it is; TypeError for anything else."""
    if isinstance(item, Meta):
        return item
    if isinstance(item, Object):
        return item.meta
    raise TypeError(f"expected an object, such as a Pod, or its `meta`, and got {_shown(item)}")


def labels_of(labels: Labelled) -> Mapping[str, str]:
    """Return the labels of an object, or labels as they are; TypeError for anything else."""
    if isinstance(labels, (dict, Mapping)):
        return labels
    if isinstance(labels, (Object, Meta)):
        return meta_of(labels).labels
    raise TypeError(
        f"expected labels, or an object that has some, such as a Pod, and got {_shown(labels)}"
    )


def _shown(item: object) -> str:
    """What was given; of what the Store or a Change has, the object is its value."""
    next_step = "; next, give its `.value`" if hasattr(item, "value") else ""
    return f"{type(item).__name__}{next_step}"


@attrs.frozen
class Requirement:
    """A requirement on one label."""

    key: str
    """The name of the label."""
    operator: str
    """In, NotIn, Exists or DoesNotExist; for labels of nodes also Gt or Lt with a whole number."""
    values: tuple[str, ...] = ()
    """The values to compare with; none for Exists and DoesNotExist."""

    @property
    def line(self) -> str:
        """The same as it stands in a line: `tier in (a,b)`, `!legacy`."""
        match self.operator:
            case "Exists":
                return self.key
            case "DoesNotExist":
                return f"!{self.key}"
        sign = "in" if self.operator == IN else "notin"
        return f"{self.key} {sign} ({','.join(sorted(self.values))})"

    def holds(self, labels: Labelled) -> bool:
        """Whether these labels, or those of an object, meet it. An absent label is in no list, so
        NotIn holds (API-47), and neither Gt nor Lt does."""
        labels = labels_of(labels)
        has, value = self.key in labels, labels.get(self.key, "")
        match self.operator:
            case "In":
                return has and value in self.values
            case "NotIn":
                return not has or value not in self.values
            case "Exists":
                return has
            case "DoesNotExist":
                return not has
            case "Gt" | "Lt" if has and len(self.values) == 1:
                here, there = _whole(value), _whole(self.values[0])
                if here is None or there is None:
                    return False
                return here > there if self.operator == MORE else here < there
            case _:
                return False


@attrs.frozen
class LabelSelector:
    """Selects the objects whose labels meet all its requirements."""

    match_labels: Map[str] = attrs.field(factory=Map, converter=texts)
    """Labels that must have just these values."""
    match_expressions: tuple[Requirement, ...] = ()
    """Further requirements, all of which must hold."""

    @property
    def is_empty(self) -> bool:
        """Whether it has no requirement. What that means depends on its owner: to a list, all
        objects; to a PodDisruptionBudget, none (API-47)."""
        return not self.match_labels and not self.match_expressions

    @property
    def line(self) -> str:
        """The same as one line, by key: `app=web,tier in (a,b)`."""
        said = {f"{key}={value}": key for key, value in self.match_labels.items()}
        said |= {each.line: each.key for each in self.match_expressions}
        return ",".join(sorted(said, key=lambda one: (said[one], one)))

    def matches(self, labels: Labelled) -> bool:
        """Whether it selects that object, or one with these labels; an empty one selects all."""
        labels = labels_of(labels)
        if any(labels.get(key) != value for key, value in self.match_labels.items()):
            return False
        return all(requirement.holds(labels) for requirement in self.match_expressions)


class _Words:
    """The words of a line, each with its place."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found = [(word[0], word.start()) for word in _WORD.finditer(text)]
        self.found.append(("", len(text)))
        self.n = 0

    @property
    def now(self) -> str:
        """The next word; empty at the end."""
        return self.found[self.n][0]

    def take(self, kind: re.Pattern[str] | str) -> str:
        """The next word; ValueError if it is not of that kind."""
        word, place = self.found[self.n]
        fits = word == kind if isinstance(kind, str) else kind.fullmatch(word)
        if not fits:
            at = repr(self.text[place : place + SHOWN]) if word else "its end"
            raise ValueError(f"a label selector such as app=web,tier!=db, at {at}")
        self.n += bool(word)
        return word


def parse(text: str) -> tuple[Requirement, ...]:
    """The requirements of `app=web,tier!=db,env in (a,b),!legacy`; ValueError says where a line
    goes wrong."""
    words = _Words(text)
    requirements = [_requirement(words)] if words.now else []
    while words.now:
        words.take(",")
        requirements.append(_requirement(words))
    return tuple(requirements)


def _requirement(words: _Words) -> Requirement:
    if words.now == "!":
        words.take("!")
        return Requirement(words.take(_KEY), ABSENT)
    key = words.take(_KEY)
    operator = _SIGNS.get(words.now)
    if operator is None:
        return Requirement(key, EXISTS)
    is_list = words.take(words.now) in ("in", "notin")
    return Requirement(key, operator, _values(words) if is_list else (_value(words),))


def _value(words: _Words) -> str:
    """A value, which may be empty: nothing before the next comma, bracket or end."""
    return "" if words.now in ("", ",", ")") else words.take(_VALUE)


def _values(words: _Words) -> tuple[str, ...]:
    words.take("(")
    values = {_value(words)}
    while words.now != ")":
        words.take(",")
        values.add(_value(words))
    words.take(")")
    return tuple(sorted(values))


def _whole(text: str) -> int | None:
    """A whole number of 64 bits, as Gt and Lt compare; None for any other text."""
    number = int(text) if _WHOLE.fullmatch(text) else None
    return number if number is not None and -(2**63) <= number < 2**63 else None
