"""Status: the texts that the autoscaler publishes about the cluster and each group."""

from __future__ import annotations

from actors.autoscaler.state.cloud_view import CloudView
from actors.autoscaler.state.cluster_state import ClusterState
from actors.autoscaler.state.readiness import Readiness

WHOLE = ""
"""The name under which the status of the whole cluster stands."""


def status_of(state: ClusterState, cloud: CloudView, now_ms: int) -> dict[str, dict[str, str]]:
    """By group, and for the whole cluster: Health, ScaleUp and ScaleDown."""
    scaling_up = state.scaling_up()
    total = state.total
    status = {
        WHOLE: {
            "Health": f"{_health(state.is_healthy)} ({_counts(total)})",
            "ScaleUp": (
                f"{'InProgress' if scaling_up else 'NoActivity'} "
                f"(ready={total.ready} registered={total.registered})"
            ),
            "ScaleDown": _scale_down(sum(map(len, state.candidates.values()))),
        }
    }
    for group in cloud.groups:
        name, has = group.name, state.of(group.name)
        bounds = state.bounds.get(name)
        target = bounds.target if bounds is not None else 0
        sizes = f"cloudProviderTarget={target} (minSize={group.min_size}, maxSize={group.max_size})"
        activity = "NoActivity" if state.may_grow(name, now_ms) else "Backoff"
        status[name] = {
            "Health": f"{_health(state.is_group_healthy(name))} ({_counts(has)} {sizes})",
            "ScaleUp": (
                f"{'InProgress' if name in scaling_up else activity} "
                f"(ready={has.ready} cloudProviderTarget={target})"
            ),
            "ScaleDown": _scale_down(len(state.candidates.get(name, ()))),
        }
    return status


def readable(status: dict[str, dict[str, str]]) -> str:
    """The text of the status ConfigMap."""
    lines = ["Cluster-wide:", *_lines(status[WHOLE])]
    groups = {name: each for name, each in status.items() if name != WHOLE}
    lines += ["", "NodeGroups:"] if groups else []
    for name, each in groups.items():
        lines += [f"  Name:        {name}", *_lines(each)]
    return "\n".join(lines) + "\n"


def _lines(conditions: dict[str, str]) -> list[str]:
    return [f"  {name + ':':<12} {text}" for name, text in conditions.items()]


def _health(is_healthy: bool) -> str:
    return "Healthy" if is_healthy else "Unhealthy"


def _scale_down(candidates: int) -> str:
    return f"{'CandidatesPresent' if candidates else 'NoCandidates'} (candidates={candidates})"


def _counts(has: Readiness) -> str:
    return (
        f"ready={has.ready} unready={has.unready} (resourceUnready=0) "
        f"notStarted={has.not_started} longNotStarted=0 registered={has.registered} "
        f"longUnregistered={has.long_unregistered}"
    )
