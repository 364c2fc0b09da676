"""Columns of all kinds that make pods: the containers of the template, and the selector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from testbed.attended.http.tables.column import NONE, Column, wide
from testbed.objects.labels import ABSENT, EXISTS, IN, LabelSelector
from testbed.objects.pod import Container

WORDS = {IN: "in", "NotIn": "notin"}


def _of_template(item: Any) -> tuple[Container, ...]:
    template = item.spec.template
    return template.spec.containers if template is not None else ()


def listed(labels: Mapping[str, str]) -> str:
    """Labels in one line, sorted: `app=web,tier=db`."""
    return ",".join(f"{name}={labels[name]}" for name in sorted(labels)) or NONE


def selector(given: LabelSelector | Mapping[str, str] | None) -> str:
    """A selector in one line, sorted by label: `app=web,tier in (db,web)`."""
    if given is None or not isinstance(given, LabelSelector):
        return listed(given or {})
    said = [(name, f"{name}={value}") for name, value in given.match_labels.items()]
    for each in given.match_expressions:
        key, values = each.key, ",".join(sorted(each.values))
        alone = {EXISTS: key, ABSENT: f"!{key}"}
        said.append((key, alone.get(each.operator) or f"{key} {WORDS[each.operator]} ({values})"))
    return ",".join(text for _, text in sorted(said, key=lambda pair: pair[0])) or NONE


CONTAINERS = wide("Containers", lambda item, _: ",".join(c.name for c in _of_template(item)))
IMAGES = wide("Images", lambda item, _: ",".join(c.image for c in _of_template(item)))
SELECTOR = wide("Selector", lambda item, _: selector(item.spec.selector))
OF_TEMPLATE: tuple[Column, ...] = (CONTAINERS, IMAGES, SELECTOR)
"""What `-o wide` adds to a kind with a template and a selector."""
