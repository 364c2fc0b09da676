"""Visible: what a golden timeline is compared by (GEN-10), as lines that people write, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from testbed.client.request import Request
from testbed.objects import Pod
from testbed.store.change import Change
from testbed.turns.option import SERVE
from testbed.turns.trace import Step
from testbed.world.world import World
from tests.models.observed import nomination

KUBELET = "kubelet-"


def visible(world: World, begins_ms: int = 0) -> list[str]:
    """Each event with its second, in the order in which they came: `30 remove b`."""
    running: set[str] = set()
    told = []
    for step in world.trace.steps:
        at = _seconds(step.now_ms - begins_ms)
        told += [f"{at} {event}" for event in _events(step, running, begins_ms)]
    return told


def _seconds(ms: int) -> str:
    return str(ms // 1000) if ms % 1000 == 0 else f"{ms / 1000:.3f}".rstrip("0")


def _events(step: Step, running: set[str], begins_ms: int) -> Iterator[str]:
    request = step.option.source
    if step.kind == SERVE and isinstance(request, Request):
        yield from _asked(step, request, begins_ms)
    for change in step.marks.changes:
        if change.key.startswith("pods/"):
            yield from _changed(change, running)
        elif change.key.startswith("nodes/") and (change.old is None or change.new is None):
            yield f"{'add' if change.old is None else 'remove'} node {change.key[6:]}"


def _asked(step: Step, request: Request, begins_ms: int) -> Iterator[str]:
    """A deletion that is asked for, whether it changes anything or not; an eviction."""
    operation = request.operation
    name = operation.name
    if operation.subresource == "eviction":
        yield f"evict {name}"
    is_end = request.role.name.startswith(KUBELET)
    is_first = "." not in step.option.verb
    if (operation.verb, operation.plural) == ("delete", "pods") and is_first and not is_end:
        pod = step.marks.changes[0].new if step.marks.changes else None
        value = request.value if pod is None else pod.value
        deadline = getattr(getattr(value, "meta", None), "deleted_ms", None)
        until = "" if deadline is None else f" until {_seconds(deadline - begins_ms)}"
        yield f"delete {name}{until}"


def _changed(change: Change, running: set[str]) -> Iterator[str]:
    """What is new of a pod. That one which runs is called Pending for a moment is no news."""
    old: Any = change.before
    new: Any = change.after
    name = (new or old).meta.name
    if new is None:
        yield f"remove {name}"
        return
    if old is None:
        old = Pod(new.meta)
        yield f"create {name}"
    if new.spec.node_name != old.spec.node_name:
        yield f"bind {name} {new.spec.node_name}"
    if nomination(new) != nomination(old):
        yield f"nominate {name} {nomination(new) or '-'}"
    phase = new.status.phase
    if (
        phase != old.status.phase
        and phase != "Pending"
        and not (phase == "Running" and new.meta.uid in running)
    ):
        yield f"phase {name} {phase}{' ' + new.status.reason if new.status.reason else ''}"
    if phase == "Running":
        running.add(new.meta.uid)
