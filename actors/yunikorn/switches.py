"""Switches of YuniKorn: what differs between the design document, version 1.1 and later ones."""

from __future__ import annotations

import attrs

from testbed.switches import Component, on_off, one_of, whole

SHIPPED, SEED = "shipped", "seed"
ONCE, EVERY_CYCLE = "once", "every_cycle"
SKIP, STOP_APP = "skip", "stop_app"
NONE, STRICT_LOWER = "none", "strict_lower"
SINGLE, MULTIPLE = "single", "multiple"


@attrs.frozen
class YuniKornSwitches:
    """All of them; the first value of each is that of version 1.1, the one beside 1.26 (GEN-2)."""

    start: str = one_of(SHIPPED, SEED)
    """How preemption for a reserved ask starts: `shipped`, within the scheduling cycle; `seed`, in
    a task beside it, once the reservation is old enough (YK-11)."""
    preemption_start_delay_ms: int = whole(0)
    """With `start=seed`, how old a reservation must have become (T-51)."""
    repeat: str = one_of(EVERY_CYCLE, ONCE)
    """Whether victims are looked for in every cycle until there is room, or never again once some
    were found (YK-12)."""
    repeat_ms: int = whole(1000, least=1)
    """With `repeat=every_cycle`, how long after a cycle that has released victims the next one
    comes if there is no news; it doubles each time. YuniKorn itself waits 100 ms each time."""
    unknown_node: str = one_of(STOP_APP, SKIP)
    """What an ask does whose required node is unknown: it ends the turn of its application, or is
    passed over (YK-5)."""
    cancels_reservations: bool = on_off(False)
    """Whether an ask that requires a node cancels the reservations of others there (YK-7)."""
    several_reservations: bool = on_off(False)
    """Whether several asks that require one node may reserve it (YK-7)."""
    bug_reserved_ask_blocks: bool = on_off(True)
    """A fault of version 1.1: an ask that has reserved its required node is tried again in each
    cycle, reserves again, and so ends the cycle for every ask behind it (YK-34)."""
    priority_filter: str = one_of(SHIPPED, NONE, STRICT_LOWER)
    """Which allocations may be victims: those of no higher priority, all but DaemonSet pods, or
    those of a lower priority (YK-16)."""
    class_order: str = one_of(SHIPPED, SEED)
    """Which class of victims goes last: originators, or those that opt out (YK-17, YK-18)."""
    opt_out_label: bool = on_off(False)
    """Whether a pod also opts out by a label of its own, as the design document has it; else only
    by the annotation, which is that of its priority class (YK-2)."""
    dirs: str = one_of("young_small", "young_large", "old_small", "old_large")
    """Of two victims of one class and one priority, which goes first (YK-19)."""
    strategy: str = one_of(SHIPPED, "single,multiple", "multiple,single", SINGLE, MULTIPLE)
    """How victims are selected; of two strategies the second is the fallback (YK-21, YK-26)."""
    deviation_pct: int = whole(10)
    """With `single`, how much more than the ask a victim may hold, in percent (YK-24)."""
    max_victims: int = whole(2, least=1)
    """With `multiple`, the most victims (YK-25)."""


YUNIKORN = Component(
    "yunikorn",
    YuniKornSwitches,
    {
        "seed": {
            "start": SEED, "repeat": ONCE, "priority_filter": NONE, "class_order": SEED,
            "opt_out_label": "on",
            "strategy": "single,multiple",
        },
        "k8s-1.26": {},
        "k8s-modern": {
            "repeat": ONCE, "unknown_node": SKIP, "cancels_reservations": "on",
            "several_reservations": "on", "bug_reserved_ask_blocks": "off",
        },
    },
)  # fmt: skip
"""With its profiles: the design document, version 1.1, and what is shipped now (GEN-1)."""
