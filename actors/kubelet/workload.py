"""Workload: how the containers of a pod behave, by the annotations of the pod."""

from __future__ import annotations

from typing import Any, Self

import attrs

from testbed.errors import ScenarioError
from testbed.objects import Map, Pod

PREFIX = "workload.testbed/"
NEVER = "never"


@attrs.frozen
class Workload:
    """How long the containers run, how they exit, and what they do on the signal to terminate.

    It stands in the annotations of the pod, so that templates and manifests can contain it:
    `workload.testbed/runs-ms: "5000"`.
    """

    runs_ms: int | None = None
    """They end by themselves after this time; None: they run until they are told to end."""
    exit_code: int = 0
    """Their exit code when they end by themselves."""
    stops_after_ms: int | None = None
    """How long they take to end once they are told to; None: all the grace that they have, which is
    the worst case in which they still obey (GEN-9)."""
    is_deaf: bool = False
    """They ignore the signal and have to be killed: `stops-after-ms: never`."""

    @classmethod
    def of(cls, pod: Pod) -> Self:
        """The workload in the annotations of a pod; ScenarioError if they make no sense."""
        found = {
            name.removeprefix(PREFIX): value
            for name, value in pod.meta.annotations.items()
            if name.startswith(PREFIX)
        }
        stops = found.pop("stops-after-ms", "")
        given: dict[str, Any] = {"is_deaf": stops == NEVER}
        if stops and stops != NEVER:
            given["stops_after_ms"] = _number(pod, "stops-after-ms", stops)
        for name, value in sorted(found.items()):
            if name not in ("runs-ms", "exit-code"):
                raise _refused(pod, name, "runs-ms, exit-code or stops-after-ms")
            given[name.replace("-", "_")] = _number(pod, name, value)
        return cls(**given)

    def given_to(self, pod: Pod) -> Pod:
        """The pod with this workload in its annotations; the inverse of `of`. No actor needs it: it
        is for scenarios that are written in Python."""
        added = {f"{PREFIX}exit-code": str(self.exit_code)} if self.exit_code else {}
        if self.runs_ms is not None:
            added[f"{PREFIX}runs-ms"] = str(self.runs_ms)
        if self.is_deaf or self.stops_after_ms is not None:
            stops = NEVER if self.is_deaf else str(self.stops_after_ms)
            added[f"{PREFIX}stops-after-ms"] = stops
        return pod.with_meta(annotations=Map({**pod.meta.annotations, **added}))


def _number(pod: Pod, name: str, value: str) -> int:
    if not value.isdecimal() or len(value) > 15:
        never = " or never" if name == "stops-after-ms" else ""
        raise _refused(pod, name, f"a whole number{never}, found {value!r}")
    return int(value)


def _refused(pod: Pod, name: str, expected: str) -> ScenarioError:
    return ScenarioError(
        f"{pod.key}: the annotation {PREFIX}{name}: expected {expected}.\n"
        f'Next: write `{PREFIX}runs-ms: "5000"`, or take it away.'
    )
