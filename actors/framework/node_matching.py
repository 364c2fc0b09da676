"""Where a pod may be by its selector and its affinity, of all nodes at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from actors.framework.podinfo import PodInfo
from actors.framework.snapshot import Snapshot
from testbed.objects import Requirement
from testbed.objects.affinity import NodeSelectorTerm

Mask = NDArray[np.bool_]
"""Whether, for each row of a Snapshot."""


def rows_wanted(pod: PodInfo, snapshot: Snapshot) -> Mask:
    """As `pod.may_be_on` of each row. Each value of a label is looked at once."""
    spec = pod.pod.spec
    rows = np.ones(len(snapshot), np.bool_)
    for key, value in spec.node_selector.items():
        rows &= _holding(Requirement(key, "In", (value,)), snapshot)
    nodes = spec.affinity.node_affinity if spec.affinity is not None else None
    if nodes is None or nodes.required is None:
        return rows
    some = np.zeros(len(snapshot), np.bool_)
    for term in nodes.required.node_selector_terms:
        some |= rows_meeting(term, snapshot)
    return rows & some


def rows_meeting(term: NodeSelectorTerm, snapshot: Snapshot) -> Mask:
    """As `term.matches` of each row; an empty term is met by none."""
    if not term.match_expressions and not term.match_fields:
        return np.zeros(len(snapshot), np.bool_)
    rows = np.ones(len(snapshot), np.bool_)
    for asked in term.match_expressions:
        rows &= _holding(asked, snapshot)
    for asked in term.match_fields:
        holds = (asked.holds({"metadata.name": name}) for name in snapshot.names)
        rows &= np.fromiter(holds, np.bool_, len(snapshot))
    return rows


def _holding(asked: Requirement, snapshot: Snapshot) -> Mask:
    codes, values = snapshot.label(asked.key)
    holds = [asked.holds({asked.key: value}) for value in values]
    return np.array([*holds, asked.holds({})], np.bool_)[codes]
