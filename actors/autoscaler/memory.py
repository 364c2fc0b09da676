"""AutoscalerMemory: all that one life of the autoscaler knows. A restart begins with none of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from actors.autoscaler.announcer import Announcer
from actors.autoscaler.listers import Listers
from actors.autoscaler.listing_order import Order, as_sorted, picked_by
from actors.autoscaler.scale_down.actuation.surroundings import Surroundings
from actors.autoscaler.scale_down.scale_down import ScaleDown
from actors.autoscaler.settings import AutoscalerSettings
from actors.autoscaler.simulation.packer import Packer, RoundRobin
from actors.autoscaler.state.cloud_view import CloudView
from actors.autoscaler.state.cluster_state import ClusterState
from actors.autoscaler.switches import AutoscalerSwitches, chain_of
from actors.autoscaler.templates import Templates
from actors.framework.nodeinfo import NodeInfo
from testbed import Client


class AutoscalerMemory:
    """Its parts, for the steps of a pass, and for what goes on between passes."""

    scaling_down: ClassVar[type[ScaleDown]] = ScaleDown
    """What makes the cluster smaller; a mutant has another."""

    def __init__(
        self, settings: AutoscalerSettings, client: Client, cloud: str, announcer: Announcer
    ) -> None:
        self.settings = settings
        self.client = client
        self.switches: AutoscalerSwitches = client.switches
        self.announcer = announcer
        is_picked = self.switches.list_order == "picked"
        self.order: Order = picked_by(client) if is_picked else as_sorted
        """In which order it takes what it lists."""
        self.listers = Listers(client)
        """Its Caches."""
        self.cloud = CloudView(client, cloud)
        self.state = ClusterState(
            settings, self.cloud, announcer.warn, has_instance=self.switches.has_instance
        )
        self.infos: dict[str, NodeInfo] = {}
        """By name, the nodes of the last pass with their pods: what has not changed is not summed
        up again."""
        self.templates = Templates()
        self.round_robin = RoundRobin()
        self.packer = Packer(self.round_robin)
        """Puts pending pods where they would find room."""
        self.expanders = chain_of(self.switches.expander)
        around = Surroundings(client, settings, self.cloud, self.listers, announcer)
        self.scale_down = self.scaling_down(around, self.round_robin)

    def digest(self, now_ms: int) -> Mapping[str, Any]:
        """What its next actions depend on, beside its Caches; times count from now."""
        return {
            "cloud": self.cloud.digest(now_ms),
            "templates": self.templates.digest(),
            "hints": self.packer.digest(),
            "round robin": self.round_robin.digest(),
            "state": self.state.digest(now_ms),
            "scale-down": self.scale_down.digest(now_ms),
        }
