"""Counts the rejected: a kubelet adds up all its pods to admit the next one, also the one that it
has just rejected, until that is known to have failed (kubernetes/kubernetes#135296)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.shared.user import User
from testbed import Actor, Cache, Client, Evidence, World, quiescent
from testbed.objects import Pod, requests_of
from tests.told.frame import Told

HAS_M = 1000


@attrs.frozen
class Kubelet(Actor):
    """Admits each pod of its node if there is room beside the others that are not over. With
    `guard` it leaves out those that it has rejected itself."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Admit, and let a task of its own write each status."""
        pods = Cache(client, Pod)
        rejected: set[str] = set()
        statuses, come = client.queue("statuses", idle=True), client.queue("pods", idle=True)
        client.spawn("status-manager", self._write, client, statuses)
        pods.on(add=come.put)
        while True:
            pod = await come.get()
            others = [each for each in pods.all() if each.key != pod.key and not each.is_over]
            if self.guard:
                others = [each for each in others if each.key not in rejected]
            used_m = sum(requests_of(each)["cpu"] for each in others)
            fits = used_m + requests_of(pod)["cpu"] <= HAS_M
            if not fits:
                rejected.add(pod.key)
                client.record("rejected", pod=pod.key, used_m=used_m)
            said = {"phase": "Running"} if fits else {"phase": "Failed", "reason": "OutOfcpu"}
            statuses.put((pod, said))

    async def _write(self, client: Client, statuses: Any) -> None:
        while True:
            pod, said = await statuses.get()
            await client.patch(pod, {"status": said}, subresource="status")


def what_fits_runs(see: Evidence) -> str | None:
    """The small pod runs: the node has room for it, and the large one never ran."""
    web: Any = see.store.peek("pods/default/web")
    if web is not None and web.value.status.reason == "OutOfcpu":
        return "pods/default/web asks for 20m of 1000m cpu, and was rejected: OutOfcpu"
    return None


def counts_rejected(world: World, *, guard: bool = False) -> None:
    """A small pod comes right after one that is far too large."""
    world.serve(ApiServer)
    world.start(Kubelet("kubelet", guard))
    big, web = (Pod.of(name, cpu_m=cpu_m, node_name="n1") for name, cpu_m in
                (("big", 1_000_000), ("web", 20)))  # fmt: skip
    world.start(User("ann", ((1_000, big), (1_134, web))))
    world.claim(quiescent(what_fits_runs))


TRUE = Told(
    counts_rejected,
    race="""
holds:
  - hold: kubelet patch pods/default/big/status
    until: kubelet patch pods/default/web/status
""",
    actor="kubelet",
    about="pods/default/web",
    words=("big",),
    did=(r"(reject|refus|fail|status of)\w* \S*web", "OutOfcpu"),
    never=(
        "not knowing of",
        "and never saw",
        "there was no",
        "the status of pods/default/big",
    ),
    said=(
        "kubelet rejected pods/default/web, OutOfcpu, since it still counted "
        "pods/default/big, which it had itself rejected: that status was on its way."
    ),
)
