"""Node selectors and node affinity, matched with all nodes at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from actors.framework.podinfo import PodInfo
from actors.framework.snapshot import Snapshot
from testbed.objects import Requirement
from testbed.objects.affinity import NodeSelectorTerm

Mask = NDArray[np.bool_]
"""True or False for each row of a Snapshot."""


def rows_wanted(pod: PodInfo, snapshot: Snapshot) -> Mask:
    """`pod.may_be_on` for each row. Each value of a label is matched once, not once a node."""
    spec = pod.pod.spec
    rows = np.ones(len(snapshot), np.bool_)
    for key, value in spec.node_selector.items():
        rows &= _rows_holding(Requirement(key, "In", (value,)), snapshot)
    nodes = spec.affinity.node_affinity if spec.affinity is not None else None
    if nodes is None or nodes.required is None:
        return rows
    some = np.zeros(len(snapshot), np.bool_)
    for term in nodes.required.node_selector_terms:
        some |= rows_meeting(term, snapshot)
    return rows & some


def rows_meeting(term: NodeSelectorTerm, snapshot: Snapshot) -> Mask:
    """`term.matches` for each row; an empty term matches no node."""
    if not term.match_expressions and not term.match_fields:
        return np.zeros(len(snapshot), np.bool_)
    rows = np.ones(len(snapshot), np.bool_)
    for requirement in term.match_expressions:
        rows &= _rows_holding(requirement, snapshot)
    for requirement in term.match_fields:
        holds = (requirement.holds({"metadata.name": name}) for name in snapshot.names)
        rows &= np.fromiter(holds, np.bool_, len(snapshot))
    return rows


def _rows_holding(requirement: Requirement, snapshot: Snapshot) -> Mask:
    codes, values = snapshot.label(requirement.key)
    holds = [requirement.holds({requirement.key: value}) for value in values]
    return np.array([*holds, requirement.holds({})], np.bool_)[codes]
