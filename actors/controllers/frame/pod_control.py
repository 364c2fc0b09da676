"""Pod control: creates pods from a template and deletes them, and keeps the expectations right."""

from __future__ import annotations

from collections.abc import Iterable

from actors.controllers.frame.control_loop import ControlLoop
from actors.controllers.frame.expectations import Expectations
from actors.controllers.frame.owned import owner_reference
from testbed import ApiError, NotFound, Operation
from testbed.objects import Meta, Object, Pod
from testbed.objects.event import WARNING
from testbed.objects.workload import PodTemplate

SLOW_START = 1
"""How many pods are created at first; as many again each time that all were created (T-30)."""


def pod_from(owner: Object, template: PodTemplate, name: str = "") -> Pod:
    """A new pod of that owner; without a name, the server generates one."""
    meta = template.meta
    return Pod(
        Meta(
            name, owner.meta.namespace, labels=meta.labels, annotations=meta.annotations,
            finalizers=meta.finalizers, owners=(owner_reference(owner),),
            generate_name="" if name else f"{owner.meta.name}-",
        ),
        spec=template.spec,
    )  # fmt: skip


class PodControl:
    """Creates and deletes the pods of owners, for one life of a controller."""

    def __init__(self, loop: ControlLoop, expected: Expectations) -> None:
        self._loop = loop
        self._expected = expected

    async def create(self, owner: Object, pods: Iterable[Pod]) -> None:
        """Create pods in batches of 1, 2, 4 and so on. Once one of a batch has failed, the batches
        after it are left to a later sync, and the error is raised (CTL-4)."""
        wanted = list(pods)
        self._expected.expect(owner.key, creates=len(wanted))
        await self.create_expected(owner, wanted)

    async def create_expected(self, owner: Object, wanted: list[Pod]) -> None:
        """The same, of pods that are expected already."""
        done, size = 0, SLOW_START
        while done < len(wanted):
            batch = wanted[done : done + size]
            errors = [error for pod in batch if (error := await self._create(owner, pod))]
            done, size = done + len(batch), 2 * size
            if errors:
                # Those that were not tried will not be heard of.
                for _ in wanted[done:]:
                    self._expected.created(owner.key)
                raise errors[0]

    async def _create(self, owner: Object, pod: Pod) -> ApiError | None:
        try:
            made = await self._loop.client.create(pod)
        except ApiError as error:
            # A create that got no answer may have been done all the same. Kubernetes takes it for
            # failed, and so may create the pod twice.
            self._expected.created(owner.key)
            self._loop.note(owner, "FailedCreate", f"Error creating: {error}", WARNING)
            return error
        self._loop.note(owner, "SuccessfulCreate", f"Created pod: {made.meta.name}")
        return None

    async def delete(self, owner: Object, pods: Iterable[Pod]) -> None:
        """Delete pods; the first error is raised when all have been tried."""
        doomed = list(pods)
        self._expected.expect(owner.key, deletes=[pod.key for pod in doomed])
        await self.delete_expected(owner, doomed)

    async def delete_expected(self, owner: Object, doomed: list[Pod]) -> None:
        """The same, of pods whose deletion is expected already."""
        errors = [error for pod in doomed if (error := await self._delete(owner, pod))]
        if errors:
            raise errors[0]

    async def _delete(self, owner: Object, pod: Pod) -> ApiError | None:
        meta = pod.meta
        try:
            # By name alone, as Kubernetes does it: a new pod of that name would be hit.
            await self._loop.client.ask(Operation("delete", "pods", meta.name, meta.namespace))
        except ApiError as error:
            self._expected.deleted(owner.key, pod.key)
            if isinstance(error, NotFound):
                return None
            self._loop.note(owner, "FailedDelete", f"Error deleting: {error}", WARNING)
            return error
        self._loop.note(owner, "SuccessfulDelete", f"Deleted pod: {meta.name}")
        return None
