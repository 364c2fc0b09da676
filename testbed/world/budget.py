"""Budget: the limits of one Run. Nothing is unbounded; to reach a limit is a verdict, too."""

from __future__ import annotations

from typing import Any

import attrs

from testbed.errors import ScenarioError

LARGEST = 10**15
"""The largest limit, in any unit; more than any Run comes to."""


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
    horizon_ms: int | None = attrs.field(default=None, validator=_check)
    """A World at rest does not wait for timers further off than this; None: for every timer."""


USUAL = Budget()
"""The limits of a Run whose scenario sets none."""
UNBOUNDED = Budget(
    turns_max=LARGEST, instant_turns_max=USUAL.instant_turns_max, virtual_ms_max=LARGEST,
    trace_bytes_max=LARGEST,
)  # fmt: skip
"""The limits of a Run that others than the World end; only actors that go in circles end it."""
