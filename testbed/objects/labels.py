"""LabelSelector: which objects are meant, by their labels; and the same as a line of text."""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from testbed.objects.meta import Map, texts

IN, NOT_IN, EXISTS, ABSENT = "In", "NotIn", "Exists", "DoesNotExist"
OPERATORS = (IN, NOT_IN, EXISTS, ABSENT)
_ONE = re.compile(
    r"\s*(?:(?P<not>!)\s*)?(?P<key>[A-Za-z0-9][-A-Za-z0-9_./]*)\s*"
    r"(?:(?P<sign>==|=|!=)\s*(?P<value>[-A-Za-z0-9_.]*)|(?P<word>in|notin)\s*\((?P<values>[^()]*)\))?\s*(?:,|$)"
)


@attrs.frozen
class Requirement:
    """What one label must be."""

    key: str
    operator: str
    """In, NotIn, Exists or DoesNotExist."""
    values: tuple[str, ...] = ()

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels are so. What is absent is not in any list (API-47)."""
        if self.operator == IN:
            return labels.get(self.key) in self.values
        if self.operator == NOT_IN:
            return labels.get(self.key) not in self.values
        return (self.key in labels) == (self.operator == EXISTS)


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


def parse(text: str) -> tuple[Requirement, ...]:
    """What `app=web,tier!=db,env in (a,b),!legacy` asks for; ValueError tells where it breaks."""
    requirements, place = [], 0
    while place < len(text):
        found = _ONE.match(text, place)
        if found is None or (found["not"] and (found["sign"] or found["word"])):
            raise ValueError(f"a label selector such as app=web,tier!=db, at {text[place:]!r}")
        place = found.end()
        requirements.append(_requirement(found))
    return tuple(requirements)


def _requirement(found: re.Match[str]) -> Requirement:
    key = found["key"]
    if found["sign"]:
        return Requirement(key, NOT_IN if found["sign"] == "!=" else IN, (found["value"],))
    if found["word"]:
        values = tuple(sorted(value.strip() for value in found["values"].split(",")))
        return Requirement(key, IN if found["word"] == "in" else NOT_IN, values)
    return Requirement(key, ABSENT if found["not"] else EXISTS)
