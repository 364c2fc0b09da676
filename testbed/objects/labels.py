"""LabelSelector: which objects are meant, by their labels; and the same as a line of text."""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from testbed.objects.meta import Map, texts

IN, NOT_IN, EXISTS, ABSENT = "In", "NotIn", "Exists", "DoesNotExist"
MORE, LESS = "Gt", "Lt"
SHOWN = 80
"""So many letters of a line are shown from where it breaks."""
_SIGNS = {"=": IN, "==": IN, "in": IN, "!=": NOT_IN, "notin": NOT_IN, ">": MORE, "<": LESS}
_WORD = re.compile(r"==|!=|[=!(),<>]|[^\s=!(),<>]+")
_KEY = re.compile(r"([a-z0-9][-a-z0-9.]{0,252}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")


@attrs.frozen
class Requirement:
    """What one label must be."""

    key: str
    operator: str
    """In, NotIn, Exists or DoesNotExist; of a node's labels also Gt or Lt, of a whole number."""
    values: tuple[str, ...] = ()

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels are so. What is absent is not in any list (API-47), and neither
        more nor less than anything."""
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
    """Which objects are meant: those whose labels meet all of it."""

    match_labels: Map[str] = attrs.field(factory=Map, converter=texts)
    match_expressions: tuple[Requirement, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it asks for nothing. What that means is for whoever has it to say: a list takes
        all objects, a budget of disruptions none (API-47)."""
        return not self.match_labels and not self.match_expressions

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels meets it; the empty one is met by all."""
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
        """The next word, which must be such a one."""
        word, place = self.found[self.n]
        fits = word == kind if isinstance(kind, str) else kind.fullmatch(word)
        if not fits:
            at = repr(self.text[place : place + SHOWN]) if word else "its end"
            raise ValueError(f"a label selector such as app=web,tier!=db, at {at}")
        self.n += bool(word)
        return word


def parse(text: str) -> tuple[Requirement, ...]:
    """What `app=web,tier!=db,env in (a,b),!legacy` asks for; ValueError tells where it breaks."""
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
    """A whole number of 64 bits, as Gt and Lt compare; None if it is none."""
    number = int(text) if _WHOLE.fullmatch(text) else None
    return number if number is not None and -(2**63) <= number < 2**63 else None
