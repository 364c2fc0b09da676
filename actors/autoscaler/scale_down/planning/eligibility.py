"""Eligibility: which nodes a pass looks at, and which of them are worth a simulation."""

from __future__ import annotations

import attrs

from actors.autoscaler.pass_record import Unremovable
from actors.autoscaler.scale_down.planning.outlook import Outlook
from actors.autoscaler.scale_down.planning.unremovable import (
    BEING_DELETED,
    DISABLED,
    NOT_UNDERUTILISED,
    RECENTLY_UNREMOVABLE,
    UNEXPECTED,
    UnremovableNodes,
)
from actors.autoscaler.scale_down.taints import is_going
from actors.autoscaler.scale_down.utilization import UNKNOWN, Utilization, utilization_of
from actors.autoscaler.settings import AutoscalerSettings
from actors.framework.nodeinfo import NodeInfo
from testbed.objects import Node

DISABLED_ANNOTATION = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
"""The annotation of a node that is to stay."""


def is_disabled(node: Node) -> bool:
    """Whether an annotation says that the node is to stay."""
    return node.meta.annotations.get(DISABLED_ANNOTATION) == "true"


def candidates(outlook: Outlook) -> list[str]:
    """The nodes that are looked at: those of a group that wants more nodes than its minimum. Others
    do not even have their utilization computed (CA-25)."""
    group_of = outlook.group_of
    found = []
    for node in outlook.nodes:
        group = group_of.get(node.meta.name)
        if group is not None and group.target > group.min_size:
            found.append(node.meta.name)
    return found


@attrs.define
class Eligible:
    """What became of the candidates before any simulation."""

    names: list[str] = attrs.field(factory=list)
    """Those that are used so little that they may go."""
    utilization: dict[str, Utilization] = attrs.field(factory=dict)
    """Of all candidates, also of those that stay for another reason."""


def eligible(
    outlook: Outlook, names: list[str], unremovable: UnremovableNodes, settings: AutoscalerSettings
) -> Eligible:
    """Sort out the candidates. A node stays if a simulation found it unremovable a short while ago,
    or else if it is being deleted, annotated, or used enough, in this order (CA-26)."""
    found = Eligible()
    for name in names:
        info = outlook.simulation.get(name)
        if info is not None:
            found.utilization[name] = utilization(info, outlook.now_ms, settings)
        if info is None:
            reason = UNEXPECTED
        elif unremovable.is_recent(name):
            reason = RECENTLY_UNREMOVABLE
        else:
            reason = _reason(info, outlook.now_ms, settings, found)
        if reason:
            unremovable.add(name, Unremovable(reason))
        else:
            found.names.append(name)
    return found


def _reason(info: NodeInfo, now_ms: int, settings: AutoscalerSettings, found: Eligible) -> str:
    """Why a node stays; empty if it may go."""
    if info.node is None or is_going(info.node, now_ms):
        return BEING_DELETED
    if is_disabled(info.node):
        return DISABLED
    used = found.utilization[info.name]
    is_used = used.highest.is_at_least(settings.utilization_threshold_per_mille)
    return NOT_UNDERUTILISED if is_used else ""


def utilization(info: NodeInfo, now_ms: int, settings: AutoscalerSettings) -> Utilization:
    """The utilization of a node as the settings count it."""
    used = utilization_of(
        info,
        now_ms,
        ignore_daemons=settings.ignore_daemonsets_utilization,
        ignore_mirrors=settings.ignore_mirror_pods_utilization,
    )
    return UNKNOWN if used is None else used
