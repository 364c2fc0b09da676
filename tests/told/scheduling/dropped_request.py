"""Dropped request: an autoscaler takes a scale-up for done, since it counts a node that is being
deleted, and grows again for the same pod (kubernetes/autoscaler#9813)."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from actors.shared.user import User
from testbed import Actor, ApiError, Client, Evidence, World, always
from testbed.objects import ConfigMap, Map, Node, Pod, Taint
from tests.told.frame import Told

GOING = "ToBeDeletedByClusterAutoscaler"
PASS_MS, UNNEEDED_MS, LAST_MS, BOOT_MS = 5_000, 10_000, 13_000, 20_000


@attrs.frozen
class Autoscaler(Actor):
    """Grows the group by one for a pod without a node, and shrinks it once. A scale-up is done when
    as many nodes are registered as the group wants; with `guard` those that go do not count."""

    guard: bool

    async def run(self, client: Client) -> None:
        """A pass every five seconds."""
        asked = False
        while True:
            await client.sleep(PASS_MS, "pass")
            nodes = (await client.list(Node)).items
            group = await client.get(ConfigMap, "group")
            target = int(group.data["target"])
            staying = [node for node in nodes if not node.spec.taints]
            if asked and len(staying if self.guard else nodes) >= target:
                asked = False
            waiting = [pod for pod in (await client.list(Pod)).items if not pod.is_bound]
            if waiting and not asked and len(staying) < 2:
                asked = True
                await self._resize(client, group, target + 1)
            elif client.now() == UNNEEDED_MS:
                spec = attrs.evolve(nodes[-1].spec, taints=(Taint(GOING, "", "NoSchedule"),))
                await client.update(attrs.evolve(nodes[-1], spec=spec))
                await self._resize(client, group, target - 1)

    async def _resize(self, client: Client, group: ConfigMap, target: int) -> None:
        await client.update(attrs.evolve(group, data=Map(target=str(target))))


class CloudController(Actor):
    """Deletes the Node of a machine that is gone, which takes a while; boots what is asked for."""

    async def run(self, client: Client) -> None:
        """Look every second."""
        since: dict[str, int] = {}
        while True:
            await client.sleep(1_000, "look")
            nodes = (await client.list(Node)).items
            target = int((await client.get(ConfigMap, "group")).data["target"])
            for node in nodes:
                began = since.setdefault(node.meta.name, client.now()) if node.spec.taints else None
                if began is not None and client.now() - began >= LAST_MS:
                    await client.delete(node)
            if sum(not node.spec.taints for node in nodes) >= target:
                since.pop("boot", None)
            elif client.now() - since.setdefault("boot", client.now()) >= BOOT_MS:
                try:
                    await client.create(Node.of(f"g-{client.now()}", cpu_m=1000))
                except ApiError:
                    continue


def one_node_for_one_pod(see: Evidence) -> str | None:
    """The group grows by one at most for the one pod that waits."""
    for change in see.changes:
        if isinstance(change.after, ConfigMap) and change.after.data["target"] == "3":
            return "the group was to have 2 nodes for pods/default/large, and is to have 3"
    return None


def dropped_request(world: World, *, guard: bool = False) -> None:
    """A pod waits for a node while another node is on its way out."""
    world.serve(ApiServer)
    world.add(Node.of("g-1", cpu_m=1000), Node.of("g-2", cpu_m=1000))
    world.add(ConfigMap("group", data=Map(target="2")))
    world.start(Autoscaler("autoscaler", guard), CloudController("cloud-controller"))
    world.start(User("user", ((12_000, Pod.of("large", cpu_m=1000)),)))
    world.claim(always(one_node_for_one_pod))
    world.limit(until_ms=60_000)


TRUE = Told(
    dropped_request,
    actor="autoscaler",
    about="configmaps/default/group",
    words=("g-2", "still", "counted", "counts", "guard", "deleted", "registered"),
    never=("^cloud-controller", "without ever having read", "^user"),
    said=(
        "autoscaler raised configmaps/default/group to 3, for it took its scale-up to 2 for "
        "done: it still counted nodes/g-2, which was being deleted."
    ),
)
