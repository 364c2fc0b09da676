"""The columns of a pod. Its Status is one word for what its phase, its containers and its deletion
say together, made as Kubernetes makes it: a kubelet's word counts more than the phase."""

from __future__ import annotations

from testbed.attended.http.tables.age import age
from testbed.attended.http.tables.column import AGE, NAME, NONE, Column, beside, wide
from testbed.objects.condition import find
from testbed.objects.pod import ContainerState, ContainerStatus, Pod, Terminated

GATED, LOST = "SchedulingGated", "NodeLost"
NOTHING = ContainerState()


def status(pod: Pod, _: int = 0) -> str:
    """Its Status, such as `Running`, `Terminating`, `CrashLoopBackOff` or `Init:0/1`."""
    if pod.meta.is_terminating:
        return "Unknown" if pod.status.reason == LOST else "Terminating"
    return _of_init_containers(pod) or _of_containers(pod)


def _of_init_containers(pod: Pod) -> str:
    """What the first init container that has not succeeded does; empty if there is none."""
    for n, each in enumerate(pod.status.init_container_statuses):
        state = each.state or NOTHING
        ended, waiting = state.terminated, state.waiting
        if ended is not None and ended.exit_code == 0:
            continue
        if ended is not None:
            return f"Init:{_of_end(ended)}"
        if waiting is not None and waiting.reason not in ("", "PodInitializing"):
            return f"Init:{waiting.reason}"
        return f"Init:{n}/{len(pod.spec.init_containers)}"
    return ""


def _of_containers(pod: Pod) -> str:
    """What the first container does that waits or has ended; else its reason, or its phase."""
    scheduled = find(pod.status.conditions, "PodScheduled")
    is_gated = scheduled is not None and scheduled.reason == GATED
    said = GATED if is_gated else pod.status.reason or pod.status.phase
    for each in reversed(pod.status.container_statuses):
        state = each.state or NOTHING
        if state.waiting is not None and state.waiting.reason:
            said = state.waiting.reason
        elif state.terminated is not None:
            said = _of_end(state.terminated)
    if said == "Completed" and any(_is_up(each) for each in pod.status.container_statuses):
        return "Running" if pod.is_ready else "NotReady"
    return said


def _of_end(ended: Terminated) -> str:
    return ended.reason or f"ExitCode:{ended.exit_code}"


def _is_up(container: ContainerStatus) -> bool:
    """Whether it runs and is ready, and does not wait or is not ended beside that."""
    state = container.state or NOTHING
    is_waiting = state.waiting is not None and bool(state.waiting.reason)
    is_running = state.running is not None and state.terminated is None and not is_waiting
    return container.ready and is_running


def ready(pod: Pod, _: int = 0) -> str:
    """How many of its containers are ready; none while its init containers run."""
    up = 0 if _of_init_containers(pod) else sum(map(_is_up, pod.status.container_statuses))
    return f"{up}/{len(pod.spec.containers)}"


def restarts(pod: Pod, now_ms: int) -> str:
    """How often its containers were started again, and when last: those of init while they run."""
    here = pod.status.container_statuses
    early = pod.status.init_container_statuses
    counted = early if _of_init_containers(pod) else here
    ends = [
        each.last_state.terminated.finished_ms
        for each in ((*early,) if counted is early else (*early, *here))
        if each.last_state is not None and each.last_state.terminated is not None
    ]
    times = [each for each in ends if each is not None]
    number = sum(each.restart_count for each in counted)
    return f"{number} ({age(max(times), now_ms)} ago)" if times else f"{number}"


def _gates(pod: Pod, _: int) -> str:
    """How many of its readiness gates are met."""
    gates = beside(pod, "spec", "readinessGates")
    if not gates:
        return NONE
    met = {each.type for each in pod.status.conditions if each.is_true}
    return f"{sum(gate.get('conditionType') in met for gate in gates)}/{len(gates)}"


POD: tuple[Column, ...] = (
    NAME,
    Column("Ready", ready),
    Column("Status", status),
    Column("Restarts", restarts),
    AGE,
    wide("IP", lambda pod, _: pod.status.pod_ip or NONE),
    wide("Node", lambda pod, _: pod.spec.node_name or NONE),
    wide("Nominated Node", lambda pod, _: pod.status.nominated_node_name or NONE),
    wide("Readiness Gates", _gates),
)
