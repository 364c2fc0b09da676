"""Surroundings: what the tasks that delete nodes see and use, while passes go on beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from actors.autoscaler.settings import AutoscalerSettings
from actors.autoscaler.state.cloud_view import CloudView
from testbed import Client
from testbed.objects import Node, Object, Pod, PodDisruptionBudget
from testbed.objects.event import NORMAL


class Surroundings(Protocol):
    """What the autoscaler lends to its scale-down. It lists what its Caches hold at that time."""

    client: Client
    settings: AutoscalerSettings
    cloud: CloudView

    def nodes(self) -> Sequence[Node]:
        """All registered nodes."""

    def scheduled_pods(self) -> Sequence[Pod]:
        """The bound pods that have not ended; expendable ones are left out (CA-12)."""

    def budgets(self) -> Sequence[PodDisruptionBudget]:
        """All disruption budgets."""

    def owner(self, kind: str, namespace: str, name: str) -> Object | None:
        """The owner of that name, or None."""

    def note(self, item: Object, reason: str, message: str, kind: str = NORMAL) -> None:
        """Write an Event about a pod or a node."""

    def note_status(self, reason: str, message: str, kind: str = NORMAL) -> None:
        """Write an Event about the cluster."""
