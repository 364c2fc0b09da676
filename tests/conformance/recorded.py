"""Recorded: a line with what the real scheduler was seen to do, and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import attrs

from tests.conformance.shape import Line
from tests.models.observed import LOST, Attempt, Details, Write
from tests.models.timelines import SCHEDULER, Cluster, Deed, creates

BEGINS_MS = 3000
"""When its first second begins: the schedulers were started some seconds before."""
AFTER_MS = 1500
"""For so long after the last thing that was seen."""
WRITES = ("bind", "delete", "patch-status")
OUTSIDE = ("create", "removed", "phase", "restart")
"""What moves pods that wait, beside a tick."""
LATER_MS = 20
"""A tick is no earlier than the tenth of a second it was noted in."""
CLOSE_S = 0.35
"""As near as that to something, it may have come of it."""
OWNERS = {"GT-E3": {"p": "s1", "q": "s2", "p-again": "s1"}}
"""Whose the pods are where there are several schedulers, and the line does not say so."""
DONE, COMMITTED = (200, 201), "committed"


@attrs.frozen
class Recording:
    """One recorded line."""

    id: str
    setup: Mapping[str, Any]
    observed: Sequence[Mapping[str, Any]]
    attempts: Sequence[Mapping[str, Any]]
    final: Sequence[Details]

    @classmethod
    def of(cls, line: Line) -> Self:
        """Make a Recording of a line."""
        return cls(*(line[name] for name in ("id", "setup", "observed", "attempts", "final")))

    def seen(self, actor: str, *verbs: str) -> Iterator[Mapping[str, Any]]:
        """What was seen of an actor."""
        for each in self.observed:
            if each["actor"] == actor and each["verb"] in verbs:
                yield each

    @property
    def owners(self) -> Mapping[str, str]:
        """The scheduler of each pod."""
        given = OWNERS.get(self.id, {})
        said = {each["name"]: each.get("scheduler") for each in self.setup["creates"]}
        return {name: given.get(name) or owner or SCHEDULER for name, owner in said.items()}

    @property
    def schedulers(self) -> tuple[str, ...]:
        """The names of the schedulers."""
        return tuple(sorted(set(self.owners.values())))

    @property
    def lag_ms(self) -> int:
        """How late the scheduler sees every pod."""
        return _ms(self.setup["watch_lag_s"])

    @property
    def tick_ms(self) -> int:
        """At which millisecond of a second its timers fire, read from the first cycle that only
        a timer can have started."""
        moved = [0.0, *(each["t"] for each in self.observed if each["verb"] in OUTSIDE)]
        for each in self.attempts:
            if all(not 0 <= round(each["t"] - t, 3) <= CLOSE_S for t in moved):
                return _ms(each["t"]) % 1000 + LATER_MS
        return 500

    @property
    def until_ms(self) -> int:
        """When it ends."""
        return AFTER_MS + max(_ms(each["t"]) for each in (*self.observed, *self.attempts))

    def cluster(self) -> Cluster:
        """The cluster at the start, and what was done to it from outside."""
        ends = {
            each["object"]: _ms(each["t"])
            for each in self.seen("kubelet", "phase")
            if each["details"]["phase"] == "Succeeded"
        }
        deleted = [
            Deed(_ms(each["t"]), "delete", {"name": each["object"]})
            for each in self.seen("user", "delete")
        ]
        pods = [{**each, "scheduler": self.owners[each["name"]]} for each in self.setup["creates"]]
        return Cluster(
            self.setup["nodes"], self.setup["pods"], self.setup["pdbs"],
            [*creates(pods), *deleted], ends, BEGINS_MS, self.until_ms, start_delay_ms=1000,
        )  # fmt: skip

    def surroundings(self) -> list[tuple[int, str]]:
        """What kubelets did, and when, in the words of `visible`."""
        return [
            (_ms(each["t"]), _as_visible(each)) for each in self.seen("kubelet", "removed", "phase")
        ]

    def writes(self) -> list[Write]:
        """The writes of the scheduler."""
        return [_write(each, self.schedulers) for each in self.seen("scheduler", *WRITES)]

    def tried(self) -> list[Attempt]:
        """Its cycles, in order."""
        return [
            Attempt(
                _ms(each["t"]), each["pod"], each["attempt"], each.get("life", 1),
                each["result"], each.get("then", ""),
            )
            for each in self.attempts
        ]  # fmt: skip


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _as_visible(each: Mapping[str, Any]) -> str:
    details = each["details"]
    if each["verb"] == "removed":
        return f"remove {each['object']}"
    reason = f" {details['reason']}" if "reason" in details else ""
    return f"phase {each['object']} {details['phase']}{reason}"


def _write(each: Mapping[str, Any], schedulers: tuple[str, ...]) -> Write:
    details = dict(each["details"])
    details.pop("options", None)
    result = details.pop("result")
    details.pop("injected", None)
    outcome = "" if result in DONE else _refusal(result)
    actor = schedulers[0] if len(schedulers) == 1 else ""
    return Write(_ms(each["t"]), actor, each["verb"], each["object"], details, outcome)


def _refusal(result: int | str) -> str:
    if isinstance(result, str) and result.startswith(COMMITTED):
        return LOST
    return {403: "Forbidden", 409: "Conflict"}[int(result)]
