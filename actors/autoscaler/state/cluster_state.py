"""ClusterState: how each group is, set against what was asked for, from pass to pass.

`update` is called once in each pass. In order, it 1. notes which instances have no Node object, and
since when; 2. counts ready, unready and starting nodes; 3. ends requests that were fulfilled or
have timed out; 4. looks for instances that could not be created; 5. notes groups of wrong size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from actors.autoscaler.settings import AutoscalerSettings
from actors.autoscaler.state.backoff import GroupBackoff
from actors.autoscaler.state.cloud_view import CloudView
from actors.autoscaler.state.readiness import TO_BE_DELETED, Readiness, has_taint
from actors.shared.node_groups import (
    CREATING,
    OTHER_ERROR,
    OUT_OF_RESOURCES,
    GroupView,
    Instance,
)
from testbed.objects import Node

Warn = Callable[[str, str], None]
"""Writes a warning Event: its reason and its message."""
CLASSES = {OUT_OF_RESOURCES: "OutOfResource", OTHER_ERROR: "Other"}
"""The classes of errors, as an Event says them."""
ErrorCode = tuple[str, str]
"""The class and the code of an instance's error."""


@attrs.define
class GrowthRequest:
    """That a group was asked to grow."""

    by: int
    asked_ms: int
    due_ms: int
    """When it counts as failed."""


@attrs.frozen
class SizeBounds:
    """How many nodes of a group are expected to be there."""

    least: int
    most: int
    target: int


@attrs.frozen
class WrongSize:
    """A group that has more or fewer nodes than it should."""

    registered: int
    target: int
    since_ms: int


@attrs.frozen
class Unregistered:
    """An instance without a Node object."""

    group: str
    since_ms: int
    """When it was first seen by this life of the autoscaler."""


class ClusterState:
    """What is remembered of groups, and what was counted in this pass."""

    def __init__(
        self, settings: AutoscalerSettings, cloud: CloudView, warn: Warn, *, has_instance: bool
    ) -> None:
        self._settings = settings
        self._knows_instances = has_instance
        self._cloud = cloud
        self._warn = warn
        self.backoff = GroupBackoff(settings)
        self.requests: dict[str, GrowthRequest] = {}
        """The open requests, by group."""
        self.unregistered: dict[str, Unregistered] = {}
        """By name, the instances without a Node object."""
        self.total = Readiness()
        """All nodes together."""
        self.readiness: dict[str, Readiness] = {}
        """By group, if it has any node or instance."""
        self.bounds: dict[str, SizeBounds] = {}
        """By group."""
        self.wrong_sizes: dict[str, WrongSize] = {}
        """By group, if its size is wrong."""
        self.candidates: dict[str, tuple[str, ...]] = {}
        """By group, the nodes that may be deleted before long."""
        self._instances: dict[str, tuple[Instance, ...]] = {}

    # -- once in each pass ------------------------------------------------------------------------

    async def update(self, nodes: Sequence[Node], now_ms: int) -> None:
        """Bring it up to date; an ApiError if the cloud does not answer."""
        await self._cloud.read_instances(now_ms, self.scaling_up())
        before, self._instances = self._instances, dict(self._cloud.instances)
        self._note_unregistered(nodes, now_ms)
        self._count(nodes, now_ms)
        self.recalculate()
        self._end_requests(now_ms)
        self._note_errors(before, now_ms)
        self.recalculate()
        self._note_sizes(now_ms)

    def recalculate(self) -> None:
        """Bring the bounds up to date, after targets or requests have changed."""
        self.bounds = {}
        for group in self._cloud.groups:
            missing = self.of(group.name).long_unregistered
            request = self.requests.get(group.name)
            least = group.target - missing - (request.by if request is not None else 0)
            self.bounds[group.name] = SizeBounds(least, group.target, group.target)

    def of(self, group: str) -> Readiness:
        """The counts of a group."""
        return self.readiness.get(group) or Readiness()

    # -- requests ---------------------------------------------------------------------------------

    def asked(self, group: str, by: int, now_ms: int) -> None:
        """A group was asked to grow by that many nodes, or to grow by less (`by` is negative)."""
        request = self.requests.get(group)
        if request is None and by > 0:
            self.requests[group] = GrowthRequest(by, now_ms, self._due_ms(now_ms))
        elif request is not None and request.by + by <= 0:
            del self.requests[group]
        elif request is not None:
            request.by += by
            if by > 0:
                request.asked_ms, request.due_ms = now_ms, self._due_ms(now_ms)

    def scaling_up(self) -> set[str]:
        """The groups that have an open request, and nodes that are still to come."""
        return {name for name in self.requests if self._awaits_nodes(name)}

    def upcoming(self) -> dict[str, int]:
        """By group, how many nodes are still to come (CA-21). A node that is being deleted is in
        none of the counts, so for a while it seems that another will come."""
        coming = {}
        for group in self._cloud.groups:
            has, bounds = self.of(group.name), self.bounds.get(group.name)
            target = bounds.target if bounds is not None else 0
            new = target - has.ready - has.unready - has.long_unregistered
            if new > 0:
                coming[group.name] = new
        return coming

    # -- health -----------------------------------------------------------------------------------

    @property
    def is_healthy(self) -> bool:
        """Whether few enough nodes of the cluster are unready (CA-4)."""
        return not self._is_too_much(self.total.unready, self.total.registered)

    def is_group_healthy(self, group: str) -> bool:
        """Whether few enough nodes of a group are missing or unready."""
        bounds, has = self.bounds.get(group), self.readiness.get(group)
        if bounds is None:
            return False
        if has is None:
            return bounds.target == 0 or (bounds.least == 0 and bounds.target > 0)
        missing = max(bounds.least - has.ready, 0)
        return not self._is_too_much(missing, has.ready + has.unready + has.not_started)

    def may_grow(self, group: str, now_ms: int) -> bool:
        """Whether a group is healthy and not in backoff."""
        return self.is_group_healthy(group) and not self.backoff.is_on(group, now_ms)

    def is_long_unregistered(self, name: str, now_ms: int) -> bool:
        """Whether an instance has had no Node object for too long (CA-5)."""
        since_ms = self.unregistered[name].since_ms
        return since_ms + self._settings.max_node_provision_time_ms < now_ms

    # -- instances that could not be created ------------------------------------------------------

    def failed_instances(self) -> dict[str, tuple[str, ...]]:
        """By group, the instances that report an error (CA-7)."""
        failed = {name: tuple(_codes(each)) for name, each in self._instances.items()}
        return {name: instances for name, instances in failed.items() if instances}

    def digest(self, now_ms: int) -> object:
        """What is remembered, with times as distances from now."""
        requests = [(g, r.by, now_ms - r.asked_ms) for g, r in self.requests.items()]
        missing = [(n, u.group, now_ms - u.since_ms) for n, u in self.unregistered.items()]
        wrong = [(g, w.registered, w.target, now_ms - w.since_ms)
                 for g, w in self.wrong_sizes.items()]  # fmt: skip
        return requests, missing, wrong, self.candidates, self.backoff.digest(now_ms)

    # -- inside -----------------------------------------------------------------------------------

    def _due_ms(self, now_ms: int) -> int:
        return now_ms + self._settings.max_node_provision_time_ms

    def _is_too_much(self, bad: int, all_of_them: int) -> bool:
        settings = self._settings
        share = settings.max_total_unready_per_mille * all_of_them
        return bad > settings.ok_total_unready_count and bad * 1000 > share

    def _awaits_nodes(self, group: str) -> bool:
        bounds, has = self.bounds.get(group), self.readiness.get(group)
        if bounds is None:
            return False
        return bounds.target > (has.registered - has.not_started if has is not None else 0)

    def _note_unregistered(self, nodes: Sequence[Node], now_ms: int) -> None:
        registered = {node.meta.name for node in nodes}
        missing = {
            instance.name: Unregistered(group, now_ms)
            for group, instances in self._instances.items()
            for instance in instances
            if instance.name not in registered
        }
        self.unregistered = {name: self.unregistered.get(name, m) for name, m in missing.items()}

    def _count(self, nodes: Iterable[Node], now_ms: int) -> None:
        self.total, self.readiness = Readiness(), {}
        for node in nodes:
            group = self._cloud.group_of(node.meta.name)
            counts = [self.total]
            if group is not None:
                counts.append(self.readiness.setdefault(group.name, Readiness()))
            for count in counts:
                count.count(node, now_ms, is_deleted=self._is_deleted(node, group))
        for name, each in self.unregistered.items():
            is_long = self.is_long_unregistered(name, now_ms)
            for has in (self.total, self.readiness.setdefault(each.group, Readiness())):
                has.long_unregistered += is_long
                has.unregistered += not is_long

    def _is_deleted(self, node: Node, group: GroupView | None) -> bool:
        """Whether a node counts as gone: by the provider if that can say so, else by its taint."""
        return group is None if self._knows_instances else has_taint(node, TO_BE_DELETED)

    def _end_requests(self, now_ms: int) -> None:
        self.backoff.forgive(now_ms)
        for group, request in list(self.requests.items()):
            if not self._awaits_nodes(group):
                del self.requests[group]
                self.backoff.succeeded(group)
            elif request.due_ms < now_ms:
                took = duration(now_ms - request.asked_ms)
                self._warn(
                    "ScaleUpTimedOut",
                    f"Nodes added to group {group} failed to register within {took}",
                )
                self.backoff.failed(group, now_ms)
                del self.requests[group]

    def _note_errors(self, before: Mapping[str, Sequence[Instance]], now_ms: int) -> None:
        for group in self._cloud.groups:
            known = _codes(before.get(group.name, ()))
            self._note_errors_of(group, known, now_ms)

    def _note_errors_of(
        self, group: GroupView, known: Mapping[str, ErrorCode], now_ms: int
    ) -> None:
        instances = self._instances[group.name]
        codes = _codes(instances)
        for code in dict.fromkeys(codes.values()):
            new = [name for name, each in codes.items() if each == code and name not in known]
            if not new or group.name not in self.scaling_up():
                continue
            texts = dict.fromkeys(i.error_message for i in instances if codes.get(i.name) == code)
            more = ", ..." if len(texts) > 3 else ""
            self._warn(
                "ScaleUpFailed",
                f"Failed adding {len(new)} nodes to group {group.name} due to "
                f"{'.'.join(code)}; source errors: {', '.join(texts)}{more}",
            )
            self.asked(group.name, -len(new), now_ms)
            self.backoff.failed(group.name, now_ms)

    def _note_sizes(self, now_ms: int) -> None:
        before, self.wrong_sizes = self.wrong_sizes, {}
        for group in self._cloud.groups:
            bounds, has = self.bounds[group.name], self.readiness.get(group.name)
            if has is None or bounds.least <= has.registered <= bounds.most:
                continue
            wrong = WrongSize(has.registered, bounds.target, now_ms)
            old = before.get(group.name)
            is_same = old is not None and attrs.evolve(old, since_ms=now_ms) == wrong
            self.wrong_sizes[group.name] = old if old is not None and is_same else wrong


def _codes(instances: Iterable[Instance]) -> dict[str, ErrorCode]:
    """By instance, its error, for those that could not be created."""
    return {
        each.name: (CLASSES.get(each.error_class, each.error_class), each.error_code)
        for each in instances
        if each.state == CREATING and each.error_class
    }


def duration(ms: int) -> str:
    """A time as Go writes it: `15m0.001s`."""
    seconds, ms = divmod(ms, 1000)
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    rest = f"{seconds}.{ms:03}".rstrip("0") if ms else str(seconds)
    if hours:
        return f"{hours}h{minutes}m{rest}s"
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
