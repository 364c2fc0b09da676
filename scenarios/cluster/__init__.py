"""A cluster without a race, for programs from outside: `testbed serve` serves it.

It has no guard, so it has no short name either, and no search goes through it.

May use: nothing beside it.
In order: __init__.
"""

from __future__ import annotations

from functools import partial

from actors.apiserver import ApiServer
from actors.apiserver.bootstrap import Bootstrap
from actors.apiserver.housekeeping import Housekeeping
from actors.controllers.daemonset import DaemonSetController
from actors.controllers.deployment.controller import DeploymentController
from actors.controllers.disruption.controller import DisruptionController
from actors.controllers.garbage import GarbageCollector
from actors.controllers.job.controller import JobController
from actors.controllers.node_lifecycle.lifecycle import NodeLifecycle
from actors.controllers.node_lifecycle.taint_eviction import TaintEviction
from actors.controllers.pod_gc import PodGC
from actors.controllers.quota import QuotaController
from actors.controllers.replicaset import ReplicaSetController
from actors.controllers.statefulset import StatefulSetController
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from testbed import World
from testbed.objects import Meta, Namespace, NamespaceStatus, Node
from testbed.objects.manifests import manifest

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
"""Those that every cluster has."""
BETWEEN = ":"
"""What stands between the paths of manifests."""
LOOPS = {
    "deployment-controller": DeploymentController,
    "replicaset-controller": ReplicaSetController,
    "statefulset-controller": StatefulSetController,
    "daemonset-controller": DaemonSetController,
    "job-controller": JobController,
}


def cluster(
    world: World,
    *,
    manifests: str = "",
    scheduler: bool = True,
    kubelets: bool = True,
    controllers: bool = True,
) -> None:
    """An API server with these objects, and the programs that keep a cluster going."""
    items = manifest.load(*manifests.split(BETWEEN)) if manifests else ()
    world.serve(ApiServer)
    there = {item.key for item in items}
    active = NamespaceStatus("Active")
    spaces = [Namespace(Meta(name), status=active) for name in NAMESPACES]
    world.add(*(space for space in spaces if space.key not in there), *items)
    world.start(Bootstrap("bootstrap"), Housekeeping())
    if scheduler:
        world.start(Scheduler("default-scheduler"))
    if kubelets:
        for item in items:
            if isinstance(item, Node):
                _run_kubelet(world, item.meta.name)
    if controllers:
        _start_controllers(world)


def _run_kubelet(world: World, node: str) -> None:
    world.serve(partial(Runtime, node=node))
    world.start(Kubelet(f"kubelet-{node}", node, switches={"heartbeat": "every"}))


def _start_controllers(world: World) -> None:
    world.start(*(loop(name) for name, loop in LOOPS.items()))
    world.start(DisruptionController(), GarbageCollector(), PodGC(), QuotaController("quota"))
    world.start(NodeLifecycle(), TaintEviction())
