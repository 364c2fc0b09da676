"""Status: the status of a pod, as far as its kubelet writes it."""

from __future__ import annotations

from typing import Any

import attrs

from actors.kubelet.admission import AdmissionRefusal
from actors.kubelet.containers import Ended, Report
from actors.kubelet.ending import BY_KUBELET, DISRUPTION_TARGET, PodEnding
from testbed.code.quick import quick
from testbed.objects import Condition, Pod, PodStatus, condition
from testbed.objects.calendar import whole_second, written
from testbed.objects.condition import FALSE, TRUE
from testbed.objects.form import to_tree
from testbed.objects.meta import evolved
from testbed.objects.pod import (
    FAILED,
    PENDING,
    RUNNING,
    SUCCEEDED,
    Container,
    ContainerState,
    ContainerStatus,
    Running,
    Terminated,
    Waiting,
)

INITIALIZED = "Initialized"
OWN_CONDITIONS = (INITIALIZED, "Ready", "ContainersReady")
SCHEDULED = "PodScheduled"
OVER = (SUCCEEDED, FAILED)
"""The phases that are final."""
ALWAYS, ON_FAILURE = "Always", "OnFailure"
OOM_KILLED = "OOMKilled"
"""The reason of containers that the kernel has killed because memory ran out."""


@quick
@attrs.frozen
class Facts:
    """What a kubelet derives the status of a pod from."""

    pod: Pod
    report: Report | None
    """None: its containers were not started, or the runtime no longer knows them."""
    refusal: AdmissionRefusal | None
    is_ready: bool
    is_last: bool
    """Whether its containers will never run again, so that the phase is Succeeded or Failed even if
    the restart policy is Always (newer than 1.26, KUB-20)."""
    ending: PodEnding | None = None
    """Why the kubelet itself ends the pod; None: it does not."""
    back_off_ms: int | None = None
    """How long its containers, which have ended, wait until they are started again; None: they do
    not wait."""
    may_be_over: bool = True
    """Whether a terminal phase may be published yet."""


def status_of(facts: Facts, before: PodStatus, now_ms: int) -> PodStatus:
    """The status of a pod now: `before` itself if it is so already. Fields that others own stay as
    they were. A terminal phase is final, and is not set while a container runs (KUB-18)."""
    refusal, report, ending = facts.refusal, facts.report, facts.ending
    is_there = report is not None and not facts.may_be_over
    if before.phase in OVER or (refusal is not None and is_there):
        return before
    start_ms = whole_second(now_ms) if before.start_ms is None else before.start_ms
    phase, reason, message = _phase(facts), before.reason, before.message
    if refusal is not None:
        phase, reason, message = FAILED, refusal.reason, refusal.message
        if report is None:
            return evolved(before, phase=phase, reason=reason, message=message, start_ms=start_ms)
    conditions = before.conditions
    if ending is not None and not is_there:
        phase, reason, message = FAILED, ending.reason, ending.message
        if ending.condition is not None:
            conditions = condition.having(conditions, ending.condition, now_ms)
    conditions = _reporting(conditions, now_ms, is_ready=facts.is_ready)
    containers = tuple([_container_status(each, facts) for each in facts.pod.spec.containers])
    if (
        conditions is before.conditions and phase == before.phase and reason == before.reason
        and message == before.message and start_ms == before.start_ms
        and containers == before.container_statuses
    ):  # fmt: skip
        return before
    return evolved(
        before, phase=phase, reason=reason, message=message, start_ms=start_ms,
        conditions=conditions, container_statuses=containers,
    )  # fmt: skip


def _reporting(
    conditions: tuple[Condition, ...], now_ms: int, *, is_ready: bool
) -> tuple[Condition, ...]:
    """These conditions with the kubelet's own as they are now; the same ones if none changes."""
    ready = TRUE if is_ready else FALSE
    for name in OWN_CONDITIONS:
        status, old = TRUE if name == INITIALIZED else ready, None
        for each in conditions:
            if each.type == name:
                old = each
                break
        # As most often, it is so already: then no Condition is made to find that out.
        if (
            old is None or old.status != status or old.reason or old.message
            or old.heartbeat_ms is not None
        ):  # fmt: skip
            conditions = condition.having(conditions, Condition(name, status), now_ms)
    return conditions


def own_alike(one: PodStatus, other: PodStatus) -> bool:
    """Whether two statuses are the same in the part that a kubelet owns."""
    if one is other:
        return True
    if (
        one.phase != other.phase or one.reason != other.reason or one.message != other.message
        or one.start_ms != other.start_ms or one.container_statuses != other.container_statuses
    ):  # fmt: skip
        return False
    mine, theirs = one.conditions, other.conditions
    return mine == theirs or _own_conditions(mine) == _own_conditions(theirs)


def _own_conditions(conditions: tuple[Condition, ...]) -> object:
    own: dict[str, Condition] = {}
    others = []
    for each in conditions:
        if each.type in OWN_CONDITIONS:
            if each.type not in own:
                own[each.type] = each
        elif _is_of_kubelet(each):
            others.append(each)
    return own, others


def patch_of(pod: Pod, status: PodStatus, now_ms: int) -> dict[str, Any]:
    """A strategic patch that writes the kubelet's part of a status. It leaves out the conditions
    that others own (KUB-22), except for PodScheduled if the pod has lost that: it must be
    scheduled, since it is here."""
    conditions = [
        each for each in status.conditions if each.type in OWN_CONDITIONS or _is_of_kubelet(each)
    ]
    if condition.find(pod.status.conditions, SCHEDULED) is None:
        lost = condition.find(status.conditions, SCHEDULED)
        conditions.append(lost or Condition(SCHEDULED, TRUE, since_ms=whole_second(now_ms)))
    own = {
        "phase": status.phase or None,
        "reason": status.reason or None,
        "message": status.message or None,
        "startTime": None if status.start_ms is None else written(status.start_ms),
        "containerStatuses": [to_tree(each) for each in status.container_statuses] or None,
        "conditions": [to_tree(each) for each in conditions],
    }
    return {"metadata": {"uid": pod.meta.uid}, "status": own}


def _is_of_kubelet(each: Condition) -> bool:
    """Whether it says that the kubelet has ended the pod. Others write that condition, too."""
    return each.type == DISRUPTION_TARGET and each.reason == BY_KUBELET


def restarts(pod: Pod, report: Report) -> bool:
    """Whether the containers of the pod, which have ended so, are to be started again (KUB-17)."""
    policy = pod.spec.restart_policy or ALWAYS
    return policy == ALWAYS or (policy == ON_FAILURE and report.exit_code != 0)


def _phase(facts: Facts) -> str:
    """The phase, by the state of the containers and the restart policy. A pod whose containers
    wait to be started again is Running."""
    report = facts.report
    if report is None:
        return PENDING
    if report.is_running or not facts.may_be_over:
        return RUNNING
    if restarts(facts.pod, report) and not facts.is_last:
        return RUNNING
    return FAILED if report.exit_code else SUCCEEDED


def _container_status(container: Container, facts: Facts) -> ContainerStatus:
    report = facts.report
    if report is None:
        state = ContainerState(waiting=Waiting("ContainerCreating"))
        return ContainerStatus(container.name, facts.is_ready, image=container.image, state=state)
    last = None if report.last is None else _terminated(report.last)
    if report.ended_ms is None:
        state = ContainerState(running=Running(whole_second(report.started_ms)))
    else:
        ended = Ended(report.started_ms, report.ended_ms, report.exit_code, report.is_oom)
        state = _terminated(ended)
        if facts.back_off_ms is not None:
            last, state = state, ContainerState(waiting=_backing_off(container, facts))
    return ContainerStatus(
        container.name, facts.is_ready, report.restarts, container.image, state=state,
        last_state=last,
    )  # fmt: skip


def _terminated(ended: Ended) -> ContainerState:
    reason = OOM_KILLED if ended.is_oom else "Error" if ended.exit_code else "Completed"
    started_ms, finished_ms = whole_second(ended.started_ms), whole_second(ended.ended_ms)
    return ContainerState(
        terminated=Terminated(ended.exit_code, reason, "", started_ms, finished_ms)
    )


def _backing_off(container: Container, facts: Facts) -> Waiting:
    meta, minutes = facts.pod.meta, (facts.back_off_ms or 0) // 60_000
    seconds = f"{(facts.back_off_ms or 0) // 1000 % 60}s"
    wait = f"{minutes}m{seconds}" if minutes else seconds
    why = f"restarting failed container={container.name} pod={meta.name}_{meta.namespace}"
    return Waiting("CrashLoopBackOff", f"back-off {wait} {why}({meta.uid})")
