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


class Scheduler:
    """What it knows: the nodes, the pods as its watch has told, and what it has bound since."""

    def __init__(self) -> None:
        config.load_kube_config()
        self.api = client.CoreV1Api()
        selector = f"pool={POOL}" if POOL else ""
        self.nodes = self.api.list_node(label_selector=selector).items
        self.pods: dict[str, Any] = {}
        self.refused: dict[str, str] = {}

    def free(self, node: Any, priority: int, but: str) -> Decimal:
        """The cpu that is left for a pod of that priority, beside those that room was made for."""
        name = node.metadata.name
        here = [
            pod for key, pod in self.pods.items()
            if key != but and (
                pod.spec.node_name == name
                or (
                    pod.status.nominated_node_name == name
                    and pod.spec.scheduler_name == NAME
                    and (pod.spec.priority or 0) >= priority
                )
            )
        ]  # fmt: skip
        return parse_quantity(node.status.allocatable["cpu"]) - sum(map(asked, here), Decimal(0))

    def schedule(self, key: str) -> None:
        """Bind one pod to the first node with room, or make room for it."""
        pod, priority = self.pods[key], self.pods[key].spec.priority or 0
        for node in self.nodes:
            if asked(pod) <= self.free(node, priority, key):
                return self.bind(pod, node.metadata.name)
        for node in self.nodes:
            lesser = [
                each for each in self.pods.values()
                if each.spec.node_name == node.metadata.name
                and (each.spec.priority or 0) < priority
                and not each.metadata.deletion_timestamp
            ]  # fmt: skip
            if lesser and not pod.status.nominated_node_name:
                for each in lesser:
                    self.api.delete_namespaced_pod(each.metadata.name, each.metadata.namespace)
                status = {"status": {"nominatedNodeName": node.metadata.name}}
                meta = pod.metadata
                self.pods[key] = self.api.patch_namespaced_pod_status(
                    meta.name, meta.namespace, status
                )
                return None
        return None

    def bind(self, pod: Any, node: str) -> None:
        """Bind it, and count it there from now on."""
        meta = pod.metadata
        target = client.V1ObjectReference(kind="Node", name=node)
        body = client.V1Binding(
            metadata=client.V1ObjectMeta(name=meta.name, uid=meta.uid), target=target
        )
        try:
            self.api.create_namespaced_pod_binding(
                meta.name, meta.namespace, body, _preload_content=False
            )
        except client.ApiException as error:
            sys.stderr.write(f"{meta.name} was not bound: {error.status}\n")
            return
        pod.spec.node_name = node

    def run(self) -> None:
        """List, then watch; after each line look at every pod that waits."""
        listing = self.api.list_pod_for_all_namespaces()
        self.pods = {pod.metadata.name: pod for pod in listing.items}
        self.look()
        while True:
            revision = listing.metadata.resource_version
            stream = watch.Watch().stream(
                self.api.list_pod_for_all_namespaces, resource_version=revision
            )
            for event in stream:
                pod = event["object"]
                self.pods.pop(pod.metadata.name, None)
                if event["type"] != "DELETED":
                    self.pods[pod.metadata.name] = pod
                self.look()

    def look(self) -> None:
        """Try every pod that names this scheduler and waits, the most important first."""
        mine = [
            key for key, pod in self.pods.items()
            if pod.spec.scheduler_name == NAME and not pod.spec.node_name
            and not pod.metadata.deletion_timestamp
        ]  # fmt: skip
        for key in sorted(mine, key=lambda key: -(self.pods[key].spec.priority or 0)):
            self.schedule(key)


Scheduler().run()
