"""Shown: one version of one object, as far as a page shows it, as a plain dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from testbed.objects.form import to_tree
from testbed.objects.meta import Object, text_of
from testbed.objects.node import Node, room_of
from testbed.objects.pod import Pod, requests_of
from testbed.store.change import Entry

FIELDS_MAX = 12
"""How many fields of an object are shown at most."""
VALUE_MAX = 80
"""How many letters a value has at most."""
DEPTH_MAX = 4
"""How deep a field is named by its path; what is deeper is told as one value."""
CPU = "cpu"
METADATA = ("labels", "annotations", "ownerReferences", "finalizers")
"""What of the metadata of an object is shown."""

Shown = dict[str, Any]
"""A `Version` of the page, see `testbed/page/assets/types.d.ts`."""


def version_of(key: str, entry: Entry) -> Shown:
    """The version of an object that stands, or stood, in the Store."""
    return version(key, entry.value, entry.revision)


def version(key: str, value: object, revision: int | None = None) -> Shown:
    """The same of an object that an actor holds; its own revision if none is given."""
    if revision is None:
        revision = revision_of(value)
    kind, _, rest = key.partition("/")
    said, state = _said(value)
    return {
        "key": key,
        "kind": kind,
        "name": rest.rpartition("/")[2],
        "rv": revision,
        "said": _cut(said),
        "state": state,
        "node": value.spec.node_name if isinstance(value, Pod) else "",
        "cpu": _cpu(value),
        "fields": [[path, _cut(text)] for path, text in _fields(value)][:FIELDS_MAX],
    }


def revision_of(value: object) -> int:
    """The revision that an object says it has; 0 if it says none."""
    text = text_of(value.meta.revision) if isinstance(value, Object) else ""
    return int(text) if text.isdecimal() else 0


def _cpu(value: object) -> int:
    """In millicores: what a pod asks for, what a node has; 0 if nothing is said."""
    if isinstance(value, Pod):
        return requests_of(value).get(CPU, 0)
    return room_of(value).get(CPU, 0) if isinstance(value, Node) else 0


def _said(value: object) -> tuple[str, str]:
    """The object in a few words, and in which state it is."""
    if isinstance(value, Pod):
        return _pod_said(value)
    is_going = isinstance(value, Object) and value.meta.is_terminating
    words = [f"{path.rpartition('.')[2]} {text}" for path, text in _fields(value)][:2]
    if isinstance(value, Node):
        room = room_of(value).get(CPU, 0)
        words = [f"{room} m of cpu"] + ["unschedulable"] * value.spec.unschedulable
        words += [f"taint {taint.key}" for taint in value.spec.taints]
    words += ["terminating"] * is_going
    return ", ".join(words), "terminating" if is_going else "plain"


def _pod_said(pod: Pod) -> tuple[str, str]:
    """`Running on n1, terminating`."""
    phase, node = pod.status.phase or "Pending", pod.spec.node_name
    words = [f"{phase} on {node}" if node else phase]
    if pod.status.nominated_node_name and not node:
        words.append(f"nominated {pod.status.nominated_node_name}")
    if pod.meta.is_terminating:
        words.append("terminating")
    if pod.is_over:
        return ", ".join(words), "over"
    if pod.meta.is_terminating:
        return ", ".join(words), "terminating"
    return ", ".join(words), "running" if phase == "Running" else "pending"


def _fields(value: object) -> list[tuple[str, str]]:
    """The fields that tell it from others, each with its dotted path and its value."""
    if isinstance(value, Pod):
        return list(_pod_fields(value))
    if isinstance(value, Node):
        return list(_node_fields(value))
    if not isinstance(value, Object):
        return [("", str(value))]
    tree = to_tree(value)
    meta = tree.get("metadata", {})
    kept = {"metadata": {name: meta[name] for name in METADATA if name in meta}}
    rest = {name: each for name, each in tree.items() if name not in NAMED}
    found = [*_flat("", rest, DEPTH_MAX), *_flat("", kept, DEPTH_MAX)]
    if value.meta.is_terminating:
        found.insert(0, ("metadata.deletionTimestamp", "set"))
    return found


NAMED = ("apiVersion", "kind", "metadata")
"""What of the tree of an object its key says, or is shown apart."""


def _pod_fields(pod: Pod) -> Iterator[tuple[str, str]]:
    yield "status.phase", pod.status.phase or "Pending"
    if pod.spec.node_name:
        yield "spec.nodeName", pod.spec.node_name
    if pod.status.nominated_node_name:
        yield "status.nominatedNodeName", pod.status.nominated_node_name
    if pod.meta.is_terminating:
        yield "metadata.deletionTimestamp", "set"
    if pod.spec.priority:
        yield "spec.priority", str(pod.spec.priority)
    if cpu := _cpu(pod):
        yield "cpu", f"{cpu} m"
    if pod.status.reason:
        yield "status.reason", pod.status.reason
    for name, label in sorted(pod.meta.labels.items()):
        yield f"metadata.labels.{name}", label


def _node_fields(node: Node) -> Iterator[tuple[str, str]]:
    yield "cpu", f"{_cpu(node)} m"
    if node.spec.unschedulable:
        yield "spec.unschedulable", "true"
    for taint in node.spec.taints:
        yield "spec.taints", f"{taint.key}={taint.value}:{taint.effect}".replace("=:", ":")
    for condition in node.status.conditions:
        yield f"status.conditions.{condition.type}", condition.status
    if node.meta.is_terminating:
        yield "metadata.deletionTimestamp", "set"


def _flat(path: str, tree: object, deep: int) -> Iterator[tuple[str, str]]:
    """The leaves of a tree, each with its dotted path."""
    if isinstance(tree, Mapping) and deep and tree:
        for name in sorted(tree):
            yield from _flat(f"{path}.{name}" if path else str(name), tree[name], deep - 1)
    elif tree not in (None, "", {}, []):
        yield path, _told(tree)


def _told(tree: object) -> str:
    """A value in one line."""
    if isinstance(tree, bool):
        return "true" if tree else "false"
    if isinstance(tree, Mapping):
        return ", ".join(f"{name}={_told(tree[name])}" for name in sorted(tree))
    if isinstance(tree, Sequence) and not isinstance(tree, str):
        return " · ".join(map(_told, tree))
    return str(tree)


def _cut(text: str) -> str:
    return text if len(text) <= VALUE_MAX else f"{text[: VALUE_MAX - 1]}…"
