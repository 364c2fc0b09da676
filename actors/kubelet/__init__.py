"""The kubelet of a node, and the runtime that its containers run in.

May use: shared.
In order: switches, ending, workload, containers, usage, oom, meter, admission, eviction, runtime,
  runtime_client, status, status_writer, back_off, static_pods, lifecycle, evictor, oom_watcher,
  node_status, heartbeat, kubelet, machine, pulse, __init__, invariants, proving_grounds, mutants.
"""

from actors.kubelet.eviction import EvictionSettings, Threshold
from actors.kubelet.kubelet import Kubelet
from actors.kubelet.machine import Machine, MachineRuntime
from actors.kubelet.pulse import Pulse, PulseSensor
from actors.kubelet.runtime import Runtime
from actors.kubelet.workload import Workload

__all__ = [
    "EvictionSettings",
    "Kubelet",
    "Machine",
    "MachineRuntime",
    "Pulse",
    "PulseSensor",
    "Runtime",
    "Threshold",
    "Workload",
]
