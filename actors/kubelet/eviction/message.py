"""Message: what the status of an evicted pod says (KUB-36)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from actors.kubelet.eviction.ranking import used_of
from actors.kubelet.eviction.signals import DISK, MEMORY, Observation, PodUse, shown
from actors.kubelet.eviction.threshold import Threshold
from testbed.objects.quantity import Quantity

NONE = Quantity(0)


def message_of(
    resource: str, each: PodUse, met: Iterable[Threshold], seen: Mapping[str, Observation]
) -> str:
    """The message, given all thresholds that are acted on and what was observed."""
    message = f"The node was low on resource: {resource}. "
    threshold = next((each for each in met if each.resource == resource), None)
    if threshold is not None:
        found = seen[threshold.signal]
        left = shown(resource, found.available)
        quantity = threshold.value.of(found.capacity)
        message += f"Threshold quantity: {quantity}, available: {left}. "
    return message + "".join(_containers(resource, each))


def _containers(resource: str, each: PodUse) -> Iterator[str]:
    """A sentence for each container that uses more than it requests. All that a pod uses counts as
    used by its first container: the testbed does not know which container uses what."""
    if each.used is None or resource not in (MEMORY, DISK):
        return
    for container in each.pod.spec.containers[:1]:
        used = used_of(each, resource)
        asked = container.resources.requests.get(resource, NONE)
        if used > asked.whole:
            yield (
                f"Container {container.name} was using {shown(resource, used)}, request is "
                f"{asked}, has larger consumption of {resource}. "
            )
