"""Runtime client: how a kubelet asks the runtime of its node."""

from __future__ import annotations

from typing import Any

from actors.kubelet.runtime import runtime_of
from actors.kubelet.usage import check_usage, usage_texts
from testbed import Client, Operation, Unavailable
from testbed.objects import Map, Pod

RETRY_MS = 1000
"""How long a kubelet waits before it asks a runtime again that was down: the period in which the
real one looks for events of containers."""


async def ask_runtime(client: Client, operation: Operation) -> Any:
    """Ask the runtime of a node; retry while it is down."""
    while True:
        try:
            return await client.ask(operation)
        except Unavailable:
            await client.sleep(RETRY_MS, "retry runtime")


async def draw_usage(client: Client, node_name: str, pod: Pod) -> None:
    """Draw which of its usages a pod will have, if its annotations leave a choice; ScenarioError if
    they make no sense."""
    check_usage(pod)
    drawn = {
        name: client.pick(f"{name} of {pod.key}", texts)
        for name, texts in usage_texts(pod).items()
        if len(texts) > 1
    }
    if drawn:
        operation = Operation(
            "draw", "pods", pod.meta.name, pod.meta.namespace, Map(drawn), uid=pod.meta.uid,
            endpoint=runtime_of(node_name),
        )  # fmt: skip
        await ask_runtime(client, operation)
