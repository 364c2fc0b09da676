"""Values: the value of a field, as the sentences of a story say it, in words and names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from testbed.objects.affinity import Taint
from testbed.objects.condition import Condition
from testbed.objects.meta import Owner
from testbed.objects.pod import ContainerState, ContainerStatus
from testbed.words import counted

VALUE_MAX = 24
"""A text, or a list of conditions, has at most this many letters."""
LIST_MAX = 48
"""Of any other list as many are named as fit into this many letters, and one in any case."""


def shown(value: object) -> str:
    """A value in words: `"n1"`, `empty`, `Ready=True`, `main running, ready`."""
    if value is None or value in ("", (), {}):
        return "empty"
    if isinstance(value, tuple) and tells_messages(value):
        return _cut(" ".join(map(_item, value)))
    if isinstance(value, tuple):
        return _some([_item(each) for each in value])
    if isinstance(value, Mapping):
        return _some([f"{name}={_bare(each)}" for name, each in value.items()])
    return _item(value) if attrs.has(type(value)) else _cut(_item(value))


def tells_messages(value: object) -> bool:
    """Whether it is a text, or a list of conditions, of which the messages are not shown."""
    each_is = isinstance(value, tuple) and all(isinstance(each, Condition) for each in value)
    return each_is or isinstance(value, str)


def _item(value: Any) -> str:
    """One thing, as people name it."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, Condition):
        # A patch made for another object can leave a condition with a type and no status.
        return f"{value.type}={value.status}" if value.status else f"{value.type} without status"
    if isinstance(value, Taint):
        return f"{value.key}={value.value}:{value.effect}".replace("=:", ":")
    if isinstance(value, ContainerStatus):
        ready = ", ready" if value.ready else ""
        times = f", {counted(value.restart_count, 'restart')}" if value.restart_count else ""
        return f"{value.name} {_state_of(value.state)}{ready}{times}"
    if isinstance(value, Owner):
        return f"{value.kind}/{value.name}"
    if attrs.has(type(value)):
        return str(getattr(value, "name", "")) or _some(_set_fields(value)) or "empty"
    return str(value)


def _state_of(state: ContainerState | None) -> str:
    """The state of a container, without its times."""
    state = state or ContainerState()
    if state.terminated is not None:
        return f"terminated with {state.terminated.exit_code}"
    return "running" if state.running is not None else "waiting"


def _set_fields(value: Any) -> list[str]:
    """What of an object is set: `cpu_m 100`."""
    found = [(field.name, getattr(value, field.name)) for field in attrs.fields(type(value))]
    return [f"{name} {_bare(each)}" for name, each in found if each not in (None, "", (), {})]


def _bare(value: object) -> str:
    """The same within a list: a text stands without quotes."""
    return value if isinstance(value, str) else shown(value)


def _some(items: list[str]) -> str:
    """The first of them, and how many more there are: `a, b and 3 more`."""
    said = items[:1]
    for item in items[1:]:
        if len(", ".join([*said, item])) > LIST_MAX:
            break
        said.append(item)
    left = len(items) - len(said)
    return ", ".join(said) + (f" and {left} more" if left else "")


def _cut(text: str) -> str:
    return text if len(text) <= VALUE_MAX else f"{text[: VALUE_MAX - 1]}…"
