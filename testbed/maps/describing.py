"""Describing: one version of an object in words and fields, as a page shows it.

Pods and nodes have words of their own. Any other kind is described by its own fields, whatever they
are, so that a kind of the user's own needs nothing here. Fields have the names that Kubernetes
gives them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from testbed.objects.condition import Condition
from testbed.objects.form import wire_name_of
from testbed.objects.meta import Object, field_of, text_of
from testbed.objects.node import Node, room_of
from testbed.objects.pod import PENDING, RUNNING, Pod, requests_of
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
    "status.phase", "spec.nodeName", "status.nominatedNodeName", "metadata.deletionTimestamp",
    "status.reason", "spec.priority", "requests.cpu", "requests.memory", "metadata.finalizers",
    "spec.unschedulable", "status.allocatable.cpu", "status.allocatable.memory", "spec.taints",
    "status.conditions",
)  # fmt: skip
"""The fields that are shown before all others."""
NO_NEWS = (
    "spec.containers", "spec.initContainers", "spec.tolerations", "status.capacity",
    "status.qosClass",
)  # fmt: skip
"""Fields that say little, or the same as others that are shown."""
USUAL = {
    "spec.schedulerName": "default-scheduler",
    "spec.preemptionPolicy": "PreemptLowerPriority",
    "spec.restartPolicy": "Always",
    "spec.terminationGracePeriodSeconds": "30",
}
"""Fields that are left out while they are as an API server sets them."""
META = "metadata"
KEPT_META = (
    "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers", "ownerReferences", "labels",
    "annotations",
)  # fmt: skip
"""Of the metadata of an object only these are shown; also of a template in it."""
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
"""Where a value of the user's own lies in memory: that is another place in each process."""


Shown = dict[str, Any]
"""A `Version` of the page, see `testbed/page/assets/types.d.ts`."""


def described(key: str, value: object, revision: int, *, is_timed: bool = True) -> Shown:
    """That version of the object under that key, as a page shows it. In a state of a map it is not
    timed: of the times in it, it is only said that they are set."""
    fields = list(_fields(value, is_timed=is_timed))
    return {
        "key": key,
        "kind": plural_of(key),
        "name": key.rpartition("/")[2],
        "rv": revision,
        "said": cut(_said(value, fields)),
        "state": _state(value),
        "node": value.spec.node_name if isinstance(value, Pod) else "",
        "cpu": _cpu(value),
        "fields": [[path, cut(text)] for path, text in fields[:FIELDS_MAX]],
    }


def revision_of(value: object) -> int:
    """The revision that an object says it has; 0 if it says none."""
    text = text_of(value.meta.revision) if isinstance(value, Object) else ""
    return int(text) if text.isdecimal() else 0


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
        said = [value.status.phase or PENDING]
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
        own = [each for each in fields if not each[0].startswith(f"{META}.")]
        said = [f"{path.rpartition('.')[2]} {text}".strip() for path, text in own[:SAID_MAX]]
    if field_of(value, DELETED) is not None:
        said.append("terminating")
    return ", ".join(said) or "empty"


def _fields(value: object, *, is_timed: bool) -> Iterator[tuple[str, str]]:
    """Its fields that are set, by dotted paths; those of `FIRST` before all others."""
    leaves = [each for each in _leaves(value, "", DEEP_MAX, is_timed) if _matters(each[0])]
    found = {path: text for path, text in leaves if USUAL.get(path) != text}
    if isinstance(value, Pod):
        found |= {
            f"requests.{name}": f"{amount}m" if name == CPU else str(amount)
            for name, amount in sorted(requests_of(value).items())
        }
        found.setdefault("status.phase", PENDING)
    first = [path for path in FIRST if path in found]
    last = [path for path in found if path.startswith(f"{META}.")]
    own = [path for path in found if not path.startswith(f"{META}.")]
    for path in dict.fromkeys([*first, *own, *last]):
        yield path, found[path]


def _matters(path: str) -> bool:
    _, meta, rest = f".{path}".rpartition(f".{META}.")
    if meta and rest.partition(".")[0] not in KEPT_META:
        return False
    return not any(path == each or path.startswith(f"{each}.") for each in NO_NEWS)


def _leaves(value: Any, path: str, deep: int, is_timed: bool) -> Iterator[tuple[str, str]]:
    """What is set below that path, each with its text."""
    if value is None or value is False or (isinstance(value, SIZED) and not value):
        return
    start = f"{path}." if path else ""
    if deep and isinstance(value, Mapping):
        for name in sorted(value, key=str):
            below = str(name) if path == "extra" else f"{start}{name}"
            yield from _leaves(value[name], below, deep - 1, is_timed)
    elif deep and attrs.has(type(value)) and not _has_text(value):
        for field in attrs.fields(type(value)):
            below = f"{start}{field.metadata.get('wire') or wire_name_of(field.name)}"
            here = getattr(value, field.name)
            if field.name.endswith("_ms") and type(here) is int:
                is_said = is_timed or "time" not in field.metadata.get("shape", "")
                yield below, f"{here:,} ms" if is_said else "set"
            else:
                yield from _leaves(here, below, deep - 1, is_timed)
    elif type(value) is not int or value or path.startswith("spec."):
        yield path, _text(value)


SIZED = (str, tuple, list, Mapping, frozenset, set)
"""What says nothing while it is empty."""


def _text(value: Any) -> str:
    """A value in words; a text as it is. It is the same in each process."""
    if isinstance(value, str):
        return value
    if isinstance(value, frozenset | set):
        return ", ".join(sorted(map(_text, value)))
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_text(value[name])}" for name in sorted(value, key=str))
    if isinstance(value, tuple) and all(isinstance(each, Condition) for each in value):
        return ", ".join(f"{each.type}={each.status}" for each in value)
    if isinstance(value, tuple | list) and any(isinstance(each, SIZED) for each in value):
        return ", ".join(map(_text, value))
    try:
        text = str(value) if _has_text(value) else shown(value)
    except Exception:  # noqa: BLE001 - the value is the user's own, and so is its text
        return f"<{type(value).__name__}>"
    return ADDRESS.sub("", text)


def _has_text(value: object) -> bool:
    """Whether its class says how it is written, as an amount does."""
    return attrs.has(type(value)) and "__str__" in vars(type(value))
