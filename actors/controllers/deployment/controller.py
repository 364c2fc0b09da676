"""The Deployment controller: scales ReplicaSets, which in turn create and delete the pods.

1. It finds the ReplicaSet of the template, or creates it under a name that follows from the
   template alone: a second create is refused.
2. If the Deployment was scaled, all ReplicaSets are scaled (`scaling`). Else the rollout makes its
   next step (`rollout`).
3. It sums up their counts in the status, and deletes old ReplicaSets that are empty.

Left out: rollbacks, the progress deadline, and the adoption of ReplicaSets by their labels.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from actors.controllers.deployment import bounds, revision, rollout, scaling
from actors.controllers.frame import pod_state
from actors.controllers.frame.control_loop import ControlLoop, KeyedController, at_key
from actors.controllers.frame.owned import Owned
from actors.controllers.frame.wanted import wanted_by
from actors.shared.owners import controller_of
from testbed import Client
from testbed.errors import AlreadyExists
from testbed.objects import Condition, Deployment, DeploymentStatus, Pod, ReplicaSet
from testbed.objects.condition import having
from testbed.objects.meta import evolved

POD_READS = ("meta.owners", "meta.deleted_ms", "status.phase")


class DeploymentLoop(ControlLoop):
    """One life of the Deployment controller."""

    def __init__(self, settings: KeyedController, client: Client) -> None:
        super().__init__(settings, client)
        self.deployments = self.cache(Deployment, reads=None)
        self.deployments.on(add=self.want, update=self.want)
        self._set_cache = self.cache(ReplicaSet, reads=None)
        self.sets = Owned(self._set_cache, self.deployments, self.todo.add)
        self.pods: Owned[Pod, ReplicaSet] | None = None
        """The pods of each ReplicaSet, once a Deployment of the kind Recreate needs them."""

    async def sync(self, key: str) -> None:
        """Make the next step of one Deployment."""
        item = at_key(self.deployments, key)
        if item is None:
            return
        sets = self.sets.of(item)
        new = revision.newest_of(item, sets)
        if item.meta.is_terminating:
            await self._sum_up(item, new, sets)
            return
        if item.spec.paused or scaling.is_rescaled(item, sets):
            old = [each for each in sets if each is not new]
            await self._resize(item, scaling.scaled(item, new, old))
        else:
            new = await self._roll(item, new, sets)
            sets = [each for each in sets if each.key != new.key] + [new]
        await self._sum_up(item, new, sets)

    # -- the rollout ----------------------------------------------------------------------------

    async def _roll(
        self, item: Deployment, new: ReplicaSet | None, sets: Sequence[ReplicaSet]
    ) -> ReplicaSet:
        """Make a step of the rollout, and return the new ReplicaSet."""
        old = [each for each in sets if each is not new]
        if not bounds.is_rolling(item) and await self._must_wait(item, old):
            return new or revision.new_set(item, 0)
        number = 1 + max(map(revision.revision_of, old), default=0)
        if new is None:
            return await self._create(item, old, number)
        new = await self._renumbered(item, new, number)
        if bounds.is_rolling(item):
            steps = self.stepped(item, new, old)
        else:
            steps = [scaling.Resize(new, wanted_by(item))]
        if steps:
            self._record_step(item, new, old, steps)
        await self._resize(item, steps)
        if not steps and _is_complete(item):
            await self._clean_up(item, old)
        return new

    def stepped(
        self, item: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]
    ) -> list[scaling.Resize]:
        """The next step of a rolling update."""
        return rollout.stepped(item, new, old)

    async def _create(self, item: Deployment, old: Sequence[ReplicaSet], number: int) -> ReplicaSet:
        size = rollout.first_size(item, old)
        new = self._noted(item, revision.new_set(item, size), number)
        self._record_step(item, new, old, ())
        try:
            made = await self.client.create(new)
        except AlreadyExists:
            meta = new.meta
            there = await self.client.get(ReplicaSet, meta.name, meta.namespace)
            ref = controller_of(there)
            if ref is not None and ref.uid == item.meta.uid:
                return there
            # Another owner has the name. The next try has another one.
            count = (item.status.collision_count or 0) + 1
            await self.update_status(item, attrs.evolve(item.status, collision_count=count))
            raise
        self.note(item, "ScalingReplicaSet", f"Scaled up replica set {made.meta.name} to {size}")
        return made

    def _record_step(
        self,
        item: Deployment,
        new: ReplicaSet,
        old: Sequence[ReplicaSet],
        steps: Sequence[scaling.Resize],
    ) -> None:
        """Record a step of the rollout: the sizes that its ReplicaSets are to have, as far as this
        controller has heard of them."""
        sizes = {each.meta.name: wanted_by(each) for each in (*old, new)}
        sizes |= {step.item.meta.name: step.replicas for step in steps}
        self.client.record(
            "rollout", item=item.key, wanted=wanted_by(item), surge=bounds.max_surge(item),
            must=bounds.min_available(item), sizes=sizes, new=new.meta.name,
            available=new.status.available_replicas,
            grows=not steps or sizes[new.meta.name] > wanted_by(new),
        )  # fmt: skip

    async def _renumbered(self, item: Deployment, new: ReplicaSet, number: int) -> ReplicaSet:
        """Give the new ReplicaSet the highest revision: an older one may have become the new one
        again."""
        number = max(number, revision.revision_of(new))
        min_ready_s = item.spec.min_ready_s
        if new.spec.min_ready_s == min_ready_s and revision.revision_of(new) == number:
            return new
        spec = evolved(new.spec, min_ready_s=min_ready_s)
        annotations = new.meta.annotations.having(**{revision.REVISION: str(number)})
        changed = evolved(new, spec=spec).with_meta(annotations=annotations)
        return await self.client.update(changed)

    async def _must_wait(self, item: Deployment, old: Sequence[ReplicaSet]) -> bool:
        """For Recreate: end all old pods; whether any is left that may still run."""
        steps = [scaling.Resize(each, 0) for each in scaling.active(old)]
        await self._resize(item, steps)
        pods = await self._pods()
        return bool(steps) or any(
            not pod_state.is_over(pod) for each in old for pod in pods.of(each)
        )

    async def _pods(self) -> Owned[Pod, ReplicaSet]:
        """The pods of each ReplicaSet, from the first time that they are needed."""
        if self.pods is None:
            cache = self.cache(Pod, reads=POD_READS)
            self.pods = Owned(cache, self._set_cache, self._pod_changed)
            await cache.synced()
        return self.pods

    def _pod_changed(self, key: str) -> None:
        owned = at_key(self._set_cache, key)
        owner = None if owned is None else self.sets.owner(owned)
        if owner is not None:
            self.want(owner)

    # -- writes ---------------------------------------------------------------------------------

    async def _resize(self, item: Deployment, steps: Sequence[scaling.Resize]) -> None:
        """Write the sizes that have changed. An update of an old state of a ReplicaSet is refused;
        then the Deployment is synced again."""
        for step in steps:
            number = revision.revision_of(step.item)
            spec = evolved(step.item.spec, replicas=step.replicas)
            new = self._noted(item, evolved(step.item, spec=spec), number)
            if new == step.item:
                continue
            await self.client.update(new)
            if step.replicas != wanted_by(step.item):
                way = "up" if step.replicas > wanted_by(step.item) else "down"
                name = step.item.meta.name
                message = f"Scaled {way} replica set {name} to {step.replicas}"
                self.note(item, "ScalingReplicaSet", message)

    def _noted(self, item: Deployment, each: ReplicaSet, number: int) -> ReplicaSet:
        """The ReplicaSet, with annotations of what the Deployment wants now."""
        wanted = wanted_by(item)
        notes = {scaling.DESIRED: wanted, scaling.MOST: wanted + bounds.max_surge(item)}
        if number:
            notes[revision.REVISION] = number
        texts = {name: str(value) for name, value in notes.items()}
        return each.with_meta(annotations=each.meta.annotations.having(**texts))

    async def _clean_up(self, item: Deployment, old: Sequence[ReplicaSet]) -> None:
        """Delete the oldest of the empty ReplicaSets beyond the limit of the history."""
        limit = item.spec.revision_history_limit
        if limit is None:
            return
        kept = [each for each in old if not each.meta.is_terminating]
        for each in sorted(kept, key=revision.revision_of)[: max(len(kept) - limit, 0)]:
            is_seen = each.meta.generation <= each.status.observed_generation
            if not wanted_by(each) and not each.status.replicas and is_seen:
                await self.client.delete(each, whatever_it_was=True)

    async def _sum_up(
        self, item: Deployment, new: ReplicaSet | None, sets: Sequence[ReplicaSet]
    ) -> None:
        """Write the status, and the number of the revision, if they have changed."""
        status = status_of(item, new, sets, self.client.now())
        number = 0 if new is None else revision.revision_of(new)
        changed = evolved(item, status=status)
        if number:
            annotations = item.meta.annotations.having(**{revision.REVISION: str(number)})
            changed = changed.with_meta(annotations=annotations)
        if changed != item:
            await self.client.update(changed, subresource="status")


@attrs.frozen
class DeploymentController(KeyedController):
    """Rolls out the template of each Deployment."""

    loop = DeploymentLoop


def status_of(
    item: Deployment, new: ReplicaSet | None, sets: Sequence[ReplicaSet], now_ms: int
) -> DeploymentStatus:
    """The counts of its ReplicaSets, added up."""
    available = sum(each.status.available_replicas for each in sets)
    is_enough = available >= bounds.min_available(item)
    reason = "MinimumReplicasAvailable" if is_enough else "MinimumReplicasUnavailable"
    condition = Condition("Available", "True" if is_enough else "False", reason)
    return DeploymentStatus(
        observed_generation=item.meta.generation,
        replicas=sum(each.status.replicas for each in sets),
        updated_replicas=0 if new is None else new.status.replicas,
        ready_replicas=sum(each.status.ready_replicas for each in sets),
        available_replicas=available,
        unavailable_replicas=max(sum(map(wanted_by, sets)) - available, 0),
        conditions=having(item.status.conditions, condition, now_ms),
        collision_count=item.status.collision_count,
    )


def _is_complete(item: Deployment) -> bool:
    """Whether all its pods are new and available, and no other is left."""
    status, wanted = item.status, wanted_by(item)
    counts = (status.updated_replicas, status.replicas, status.available_replicas)
    return counts == (wanted, wanted, wanted) and (
        status.observed_generation >= item.meta.generation
    )
