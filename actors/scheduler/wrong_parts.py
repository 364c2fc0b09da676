"""Wrong parts: what mutants have in place of a right one: a loop, a plugin, a filter."""

from __future__ import annotations

from typing import Any

import attrs

from actors.framework.filter import State
from actors.framework.filters.inter_pod_affinity import InterPodAffinityFilter
from actors.framework.podinfo import PodInfo
from actors.framework.snapshot import Snapshot
from actors.framework.tally import Tally
from actors.scheduler.decisions.decision import Decision
from actors.scheduler.schedule_one import SchedulingLoop
from actors.scheduler.writes.deed import Deed
from actors.scheduler.writes.fail import Failure
from testbed import Client, Operation
from testbed.objects import Binding, Meta, Pod, Target


class BindsByName:
    """A Bind plugin that binds the pod that bears the name now, maybe another one."""

    name = "ByName"

    async def bind(self, client: Client, pod: Pod, node: str) -> Any:
        """Bind without naming the uid."""
        name, namespace = pod.meta.name, pod.meta.namespace
        body = Binding(Meta(name, namespace), target=Target(node))
        posted = Operation("create", pod.plural, name, namespace, body, subresource="binding")
        return await client.ask(posted)


class ClearsElsewhere(SchedulingLoop):
    """Does not clear the lower nominations on the chosen node: it looks at another one."""

    async def refused(self, deed: Deed, decision: Decision) -> Failure:
        found = decision.preemption
        if found is not None and found.chosen is not None:
            found = attrs.evolve(found, chosen=attrs.evolve(found.chosen, node="elsewhere"))
        return await super().refused(deed, attrs.evolve(decision, preemption=found))


class IgnoresTheirAntiAffinity(InterPodAffinityFilter):
    """Does not ask whether the pods on a node have an anti-affinity to the new one."""

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        return attrs.evolve(super().prepare(pod, snapshot), unwelcome=Tally({}))


class Hasty(SchedulingLoop):
    """Begins its first cycle when its informer of pods has listed, and waits for no other."""

    async def run(self) -> None:
        informers = self.books.informers

        async def synced() -> None:
            await informers.pods.synced()

        informers.synced = synced  # type: ignore[method-assign]
        await super().run()
