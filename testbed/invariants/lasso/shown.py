"""Shown: the values of fields, told so that a lap says the same each time."""

from __future__ import annotations

from testbed.objects.affinity import Taint
from testbed.objects.condition import Condition
from testbed.objects.pod import ContainerState, ContainerStatus


def shown(value: object, path: str, now_ms: int) -> str:
    """A value as it is the same in each lap: a time only by how far it is ahead."""
    if value in (None, "", ()):
        return "nothing"
    if isinstance(value, int) and path.endswith("_ms"):
        if value > now_ms:
            return f"in {value - now_ms:,} ms"
        return "now" if value == now_ms else "then"
    if isinstance(value, tuple) and all(isinstance(each, Condition) for each in value):
        return " and ".join(f"{each.type}={each.status}" for each in value)
    if isinstance(value, tuple) and all(isinstance(each, Taint) for each in value):
        # Some keep a time as the value.
        return " and ".join(f"{each.key}:{each.effect}" for each in value)
    if isinstance(value, tuple) and all(isinstance(each, ContainerStatus) for each in value):
        return " and ".join(f"{each.name} {_state_of(each)}" for each in value)
    return str(value)


def _state_of(container: ContainerStatus) -> str:
    """The state of a container without its times."""
    state = container.state or ContainerState()
    if state.terminated is not None:
        return f"terminated with {state.terminated.exit_code}"
    return "running" if state.running is not None else "waiting"
