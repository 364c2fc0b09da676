"""Workload: how the containers of a pod behave, by the annotations of the pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import attrs

from testbed.errors import ScenarioError
from testbed.objects import Map, Pod

PREFIX = "workload.testbed/"
NEVER = "never"
RUNS, CODE, STOPS, LEAVES = "runs-ms", "exit-code", "stops-after-ms", "torn-down-after-ms"


def _for_each_start(given: int | tuple[int | None, ...] | None) -> tuple[int | None, ...]:
    return given if isinstance(given, tuple) else (given,)


@attrs.frozen
class Workload:
    """How long the containers run, how they exit, and what they do on the signal to terminate.

    It stands in the annotations of the pod, so that templates and manifests can contain it:
    `workload.testbed/runs-ms: "5000"`. What differs from one start of the containers to the next is
    a list, of which the last holds for all further starts: `runs-ms: "100, 100, never"`.
    """

    runs_ms: tuple[int | None, ...] = attrs.field(default=None, converter=_for_each_start)
    """They end by themselves after this time; None: they run until they are told to end."""
    exit_code: tuple[int | None, ...] = attrs.field(default=0, converter=_for_each_start)
    """Their exit code when they end by themselves."""
    stops_after_ms: int | None = None
    """How long they take to end once they are told to; None: all the grace that they have, which is
    the worst case in which they still obey (GEN-9)."""
    is_deaf: bool = False
    """They ignore the signal and have to be killed: `stops-after-ms: never`."""
    torn_down_after_ms: int = 0
    """How long after their end the node still holds what they took: its sandbox, its volumes."""

    @classmethod
    def of(cls, pod: Pod) -> Self:
        """The workload in the annotations of a pod; ScenarioError if they make no sense."""
        found = {
            name.removeprefix(PREFIX): value
            for name, value in pod.meta.annotations.items()
            if name.startswith(PREFIX)
        }
        given: dict[str, Any] = {}
        for name, value in sorted(found.items()):
            if name == STOPS and value == NEVER:
                given["is_deaf"] = True
            elif name in (RUNS, CODE):
                each = value.split(",")
                given[_field(name)] = tuple(_number(pod, name, one.strip()) for one in each)
            elif name in (STOPS, LEAVES):
                given[_field(name)] = _number(pod, name, value)
            else:
                raise _refused(pod, name, f"{RUNS}, {CODE}, {STOPS} or {LEAVES}")
        return cls(**given)

    def at_start(self, number: int) -> tuple[int | None, int]:
        """How long they run and with which exit code they end, of a start of that number from 0."""
        runs, codes = self.runs_ms, self.exit_code
        if not number:
            return runs[0], codes[0] or 0
        runs_ms = runs[number] if number < len(runs) else runs[-1]
        return runs_ms, (codes[number] if number < len(codes) else codes[-1]) or 0

    def given_to(self, pod: Pod) -> Pod:
        """The pod with this workload in its annotations; the inverse of `of`. No actor needs it: it
        is for scenarios that are written in Python."""
        annotations = {**pod.meta.annotations, **{PREFIX + k: v for k, v in self._told().items()}}
        return pod.with_meta(annotations=Map(annotations))

    def _told(self) -> Mapping[str, str]:
        """What is otherwise than by default, as annotations have it."""
        usual, told = Workload(), {}
        if self.runs_ms != usual.runs_ms:
            told[RUNS] = ", ".join(NEVER if ms is None else str(ms) for ms in self.runs_ms)
        if self.exit_code != usual.exit_code:
            told[CODE] = ", ".join(map(str, self.exit_code))
        if self.is_deaf or self.stops_after_ms is not None:
            told[STOPS] = NEVER if self.is_deaf else str(self.stops_after_ms)
        if self.torn_down_after_ms:
            told[LEAVES] = str(self.torn_down_after_ms)
        return told


def _field(name: str) -> str:
    return name.replace("-", "_")


def _number(pod: Pod, name: str, value: str) -> int | None:
    if value == NEVER and name == RUNS:
        return None
    if not value.isdecimal() or len(value) > 15:
        never = f" or {NEVER}" if name in (RUNS, STOPS) else ""
        raise _refused(pod, name, f"a whole number{never}, found {value!r}")
    return int(value)


def _refused(pod: Pod, name: str, expected: str) -> ScenarioError:
    return ScenarioError(
        f"{pod.key}: the annotation {PREFIX}{name}: expected {expected}.\n"
        f'Next: write `{PREFIX}runs-ms: "5000"`, or take it away.'
    )
