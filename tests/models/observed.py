"""Observed: what could be seen from outside of a Run, each thing with its time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from testbed.client.request import Request
from testbed.objects import Pod, condition
from testbed.races.counting import is_start
from testbed.turns.option import ANSWER, DELIVER, SERVE, WAKE
from testbed.turns.trace import Step
from testbed.world.world import World

Details = dict[str, Any]
DISRUPTED, SCHEDULED = "DisruptionTarget", "PodScheduled"
TICK = "flush"
"""What the name of a tick of a scheduler's begins with."""
WRITES = {
    "create pods/binding": "bind", "delete pods": "delete", "patch pods/status": "patch-status",
    "patch pods": "patch", "create pods": "create",
}  # fmt: skip
MARKS = ("type", "lastTransitionTime", "lastProbeTime")
"""What a condition says beside what it is about."""
LOST = "lost"
NOMINATED = "scheduler.kubernetes.io/nominated-node-name"
BIND_ERROR = 'error: running Bind plugin "DefaultBinder": '
"""What a cycle came to whose bind has failed; the transport's own text follows."""


@attrs.frozen
class Write:
    """One write of one actor, and what came of it."""

    at_ms: int
    actor: str
    verb: str
    pod: str
    details: Details
    outcome: str = ""
    """Empty: done. Else the reason it was refused for; `lost`: done, and its caller not told."""
    is_ticked: bool = False
    """Whether its cycle was one that a tick has set off."""

    def __str__(self) -> str:
        said = " ".join(f"{name}={value!r}" for name, value in self.details.items())
        tick = " (tick)" if self.is_ticked else ""
        outcome = f" → {self.outcome}" if self.outcome else ""
        return f"{self.at_ms / 1000:8.3f} {self.verb} {self.pod} {said}{outcome}{tick}"


def writes_of(world: World, *actors: str) -> list[Write]:
    """What these have written of pods, in the order in which it took effect or was refused."""
    steps = {step.number: step for step in world.trace.steps}
    first: dict[Request, Step] = {}
    done: dict[Request, Step] = {}
    for step in steps.values():
        request = step.option.source
        if step.kind not in (SERVE, ANSWER) or not isinstance(request, Request):
            continue
        if request.role.name not in actors or _verb(request) not in WRITES:
            continue
        first.setdefault(request, step)
        if step.kind == SERVE and (request not in done or not _commits(done[request])):
            done[request] = step
    # What a fault struck before it was served is answered only.
    at = {request: done.get(request, step) for request, step in first.items()}
    ordered = sorted(at.items(), key=lambda each: each[1].number)
    return [_write(request, step, steps) for request, step in ordered]


def _verb(request: Request) -> str:
    operation = request.operation
    part = f"/{operation.subresource}" if operation.subresource else ""
    return f"{operation.verb} {operation.plural}{part}"


def _commits(step: Step) -> bool:
    return bool(step.marks.changes)


def _write(request: Request, step: Step, steps: Mapping[int, Step]) -> Write:
    verb, operation = WRITES[_verb(request)], request.operation
    outcome = request.error.reason if request.error is not None else ""
    if outcome and step.kind == SERVE and not step.outcome:
        outcome = LOST
    return Write(
        step.now_ms, request.role.name, verb, operation.name,
        _details(verb, request, step), outcome, _is_ticked(step, steps),
    )  # fmt: skip


def _details(verb: str, request: Request, step: Step) -> Details:
    body = request.operation.body
    if verb == "bind":
        return {"node": body.target.name}
    if verb == "delete":
        return _deletion(request, step)
    if verb == "patch-status":
        return patch_details(body["status"])
    return {}


def _deletion(request: Request, step: Step) -> Details:
    """What the pod is given to end, and whether that is new."""
    pod = request.value
    if not isinstance(pod, Pod):
        return {}
    return {
        "grace": pod.meta.grace_s,
        "deletionTimestamp": (pod.meta.deleted_ms or 0) / 1000,
        "stateChanged": _commits(step),
    }


def patch_details(status: Mapping[str, Any]) -> Details:
    """What a patch of a pod's status says, in the words of the recordings."""
    said: Details = {}
    removed = []
    for each in status.get("conditions", ()):
        what = {name: value for name, value in each.items() if name not in MARKS}
        if what.get("$patch") == "delete":
            removed.append(each["type"])
        elif each["type"] == DISRUPTED and not what:
            said[DISRUPTED] = "transition time only"
        else:
            said[each["type"]] = what
    if removed:
        said["conditionsRemoved"] = sorted(removed)
    said |= {name: status[name] for name in ("phase", "startTime") if name in status}
    if "nominatedNodeName" in status:
        said["nominatedNodeName"] = status["nominatedNodeName"]
    return said


def _is_ticked(step: Step, steps: Mapping[int, Step]) -> bool:
    """Whether what has led to it, within its own actor, began with a tick."""
    actor = step.option.actor
    while step.causes:
        before = steps[step.causes[-1]]
        if before.option.actor != actor or before.kind == DELIVER:
            return False
        if before.kind == WAKE:
            return before.option.verb.startswith(TICK)
        step = before
    return False


# -- cycles, and what pods came to ----------------------------------------------------------------


@attrs.frozen
class Attempt:
    """One cycle of one pod."""

    at_ms: int
    pod: str
    number: int
    life: int
    result: str
    then: str = ""
    """The queue it went to; empty if it was bound."""

    def __str__(self) -> str:
        went = f" → {self.then}" if self.then else ""
        which = f"{self.pod}#{self.number} (life {self.life})"
        return f"{self.at_ms / 1000:8.3f} {which} {self.result}{went}"


def attempts_of(world: World, *actors: str) -> list[Attempt]:
    """The cycles of these schedulers, in the order in which they began."""
    found: dict[tuple[str, int, str, int], Attempt] = {}
    lives = dict.fromkeys(actors, 0)
    for item in world.trace.items:
        if isinstance(item, Step):
            if is_start(item.option) and item.option.actor in lives:
                lives[item.option.actor] += 1
            continue
        actor, facts = item.path.partition("/")[0], item.facts
        if actor not in lives or item.name not in ("cycle", "waits"):
            continue
        name, number, life = facts["pod"].rpartition("/")[2], facts["attempt"], lives[actor]
        which = (actor, life, name, number)
        if item.name == "cycle":
            result = f"bound to {facts['node']}" if "node" in facts else facts["message"]
            found[which] = Attempt(item.now_ms, name, number, life, result)
        else:
            result, then = found[which].result, facts["where"].capitalize()
            result = BIND_ERROR if result.startswith("bound to ") else result
            found[which] = attrs.evolve(found[which], result=result, then=then)
    return list(found.values())


def final_of(world: World) -> Iterator[Details]:
    """Every pod as it is at the end, in the words of the recordings."""
    for entry in world.store.snapshot("pods/"):
        pod: Any = entry.value
        said = {"pod": pod.meta.name, "node": pod.spec.node_name, "phase": pod.status.phase}
        said["nominatedNodeName"] = nomination(pod)
        said["reason"] = pod.status.reason
        scheduled = condition.find(pod.status.conditions, SCHEDULED)
        if scheduled is not None:
            reason, message = scheduled.reason or None, scheduled.message or None
            said[SCHEDULED] = f"{scheduled.status}/{reason}: {message}"
        yield {name: value for name, value in said.items() if value}


def nomination(pod: Pod) -> str:
    """The node a pod is nominated to, wherever that is written."""
    return pod.status.nominated_node_name or pod.meta.annotations.get(NOMINATED, "")
