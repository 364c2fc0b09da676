"""Usage: what a pod uses of its node, as a function of the time since its containers started.

It stands in the annotations of the pod, so that templates and manifests can contain it (KUB-23):
`usage.testbed/memory: "0s=600M 10s=900M"`. One amount is used from the start on. With several
usages between bars, `600M | 900M`, the kubelet draws one when it admits the pod. `unknown`: there
are no statistics of the pod.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Self

import attrs

from actors.kubelet.workload import PREFIX as RUNS
from testbed.errors import ScenarioError
from testbed.objects import Map, Pod, Quantity
from testbed.objects.quantity import counted

PREFIX = "usage.testbed/"
UNKNOWN = "unknown"
BAR = "|"
NAMES = {
    "cpu": "cpu",
    "memory": "memory",
    "disk": "ephemeral-storage",
    "inodes": "inodes",
    "pids": "pids",
}
"""The resources by the last part of the annotation."""

Steps = tuple[tuple[int, int], ...]
"""From when on, in milliseconds since the start, how much is used."""


@attrs.frozen
class Usage:
    """What the containers of a pod use together."""

    steps: Map[Steps] = attrs.field(factory=Map)
    """By resource."""
    is_known: bool = True
    """Whether there are statistics."""

    @classmethod
    def of(cls, pod: Pod, drawn: Mapping[str, str] | None = None) -> Self:
        """The usage in the annotations of a pod, with what was drawn in place of those that leave a
        choice; without a draw, the first. ScenarioError if they make no sense."""
        found: dict[str, Steps] = {}
        for name, texts in usage_texts(pod).items():
            text = (drawn or {}).get(name, texts[0])
            if text == UNKNOWN:
                return cls(is_known=False)
            found[NAMES[name]] = _parsed(pod, name, text)
        return cls(Map(found))

    def at(self, ran_ms: int) -> Map[int] | None:
        """What is used after so long, by resource; None if it is unknown."""
        if not self.is_known:
            return None
        return Map(
            {
                name: next((used for at_ms, used in reversed(steps) if at_ms <= ran_ms), 0)
                for name, steps in self.steps.items()
            }
        )

    def ahead(self, ran_ms: int) -> object:
        """What is used after so long, and what will be: how much, and in how long."""
        later = {
            name: [(at - ran_ms, used) for at, used in steps if at > ran_ms]
            for name, steps in self.steps.items()
        }
        return self.is_known, self.at(ran_ms), later

    def changes_in_ms(self, ran_ms: int) -> int | None:
        """How long until it changes; None if it never does again."""
        ahead = [at - ran_ms for steps in self.steps.values() for at, _ in steps if at > ran_ms]
        return min(ahead, default=None)


def behave_alike(one: Pod, other: Pod) -> bool:
    """Whether the annotations of two pods say the same of what they use and how they run."""
    mine, theirs = one.meta.annotations, other.meta.annotations
    return mine == theirs or _behaviour(mine) == _behaviour(theirs)


def _behaviour(annotations: Mapping[str, str]) -> dict[str, str]:
    return {name: annotations[name] for name in annotations if name.startswith((PREFIX, RUNS))}


def usage_texts(pod: Pod) -> dict[str, tuple[str, ...]]:
    """The usages in the annotations of a pod, not parsed yet, by the last part of their name. Of
    several one is drawn. ScenarioError if there is no such resource."""
    found = {}
    for name, value in sorted(pod.meta.annotations.items()):
        if name.startswith(PREFIX):
            last = name.removeprefix(PREFIX)
            if last not in NAMES:
                raise _refused(pod, last, f"one of {', '.join(NAMES)}")
            found[last] = tuple(each.strip() for each in value.split(BAR))
    return found


def check_usage(pod: Pod) -> None:
    """Raise ScenarioError if any of the usages that could be drawn makes no sense. A kubelet that
    does not measure its pods would never read them."""
    for name, texts in usage_texts(pod).items():
        for text in texts:
            if text != UNKNOWN:
                _parsed(pod, name, text)


def _parsed(pod: Pod, name: str, text: str) -> Steps:
    """Steps such as `0s=600M 10s=900M`, or one amount."""
    try:
        return _steps(name, text)
    except ValueError as error:
        raise _refused(pod, name, str(error)) from None


# Each pod of a template says the same, each time that it is admitted or measured anew.
@lru_cache(1024)
def _steps(name: str, text: str) -> Steps:
    """The steps of a text; ValueError with what was expected."""
    words = text.split() if "=" in text else [f"0s={text}"]
    steps = tuple([_step(name, word) for word in words])
    if not steps or list(steps) != sorted(set(steps)):
        raise ValueError(f"times that grow, found {text!r}")
    return steps


def _step(name: str, word: str) -> tuple[int, int]:
    at, _, amount = word.partition("=")
    unit = 1 if at.endswith("ms") else 1000
    digits = at.removesuffix("s").removesuffix("m") if unit == 1 else at.removesuffix("s")
    try:
        used = counted(NAMES[name], Quantity.parse(amount))
        at_ms = int(digits) * unit if digits.isdecimal() and at.endswith("s") else -1
    except ValueError:
        at_ms = -1
    if at_ms < 0 or used < 0:
        raise ValueError(f"steps such as 0s=600M, found {word!r}")
    return at_ms, used


def _refused(pod: Pod, name: str, expected: str) -> ScenarioError:
    return ScenarioError(
        f"{pod.key}: the annotation {PREFIX}{name}: expected {expected}.\n"
        f'Next: write `{PREFIX}memory: "0s=600M 10s=900M"`, or take it away.'
    )
