"""Budget: how far one Run may go. Nothing here is unbounded; a limit reached is a verdict."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Budget:
    """The limits of one Run, set by its scenario (`world.limit(turns_max=…)`)."""

    turns_max: int = 100_000
    """Turns in all; then `Undecided`."""
    instant_turns_max: int = 10_000
    """Turns without time passing: actors that feed each other without a timer are a lasso."""
    virtual_ms_max: int = 24 * 3600 * 1000
    """Virtual time; an Option due later ends the Run, `Undecided`."""
    trace_bytes_max: int = 256 * 1024 * 1024
    """Size of the trace as text, counted as it is written."""
    delay_max_ms: int = 0
    """How late an Option may be while another that is due later overtakes it; 0: time passes only
    when nothing else can move, which every claim of completeness needs."""
    horizon_ms: int | None = None
    """Timers further off than this do not keep a quiet World going; None: every timer does."""
