"""Surroundings: what the tasks that delete nodes see and use, while passes go on beside them."""

from __future__ import annotations

import attrs

from actors.autoscaler.announcer import Announcer
from actors.autoscaler.asking import is_expendable
from actors.autoscaler.listers import Listers
from actors.autoscaler.settings import AutoscalerSettings
from actors.autoscaler.state.cloud_view import CloudView
from testbed import Client
from testbed.objects import Node, Object, Pod, PodDisruptionBudget


@attrs.frozen
class Surroundings:
    """What the autoscaler lends to its scale-down. It lists what its Caches hold at that time."""

    client: Client
    settings: AutoscalerSettings
    cloud: CloudView
    listers: Listers
    announcer: Announcer

    def nodes(self) -> list[Node]:
        """All registered nodes."""
        return self.listers.nodes.all()

    def scheduled_pods(self) -> list[Pod]:
        """The bound pods that have not ended; expendable ones count for nothing (CA-12)."""
        cutoff = self.client.switches.expendable_cutoff
        pods = (pod for pod in self.listers.pods.all() if pod.is_bound and not pod.is_over)
        return [pod for pod in pods if not is_expendable(pod, cutoff)]

    def budgets(self) -> list[PodDisruptionBudget]:
        """All disruption budgets."""
        return self.listers.budgets.all()

    def owner(self, kind: str, namespace: str, name: str) -> Object | None:
        """The owner of that name, or None."""
        return self.listers.owner(kind, namespace, name)
