"""Budget: the limits of one Run. Nothing is unbounded; to reach a limit is a verdict, too."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Budget:
    """The limits of one Run, set by its scenario (`world.limit(turns_max=…)`)."""

    turns_max: int = 100_000
    """Turns in all; when they are played, the Run is Undecided."""
    instant_turns_max: int = 10_000
    """Turns without time passing; actors that react to each other without a timer reach it."""
    virtual_ms_max: int = 24 * 3600 * 1000
    """Virtual time; if the next Option is due later, the Run is Undecided."""
    trace_bytes_max: int = 256 * 1024 * 1024
    """Size of the trace as it is written; one that is only kept is not counted."""
    delay_max_ms: int = 0
    """How late an Option may be: for that long, others that are due later may overtake it. With 0,
    time passes only when nothing else can move, as every claim of completeness requires."""
    horizon_ms: int | None = None
    """A World at rest does not wait for timers further off than this; None: for every timer."""
