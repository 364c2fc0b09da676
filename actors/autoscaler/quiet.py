"""Quiet: whether further passes would find what the last one found, until there is news.

Kubernetes makes each pass. Here passes that can find nothing new are left out; all it changes is
that the World may come to rest. What the cloud does is no news, unless it shows in a Node: a target
that someone else changes meanwhile is noticed at the next pass.
"""

from __future__ import annotations

import attrs

from actors.autoscaler.memory import AutoscalerMemory
from actors.autoscaler.pass_record import YOUNG, PassRecord
from actors.autoscaler.scale_down.planning.unremovable import (
    BLOCKED_BY_POD,
    NO_PLACE,
    RECENTLY_UNREMOVABLE,
)
from actors.autoscaler.state.readiness import ready_since_ms
from actors.autoscaler.templates import STABLE_MS

VERDICTS = (BLOCKED_BY_POD, NO_PLACE, RECENTLY_UNREMOVABLE)
VERDICT = "stays"
"""Stands for any of them."""


def is_quiet(memory: AutoscalerMemory, before: PassRecord | None, record: PassRecord) -> bool:
    """Whether the last two passes are alike, and time alone changes nothing."""
    if before is None or _essence(before) != _essence(record):
        return False
    return not (record.error or _runs_a_clock(memory, record))


def _essence(record: PassRecord) -> object:
    """All of it but its time. Whether a node was tried and has to stay, or is not tried again yet,
    makes no difference."""
    unremovable = record.scale_down.unremovable
    reasons = {n: VERDICT if why.reason in VERDICTS else why for n, why in unremovable.items()}
    rest = attrs.evolve(record.scale_down, unremovable={})
    return attrs.evolve(record, at_ms=0, scale_down=rest), reasons


def _runs_a_clock(memory: AutoscalerMemory, record: PassRecord) -> bool:
    state = memory.state
    total = state.total
    return bool(
        state.requests or state.unregistered or state.wrong_sizes or total.not_started
        or total.unready or memory.scale_down.is_waiting(record.at_ms)
        or any(fate.fate == YOUNG for fate in record.pods.values())
        or any(state.backoff.is_on(group.name, record.at_ms) for group in memory.cloud.groups)
        or any(
            ready_since_ms(node) + STABLE_MS >= record.at_ms for node in memory.listers.nodes.all()
        )
    )  # fmt: skip
