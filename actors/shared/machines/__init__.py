"""The machines of a cloud provider, as it and the kubelets that run there both see them.

May use: retries, settings, node_groups.
In order: boot, cloud_instance, watching, registering, __init__.
"""

from actors.shared.machines.boot import LOST, Boot
from actors.shared.machines.cloud_instance import CloudInstance
from actors.shared.machines.registering import make_ready, node_of, register, take_away
from actors.shared.machines.watching import MachineWatch

__all__ = [
    "LOST",
    "Boot",
    "CloudInstance",
    "MachineWatch",
    "make_ready",
    "node_of",
    "register",
    "take_away",
]
