"""Budget: the limits of one Run. Nothing is unbounded; to reach a limit is a verdict, too.

A scenario sets them (`world.limit(until_ms=45_000)`). A user sets them as switches of the World,
`limit.until_ms=45000`: so they go wherever switches go, and win over those of the scenario.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from testbed.errors import ScenarioError, UnknownName
from testbed.fault import Fault
from testbed.world.fault_settings import duration, is_duration, parse_duration, setting_name

LARGEST = 10**15
"""The largest limit, in any unit; more than any Run comes to."""
LIMIT = "limit"
"""The first part of the name of a switch that is a limit of the World."""
_WHOLE = re.compile(r"[0-9]{1,3}(_?[0-9]{3})*|[0-9]{1,15}")


def _check(_: object, field: attrs.Attribute[Any], value: Any) -> None:
    """Raise ScenarioError unless it is a whole number, or None where that is the default. Turns
    count from 1: a Chooser is told 0 if there is no limit of them."""
    if value is None and field.default is None:
        return
    least = 1 if field.name.endswith("turns_max") else 0
    if type(value) is not int or not least <= value <= LARGEST:
        none = ", or None" if field.default is None else ""
        raise ScenarioError(
            f"world.limit({field.name}={value!r}): expected a whole number from {least} to "
            f"{LARGEST:,}"
            f"{none}.\nNext: world.limit({field.name}={field.default or 1000})."
        )


@attrs.frozen(kw_only=True)
class Budget:
    """The limits of one Run, set by its scenario (`world.limit(turns_max=…)`)."""

    turns_max: int = attrs.field(default=100_000, validator=_check)
    """Turns in all; when they are played, the Run is Undecided."""
    instant_turns_max: int = attrs.field(default=10_000, validator=_check)
    """Turns without time passing; actors that react to each other without a timer reach it."""
    virtual_ms_max: int = attrs.field(default=24 * 3600 * 1000, validator=_check)
    """Virtual time; if the next Option is due later, the Run is Undecided."""
    trace_bytes_max: int = attrs.field(default=256 * 1024 * 1024, validator=_check)
    """Size of the trace as it is written; one that is only kept is not counted."""
    delay_max_ms: int = attrs.field(default=0, validator=_check)
    """How late an Option may be: for that long, others that are due later may overtake it. With 0,
    time passes only when nothing else can move, as every claim of completeness requires."""
    lateness_ms: int | None = attrs.field(default=None, validator=_check)
    """How much later than it is due anything may be that is held back, lags or is stalled; None:
    any time. With it, a deadline of a claim, a lease and a grace period mean something."""
    until_ms: int | None = attrs.field(default=None, validator=_check)
    """The time up to which the Run is played, and judged: no timer that is due later goes off, and
    no fault strikes later. What is in flight then comes in. None: to its end."""

    def __attrs_post_init__(self) -> None:
        if self.lateness_ms is not None and self.delay_max_ms > self.lateness_ms:
            raise ScenarioError(
                f"world.limit(delay_max_ms={self.delay_max_ms:_}): nothing may be later than "
                f"lateness_ms={self.lateness_ms:_}.\n"
                f"Next: world.limit(delay_max_ms={self.lateness_ms:_})."
            )


def check_lateness(budget: Budget, faults: Iterable[Fault]) -> None:
    """Raise ScenarioError if one of these faults makes things later than they may be."""
    for fault in faults:
        late_ms = getattr(fault, fault.lateness, 0) if fault.lateness else 0
        if budget.lateness_ms is not None and late_ms > budget.lateness_ms:
            name = setting_name(fault.lateness)
            raise ScenarioError(
                f"{fault.word},{name}={duration(late_ms)}: nothing may be later than "
                f"lateness_ms={budget.lateness_ms:_}.\n"
                f"Next: allow {fault.word},{name}={duration(budget.lateness_ms)}, or say a larger "
                "lateness_ms."
            )


USUAL = Budget()
"""The limits of a Run whose scenario sets none."""
UNBOUNDED = Budget(
    turns_max=LARGEST, instant_turns_max=USUAL.instant_turns_max, virtual_ms_max=LARGEST,
    trace_bytes_max=LARGEST,
)  # fmt: skip
"""The limits of a Run that others than the World end; only actors that go in circles end it."""


def is_limit(switch: str) -> bool:
    """True for the name of a switch that is a limit of the World."""
    return switch.rpartition(".")[0] == LIMIT


def limits_in(switches: Mapping[str, Any]) -> dict[str, int]:
    """The limits among these switches, by name: whole numbers, or durations such as `45s`."""
    limits: dict[str, int] = {}
    for switch in filter(is_limit, switches):
        text, name = switches[switch], switch.rpartition(".")[2]
        known = [field.name for field in attrs.fields(Budget)]
        if name not in known:
            raise UnknownName("limit", name, known, see=f"say {LIMIT}.until_ms=45s")
        plain = str(text).strip()
        ms = parse_duration(plain) if is_duration(name) or name.endswith("_ms_max") else None
        if ms is None and not _WHOLE.fullmatch(plain):
            raise ScenarioError(
                f"limit {name}={text}: expected a whole number"
                f"{', or a duration such as 45s' if 'ms' in name else ''}.\n"
                f"Next: say {name}=45000."
            )
        limits[name] = int(plain) if ms is None else ms
    return limits
