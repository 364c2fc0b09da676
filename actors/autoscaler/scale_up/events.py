"""Events of pods: which of them a pass has helped, and which not, and why."""

from __future__ import annotations

from collections.abc import Mapping

from actors.autoscaler.announcer import Announcer
from actors.autoscaler.pass_record import ERROR, SUCCESSFUL
from actors.autoscaler.scale_up.options import Alike
from actors.autoscaler.scale_up.scale_up import ScaleUpOutcome


def announce(outcome: ScaleUpOutcome, announcer: Announcer) -> None:
    """Write them. Pods that are not helped are told so only if nothing was tried."""
    record = outcome.record
    if record.result not in (SUCCESSFUL, ERROR):
        for alike in outcome.alike:
            if not alike.is_helpable:
                message = f"pod didn't trigger scale-up: {_reasons(alike, outcome.skipped)}"
                for pod in alike.pods:
                    announcer.note(pod.pod, "NotTriggerScaleUp", message)
    if record.resizes:
        resizes = " ".join(map(str, record.resizes))
        for pod in outcome.chosen:
            message = f"pod triggered scale-up: [{resizes}]"
            announcer.note(pod.pod, "TriggeredScaleUp", message)


def _reasons(alike: Alike, skipped: Mapping[str, tuple[str, ...]]) -> str:
    """Each reason with the number of groups that have it."""
    counts: dict[str, int] = {}
    for reasons in (*alike.rejected.values(), *skipped.values()):
        for reason in reasons:
            counts[reason] = counts.get(reason, 0) + 1
    return ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
