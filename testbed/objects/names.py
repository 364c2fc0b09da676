"""Names: which names Kubernetes lets an object have, and every other text that stands for one.

A name may become a part of a path, a line of a table, a key of a selector. So each is held to one
of a few grammars, in one table: RULES says which, by class and field. Its words are Kubernetes'.

1. A *subdomain* names an object: `web-1.example`. A *label* is a part of one, and names a namespace
   and a container.
2. A *qualified name* is a key of labels, taints and finalizers: `example.com/MyName`.
3. What a label or a taint says of such a key is a *label value*: `MyValue`, or nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import zip_longest
from typing import Any, NamedTuple

from testbed.code.copier import values_of
from testbed.code.printable import in_line
from testbed.objects.affinity import PodAffinityTerm, Taint, Toleration, TopologySpreadConstraint
from testbed.objects.config import ConfigMap
from testbed.objects.form import field_by_wire_name
from testbed.objects.labels import LabelSelector, Requirement
from testbed.objects.meta import Meta, Object, Owner
from testbed.objects.namespace import Namespace, NamespaceSpec
from testbed.objects.pod import Container, PodSpec, PodStatus, Port, Resources, SchedulingGate
from testbed.objects.quota import QuotaSpec
from testbed.objects.watched import WatchedText, size_of
from testbed.objects.workload import ReplicationControllerSpec

NAME_MAX, LABEL_MAX, PORT_MAX, ANNOTATIONS_MAX = 253, 63, 15, 256 * 1024
KNOWN_MAX = 65_536
"""How many texts are remembered with what is wrong with them."""
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_LABEL_ALONE = re.compile(_LABEL)
_PORT = re.compile(r"(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*")
_DATA_KEY = re.compile(r"[-._a-zA-Z0-9]+")

NOT_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',"
    " and must start and end with an alphanumeric character"
)
NOT_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must"
    " start and end with an alphanumeric character"
)
NOT_KEY = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end"
    " with an alphanumeric character"
)
NOT_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.',"
    " and must start and end with an alphanumeric character"
)
NOT_PORT = (
    "must contain only alphanumeric characters (a-z, 0-9), and hyphens (-), single ones between "
    "them, and at least one letter"
)
NOT_DATA_KEY = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.', and must not be "
    "'.' or '..'"
)

Grammar = Callable[[str], str]
"""From a text to what is wrong with it; empty if nothing is."""
Rule = Callable[[Any, str], Iterator[str]]
"""From the value of a field and its path to a line for each mistake."""


# -- grammars -------------------------------------------------------------------------------------


def _too_long(most: int) -> str:
    return f"must be no more than {most} characters"


@lru_cache(KNOWN_MAX)
def wrong_in_subdomain(name: str) -> str:
    """What is wrong with the name of an object, or an empty text (API-10)."""
    if len(name) > NAME_MAX:
        return _too_long(NAME_MAX)
    return "" if _SUBDOMAIN.fullmatch(name) else NOT_SUBDOMAIN


def wrong_in_label(name: str) -> str:
    """What is wrong with the name of a namespace or a container, or an empty text."""
    if len(name) > LABEL_MAX:
        return _too_long(LABEL_MAX)
    return "" if _LABEL_ALONE.fullmatch(name) else NOT_LABEL


@lru_cache(KNOWN_MAX)
def wrong_in_key(key: str) -> str:
    """What is wrong with a qualified name, or an empty text."""
    prefix, slash, name = key.rpartition("/")
    if slash and (wrong := wrong_in_subdomain(prefix)):
        return f"prefix part {wrong}"
    if len(name) > LABEL_MAX:
        return f"name part {_too_long(LABEL_MAX)}"
    return "" if _QUALIFIED.fullmatch(name) else NOT_KEY


@lru_cache(KNOWN_MAX)
def wrong_in_value(value: str) -> str:
    """What is wrong with the value of a label, or an empty text."""
    if len(value) > LABEL_MAX:
        return _too_long(LABEL_MAX)
    return "" if not value or _QUALIFIED.fullmatch(value) else NOT_VALUE


def _wrong_in_port(name: str) -> str:
    if len(name) > PORT_MAX:
        return _too_long(PORT_MAX)
    return "" if _PORT.fullmatch(name) else NOT_PORT


def _wrong_in_data_key(key: str) -> str:
    if len(key) > NAME_MAX:
        return _too_long(NAME_MAX)
    return "" if _DATA_KEY.fullmatch(key) and key not in (".", "..") else NOT_DATA_KEY


def _wrong_in_annotation(key: str) -> str:
    return wrong_in_key(key.lower())


# -- rules ----------------------------------------------------------------------------------------


def _said(path: str, value: str, wrong: str) -> str:
    return f"{path}: Invalid value: {in_line(json.dumps(value, ensure_ascii=False))}: {wrong}"


def _one(grammar: Grammar) -> Rule:
    """The rule for a text that may be empty, which then says nothing."""

    def rule(value: str, path: str) -> Iterator[str]:
        if type(value) is WatchedText and value.number >= 0:
            return  # any number from nought on is as good a text
        if value and (wrong := grammar(value)):
            yield _said(path, value, wrong)

    return rule


def _key(value: str, path: str) -> Iterator[str]:
    if wrong := wrong_in_key(value):
        yield _said(path, value, wrong)


def _each(grammar: Grammar) -> Rule:
    """The rule for a list of texts."""

    def rule(values: Iterable[str], path: str) -> Iterator[str]:
        for place, value in enumerate(values):
            if wrong := grammar(value):
                yield _said(f"{path}[{place}]", value, wrong)

    return rule


def _keys(grammar: Grammar) -> Rule:
    """The rule for the keys of a mapping."""

    def rule(values: Mapping[str, Any], path: str) -> Iterator[str]:
        for key in values:
            if wrong := grammar(key):
                yield _said(path, key, wrong)

    return rule


def _labels(labels: Mapping[str, str], path: str) -> Iterator[str]:
    for key, value in labels.items():
        if wrong := wrong_in_key(key):
            yield _said(path, key, wrong)
        if type(value) is WatchedText and value.number >= 0:
            continue  # any number from nought on is as good a value
        if wrong := wrong_in_value(value):
            yield _said(path, value, wrong)


def _annotations(annotations: Mapping[str, str], path: str) -> Iterator[str]:
    yield from _keys(_wrong_in_annotation)(annotations, path)
    if sum(size_of(k) + size_of(v) for k, v in annotations.items()) > ANNOTATIONS_MAX:
        yield f"{path}: Too long: must have at most {ANNOTATIONS_MAX} bytes"


def _given(value: str, path: str) -> Iterator[str]:
    """The rule for a text that may be anything but empty: of an owner nothing more is asked."""
    if not value:
        yield _said(path, value, f"{path.rpartition('.')[2]} must not be empty")


LABEL, SUBDOMAIN, VALUE = _one(wrong_in_label), _one(wrong_in_subdomain), _one(wrong_in_value)
RULES: dict[type, dict[str, Rule]] = {
    Meta: {"labels": _labels, "annotations": _annotations, "finalizers": _each(wrong_in_key)},
    Owner: {"kind": _given, "name": _given, "uid": _given},
    NamespaceSpec: {"finalizers": _each(wrong_in_key)},
    Taint: {"key": _key, "value": VALUE},
    Toleration: {"key": _one(wrong_in_key), "value": VALUE},
    LabelSelector: {"match_labels": _labels},
    Requirement: {"key": _key},
    ReplicationControllerSpec: {"selector": _labels},
    PodAffinityTerm: {"topology_key": _key, "namespaces": _each(wrong_in_label)},
    TopologySpreadConstraint: {"topology_key": _key, "match_label_keys": _each(wrong_in_key)},
    PodSpec: {
        "node_name": SUBDOMAIN, "priority_class_name": SUBDOMAIN, "node_selector": _labels,
        "overhead": _keys(wrong_in_key),
    },
    PodStatus: {"nominated_node_name": SUBDOMAIN},
    Container: {"name": LABEL},
    Port: {"name": _one(_wrong_in_port)},
    Resources: {"limits": _keys(wrong_in_key), "requests": _keys(wrong_in_key)},
    SchedulingGate: {"name": _key},
    QuotaSpec: {"hard": _keys(wrong_in_key)},
    ConfigMap: {"data": _keys(_wrong_in_data_key), "binary_data": _keys(_wrong_in_data_key)},
}  # fmt: skip
"""By class and field, what its text is held to; the name of an object goes by its kind."""
NAMED_BY: dict[type, Grammar] = {Namespace: wrong_in_label}
"""The kinds of which a name is no subdomain."""


# -- whole objects --------------------------------------------------------------------------------


class _Step(NamedTuple):
    """One field of a class that has a rule, or that leads to one that has."""

    wire: str
    rule: Rule | None
    is_list: bool


def wrong_names(item: Object, old: Object | None = None) -> Iterator[str]:
    """A line for each name in an object that Kubernetes refuses, with its path. With `old`, only of
    what is otherwise there: nobody is refused for what was there before."""
    meta = item.meta
    if old is None:
        wrong = NAMED_BY.get(type(item), wrong_in_subdomain)(meta.name)
        if wrong:
            yield _said("metadata.name", meta.name, wrong)
        if item.is_namespaced:
            yield from LABEL(meta.namespace, "metadata.namespace")
    yield from _within(item, old, "")


def _within(value: Any, old: Any, path: str) -> Iterator[str]:
    steps, parts_of = _steps(value.__class__)
    parts = parts_of(value)
    before = parts_of(old) if old.__class__ is value.__class__ else (None,) * len(parts)
    for (wire, rule, is_list), part, was in zip(steps, parts, before, strict=True):
        if part is was or part is None or part == was:
            continue
        here = f"{path}.{wire}" if path else wire
        if rule is not None:
            yield from rule(part, here)
        elif is_list:
            # Place by place: to look for each in all of them would take for ever in a long list.
            for place, (each, last) in enumerate(zip_longest(part, (was or ())[: len(part)])):
                if each is not last and each != last:
                    yield from _within(each, last, f"{here}[{place}]")
        else:
            yield from _within(part, was, here)


@lru_cache(None)
def _steps(kind: type) -> tuple[tuple[_Step, ...], Callable[[Any], tuple[Any, ...]]]:
    """The fields of a class that lead to names, in the order of the class, and what returns their
    values in an object of it."""
    rules, names, found = RULES.get(kind, {}), [], []
    for wire, field in field_by_wire_name(kind).items():
        rule, shape = rules.get(field.name), field.shape
        if rule is not None or (shape.parts is not None and _steps(shape.parts)[0]):
            names.append(field.name)
            found.append(_Step(wire, rule, shape.is_list))
    return tuple(found), values_of(names)
