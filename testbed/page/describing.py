"""Describing: one version of an object in words and fields, as a page shows it.

Pods and nodes have words of their own. Any other kind is described by its own fields, whatever they
are, so that a kind of the user's own needs nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from testbed.objects.condition import Condition
from testbed.objects.meta import field_of
from testbed.objects.node import Node, room_of
from testbed.objects.pod import RUNNING, Pod, requests_of
from testbed.objects.quantity import CPU
from testbed.store.change import Entry, plural_of
from testbed.story.values import shown

FIELDS_MAX = 12
VALUE_MAX = 80
SAID_MAX = 3
"""An object of any other kind is told by at most this many fields."""
DEEP_MAX = 4
DELETED = "meta.deleted_ms"
FIRST = (
    "status.phase", "spec.node_name", "status.nominated_node_name", DELETED, "status.reason",
    "spec.priority", "requests.cpu", "requests.memory", "meta.finalizers", "spec.unschedulable",
    "status.allocatable.cpu", "status.allocatable.memory", "spec.taints", "status.conditions",
)  # fmt: skip
"""The fields that are shown before all others."""
NO_NEWS = (
    "spec.containers", "spec.init_containers", "spec.tolerations", "status.capacity",
    "status.qos_class",
)  # fmt: skip
"""Fields that say little, or the same as others that are shown."""
USUAL = {
    "spec.scheduler_name": "default-scheduler",
    "spec.preemption_policy": "PreemptLowerPriority",
    "spec.restart_policy": "Always",
    "spec.grace_s": "30",
}
"""Fields that are left out while they are as an API server sets them."""
KEPT_META = ("deleted_ms", "grace_s", "finalizers", "owners", "labels")
"""Of the Meta of an object only these are shown; also of a template in it."""
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
"""Where a value of the user's own lies in memory: that is another place in each process."""


def described(entry: Entry) -> dict[str, Any]:
    """That version of the object, as a page shows it."""
    value = entry.value
    fields = list(_fields(value))
    return {
        "key": entry.key,
        "kind": plural_of(entry.key),
        "name": entry.key.rpartition("/")[2],
        "rv": entry.revision,
        "said": cut(_said(value, fields)),
        "state": _state(value),
        "node": value.spec.node_name if isinstance(value, Pod) else "",
        "cpu": _cpu(value),
        "fields": [[path, cut(text)] for path, text in fields[:FIELDS_MAX]],
    }


def is_deleted(entry: Entry | None) -> bool:
    """Whether there is an object and its deletion was requested."""
    return entry is not None and field_of(entry.value, DELETED) is not None


def cut(text: str, most: int = VALUE_MAX) -> str:
    """The text on one line, and no longer than that."""
    text = ADDRESS.sub("", " ".join(text.split()))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _state(value: object) -> str:
    if isinstance(value, Pod) and value.is_over:
        return "over"
    if field_of(value, DELETED) is not None:
        return "terminating"
    if not isinstance(value, Pod):
        return "plain"
    return "running" if value.status.phase == RUNNING else "pending"


def _cpu(value: object) -> int:
    if isinstance(value, Pod):
        return requests_of(value).get(CPU, 0)
    return room_of(value).get(CPU, 0) if isinstance(value, Node) else 0


def _said(value: object, fields: list[tuple[str, str]]) -> str:
    """The object in a few words."""
    if isinstance(value, Pod):
        said = [value.status.phase or "no phase"]
        said[0] += f" on {value.spec.node_name}" if value.spec.node_name else ""
        nominated = value.status.nominated_node_name
        said += [f"nominated to {nominated}"] if nominated and not value.spec.node_name else []
        said += [value.status.reason] if value.status.reason else []
    elif isinstance(value, Node):
        has = sorted(value.status.allocatable.items())
        said = [f"{amount} {name}" for name, amount in has if amount]
        said += ["cordoned"] if value.spec.unschedulable else []
        said += [f"{each.type}={each.status}" for each in value.status.conditions]
        said += ["tainted"] if value.spec.taints else []
    else:
        own = [each for each in fields if not each[0].startswith("meta.")]
        said = [f"{path.rpartition('.')[2]} {text}" for path, text in own[:SAID_MAX]]
    if field_of(value, DELETED) is not None:
        said.append("terminating")
    return ", ".join(said) or "empty"


def _fields(value: object) -> Iterator[tuple[str, str]]:
    """Its fields that are set, by dotted paths; those of `FIRST` before all others."""
    leaves = [(path, text) for path, text in _leaves(value, "", DEEP_MAX) if _matters(path)]
    found = {path: text for path, text in leaves if USUAL.get(path) != text}
    if isinstance(value, Pod):
        found |= {
            f"requests.{name}": f"{amount}m" if name == CPU else str(amount)
            for name, amount in sorted(requests_of(value).items())
        }
    first = [path for path in FIRST if path in found]
    for path in dict.fromkeys([*first, *found]):
        yield path, found[path]


def _matters(path: str) -> bool:
    _, meta, rest = f".{path}".rpartition(".meta.")
    if meta and rest.partition(".")[0] not in KEPT_META:
        return False
    return not any(path == each or path.startswith(f"{each}.") for each in NO_NEWS)


def _leaves(value: Any, path: str, deep: int) -> Iterator[tuple[str, str]]:
    """What is set below that path, each with its text."""
    if value is None or value is False or value in ("", (), {}):
        return
    start = f"{path}." if path else ""
    if deep and isinstance(value, Mapping):
        for name in sorted(value, key=str):
            below = str(name) if path == "extra" else f"{start}{name}"
            yield from _leaves(value[name], below, deep - 1)
    elif deep and attrs.has(type(value)) and not _has_text(value):
        for field in attrs.fields(type(value)):
            yield from _leaves(getattr(value, field.name), f"{start}{field.name}", deep - 1)
    elif path and (value or path.startswith("spec.")):
        yield path, f"{value:,} ms" if path.endswith("_ms") and type(value) is int else _text(value)


def _text(value: Any) -> str:
    """A value in words; a text as it is."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple) and all(isinstance(each, Condition) for each in value):
        return ", ".join(f"{each.type}={each.status}" for each in value)
    if isinstance(value, frozenset | set):
        return ", ".join(sorted(map(_text, value)))
    return str(value) if _has_text(value) else shown(value)


def _has_text(value: object) -> bool:
    """Whether its class says how it is written, as an amount does."""
    return attrs.has(type(value)) and "__str__" in vars(type(value))
