"""A simulated cloud provider: its API, and what keeps a cluster's Nodes in step with it.

May use: shared.
In order: node_group, quota, cloud, controller, joining, __init__, invariants, proving_grounds,
  mutants.
"""

from actors.cloud.cloud import Cloud
from actors.cloud.controller import CloudController
from actors.cloud.joining import MachineKind, join_cloud
from actors.cloud.node_group import NodeGroup
from actors.cloud.quota import CloudQuota
from actors.shared.machines import Boot, CloudInstance

__all__ = [
    "Boot",
    "Cloud",
    "CloudController",
    "CloudInstance",
    "CloudQuota",
    "MachineKind",
    "NodeGroup",
    "join_cloud",
]
