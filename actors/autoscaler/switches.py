"""Switches of the autoscaler: what differs between versions, or what a scenario takes away."""

from __future__ import annotations

import attrs

from actors.autoscaler.expander import Expander, OwnExpander
from actors.autoscaler.expanders import expander_classes
from testbed.policy import chain, made
from testbed.switches import Component, on_off, one_of, whole

LOWEST = -(2**31)


@attrs.frozen
class AutoscalerSwitches:
    """All of them; the first value of each is that of 1.26 (GEN-2)."""

    expander: str = chain(
        "random",
        "expander",
        "a subclass of Expander",
        "best",
        found=expander_classes,
        last="random",
    )
    """Which group grows if several could: an expander, or a chain of them, of which each keeps the
    best of what the one before has kept (CA-19)."""
    expendable_cutoff: int = whole(-10, least=LOWEST)
    """Pods of a lower priority than this never ask for room, and count for nothing (CA-9)."""
    nominated_rule: str = one_of("if_node_exists", "always", "never")
    """Which nominated pods ask for no room: those nominated to a node that exists, all, or none
    (CA-10)."""
    filter_daemonset_pods: bool = on_off(False)
    """Whether daemon pods never ask for room (CA-15)."""
    has_instance: bool = on_off(False)
    """Whether its provider can say that an instance still exists. If not, a node that is tainted
    to go counts as gone already, and for a while it seems that another one comes (CA-21)."""
    list_order: str = one_of("sorted", "picked")
    """In which order it takes nodes and pods: by name, or in any, as a program does that keeps
    them in maps."""
    events: bool = on_off(True)
    """Whether it writes Events. No program decides by them; without them, Runs are shorter."""
    status: bool = on_off(True)
    """Whether it writes the status ConfigMap at the end of each pass."""


AUTOSCALER = Component(
    "autoscaler",
    AutoscalerSwitches,
    {
        "seed": {"expendable_cutoff": "0", "nominated_rule": "always"},
        "k8s-1.26": {},
        "k8s-modern": {"expander": "least-waste", "filter_daemonset_pods": "on"},
    },
)
"""With its profiles, and the switches in them that are not as in 1.26 (GEN-1)."""


def chain_of(value: str) -> tuple[Expander, ...]:
    """The expanders that the switch names, in its order."""
    known = expander_classes()
    names = value.split(",")
    return tuple(known[name]() if name in known else OwnExpander(made(name)) for name in names)
