"""A scheduler on the `kubernetes` client: binds the pods that name it, and makes room for them."""

# mypy: disable-error-code="no-untyped-call, union-attr, arg-type, misc, no-any-return"

import sys
from decimal import Decimal
from typing import Any

from kubernetes import client, config, watch
from kubernetes.utils.quantity import parse_quantity

NAME, POOL = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""


def asked(pod: Any) -> Decimal:
    """The cpu that a pod asks for."""
    given = [(c.resources.requests or {}) for c in pod.spec.containers if c.resources]
    return sum((parse_quantity(each.get("cpu", "0")) for each in given), Decimal(0))


def priority(pod: Any) -> int:
    """How important it is."""
    return pod.spec.priority or 0


class Scheduler:
    """What it knows: the nodes, and the pods as its watch has told, or as it has bound them."""

    def __init__(self) -> None:
        config.load_kube_config()
        self.api = client.CoreV1Api()
        selector = f"pool={POOL}" if POOL else ""
        self.nodes = self.api.list_node(label_selector=selector).items
        self.pods: dict[str, Any] = {}

    def has_room(self, node: Any, wanted: Any) -> bool:
        """Whether a pod fits there, beside those that are bound, and those it has made room for."""
        free = parse_quantity(node.status.allocatable["cpu"]) - asked(wanted)
        for pod in self.pods.values():
            spec, nominated = pod.spec, pod.status.nominated_node_name
            is_kept = spec.scheduler_name == NAME and priority(pod) >= priority(wanted)
            is_there = spec.node_name or (is_kept and nominated)
            if pod is not wanted and is_there == node.metadata.name:
                free -= asked(pod)
        return free >= 0

    def schedule(self, pod: Any) -> None:
        """Bind one pod to the first node with room, or make room for it."""
        for node in self.nodes:
            if self.has_room(node, pod):
                return self.bind(pod, node.metadata.name)
        for node in self.nodes:
            place = node.metadata.name
            there = [each for each in self.pods.values() if each.spec.node_name == place]
            lesser = [each for each in there if priority(each) < priority(pod)]
            victims = [each.metadata for each in lesser if not each.metadata.deletion_timestamp]
            if victims and not pod.status.nominated_node_name:
                for victim in victims:
                    self.api.delete_namespaced_pod(victim.name, victim.namespace)
                status, meta = {"status": {"nominatedNodeName": place}}, pod.metadata
                patch = self.api.patch_namespaced_pod_status
                self.pods[meta.name] = patch(meta.name, meta.namespace, status)
                return None
        return None

    def bind(self, pod: Any, node: str) -> None:
        """Bind it, and count it there from now on."""
        name, namespace, uid = pod.metadata.name, pod.metadata.namespace, pod.metadata.uid
        target = client.V1ObjectReference(kind="Node", name=node)
        body = client.V1Binding(metadata=client.V1ObjectMeta(name=name, uid=uid), target=target)
        bind = self.api.create_namespaced_pod_binding
        try:
            bind(name, namespace, body, _preload_content=False)
            pod.spec.node_name = node
        except client.ApiException as error:
            sys.stderr.write(f"{name} was not bound: {error.status}\n")

    def look(self) -> None:
        """Try every pod that names this scheduler and waits, the most important first."""
        for pod in sorted(self.pods.values(), key=priority, reverse=True):
            is_mine = pod.spec.scheduler_name == NAME and not pod.spec.node_name
            if is_mine and not pod.metadata.deletion_timestamp:
                self.schedule(pod)

    def run(self) -> None:
        """List, then watch; after each line look at every pod that waits."""
        listing = self.api.list_pod_for_all_namespaces()
        self.pods = {pod.metadata.name: pod for pod in listing.items}
        self.look()
        while True:
            follow, since = watch.Watch(), listing.metadata.resource_version
            pods = self.api.list_pod_for_all_namespaces
            for event in follow.stream(pods, resource_version=since):
                pod = event["object"]
                self.pods.pop(pod.metadata.name, None)
                if event["type"] != "DELETED":
                    self.pods[pod.metadata.name] = pod
                self.look()


Scheduler().run()
