"""Registering: the Node that a machine becomes, how it turns Ready, and how it is taken away."""

from __future__ import annotations

import attrs

from actors.shared.machines.cloud_instance import CloudInstance
from actors.shared.retries import make, until_told
from testbed import Client, Conflict, NotFound, Operation, Selector
from testbed.objects import Condition, Map, Node, Pod, Taint
from testbed.objects.affinity import NO_SCHEDULE
from testbed.objects.calendar import whole_second
from testbed.objects.form import to_tree
from testbed.objects.meta import Meta
from testbed.objects.node import HOSTNAME

NOT_READY = Taint("node.kubernetes.io/not-ready", effect=NO_SCHEDULE)
"""On a node until it is Ready for the first time."""
READY = Condition("Ready", "True", "KubeletReady", "kubelet is posting ready status")
BOOTING = Condition("Ready", "False", "KubeletNotReady", "container runtime network not ready")


def node_of(template: Node, name: str, now_ms: int, *, is_ready: bool = True) -> Node:
    """The Node that a machine with this template becomes."""
    condition = attrs.evolve(READY if is_ready else BOOTING, since_ms=whole_second(now_ms))
    labels = template.meta.labels.having(**{HOSTNAME: name})
    taints = template.spec.taints if is_ready else (*template.spec.taints, NOT_READY)
    meta = Meta(name, labels=labels, annotations=template.meta.annotations)
    return attrs.evolve(
        template, meta=meta, spec=attrs.evolve(template.spec, taints=taints),
        status=attrs.evolve(template.status, conditions=(condition,)),
    )  # fmt: skip


async def register(client: Client, machine: CloudInstance) -> None:
    """Create the Node of a machine, unless it is there."""
    now_ms = client.elapsed()
    is_ready = machine.ready_ms is not None and machine.ready_ms <= now_ms
    assert machine.template is not None
    await make(client, node_of(machine.template, machine.meta.name, now_ms, is_ready=is_ready))


async def make_ready(client: Client, name: str) -> None:
    """Let a Node be Ready that is booting; nothing if it is not there, or is past that."""

    async def send() -> None:
        node = await client.get(Node, name, "")
        if any(each.reason == BOOTING.reason for each in node.status.conditions):
            since = attrs.evolve(READY, since_ms=whole_second(client.now()))
            change = {"status": {"conditions": [to_tree(since)]}}
            node = await client.patch(node, change, how="strategic", subresource="status")
        taints = tuple([each for each in node.spec.taints if each.key != NOT_READY.key])
        if taints != node.spec.taints:
            await client.update(attrs.evolve(node, spec=attrs.evolve(node.spec, taints=taints)))

    while True:
        try:
            await until_told(client, send, why=f"retry {name}")
        except Conflict:
            continue
        except NotFound:
            pass
        return


async def take_away(client: Client, name: str) -> None:
    """Delete the Node of a machine that is gone, and the pods that were on it, without grace."""
    await _delete(client, Operation("delete", Node.plural, name))
    here = Selector(fields=(("spec.node_name", name),))
    listing = await until_told(client, lambda: client.list(Pod, here), why=f"retry pods of {name}")
    for pod in listing.items:
        options = Map(grace_s=0)
        await _delete(
            client,
            Operation("delete", Pod.plural, pod.meta.name, pod.meta.namespace, options=options),
        )


async def _delete(client: Client, operation: Operation) -> None:
    try:
        await until_told(client, lambda: client.ask(operation), why=f"retry {operation}")
    except NotFound:
        return
