"""The status of a pod, as a controller patches it."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.controllers.frame.pod_status import patch_status
from testbed import ApiError, Client
from testbed.objects import Pod
from tests.shared.stage import play, world_of

SEEN = {"type": "Seen", "status": "True"}


def test_only_the_pod_that_was_meant_is_patched() -> None:
    """Its other conditions stay; a pod of that name with another uid is left alone."""
    said: list[Any] = []

    async def user(client: Client) -> None:
        pod = await client.create(Pod.of("p"))
        await patch_status(client, pod, [{"type": "Old", "status": "True"}])
        await patch_status(client, pod, [SEEN], phase="Failed")
        for other in (pod.with_meta(uid="another"), Pod.of("q")):
            try:
                await patch_status(client, other, [SEEN], phase="Succeeded")
            except ApiError as error:
                said.append(error.reason)
        status = (await client.get(Pod, "p")).status
        said.extend((status.phase, *sorted(each.type for each in status.conditions)))

    world = world_of(user=user)
    world.serve(ApiServer)
    play(world)
    assert said == ["Conflict", "NotFound", "Failed", "Old", "Seen"]
