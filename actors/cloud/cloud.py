"""Cloud: the provider's API, an Endpoint that sizes node groups and says what has become of them.

All that it knows stands in the Store, as NodeGroups and CloudInstances: it outlives every restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from actors.cloud.node_group import RISING, SOME_BOOTS, NodeGroup, are_boots
from actors.cloud.quota import STOCK_OUT, CloudQuota
from actors.shared.machines.boot import Boot
from actors.shared.machines.cloud_instance import CloudInstance
from actors.shared.node_groups import CLOUD, GroupView
from testbed import StoreEndpoint
from testbed.errors import Forbidden, InternalError, Invalid, NotFound, ScenarioError, shown
from testbed.objects.meta import Object
from testbed.store.endpoint import BETWEEN, Handler, Operation, creator_of
from testbed.store.footprint import LOG, Footprint
from testbed.store.store import Put

READS = ("get", "list", "watch")
GROUPS, INSTANCES = NodeGroup.plural, CloudInstance.plural
KNOWS = (
    "groups, instances, increase, decrease, delete-nodes, reclaim, draw, forget, adjust, get, list "
    "and watch"
)


class Cloud(StoreEndpoint):
    """The provider. It answers each of these in one turn.

    About node groups, of which the Operation names one:

    - `groups`: a GroupView of each, in its order; `instances`: an Instance for each machine of one;
    - `increase` by a number: the new target. That many machines are on their way from then on. If
      the group is told sizes, it counts from the target that the caller says it has `seen`;
    - `decrease` by a number: the new target. It deletes no machine;
    - `delete-nodes` that the body names: the new target, lower by as many. Their machines are
      gone `delete_ms` later;
    - `reclaim` them: they are gone at once, and the target stays, as with a spot instance;
    - `adjust` what the body names, field by field: what its operator does.

    About one machine, asked by a CloudController:

    - `draw` which of its boots it has; `forget` it, once it is gone and nothing of it is left.

    NodeGroups and CloudInstances can be read and watched here. A cloud of your own derives from
    this one, and says by `grant` what it refuses, and by `boots_for` how its machines come up.
    """

    marks_memory = True

    def __init__(self, store: Any, name: str = CLOUD, *, quota: CloudQuota | None = None) -> None:
        super().__init__(store, name)
        self.quota = CloudQuota() if quota is None else quota

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Each verb is one read or one commit, in one turn: nothing can come between."""
        match operation.plural, operation.verb:
            case (_, verb) if verb in READS and operation.plural in (GROUPS, INSTANCES):
                return (yield from super().handle(operation, caller, now_ms))
            case "nodegroups", "groups":
                return tuple([self._group_view(each, now_ms) for each in self._groups()])
            case "nodegroups", "instances":
                group = self._group(operation)
                return tuple([each.view(now_ms) for each in self._machines(group, now_ms)])
            case "nodegroups", "increase":
                return self._increase(self._group(operation), operation, caller, now_ms)
            case "nodegroups", "decrease":
                return self._decrease(self._group(operation), _by(operation))
            case "nodegroups", "delete-nodes":
                return self._delete_machines(self._group(operation), operation.body, now_ms)
            case "nodegroups", "reclaim":
                return self._reclaim(self._group(operation), operation.body, now_ms)
            case "nodegroups", "adjust":
                return self._adjust(self._group(operation), operation.body)
            case "cloudinstances", "draw":
                return self._draw(self._machine(operation), operation.body)
            case "cloudinstances", "forget":
                return self._forget(self._machine(operation), now_ms)
        raise Invalid(f"{self.name} cannot {operation}: it knows {KNOWS}")
        yield BETWEEN

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """A change of a group may touch all its machines; a quota is counted over all groups."""
        if operation.verb in READS:
            return super().may(operation, caller)
        logs = {f"{LOG}{GROUPS}", f"{LOG}{INSTANCES}"}
        keys = {each.key for each in self._peeked(GROUPS)}
        keys |= {each.key for each in self._peeked(INSTANCES)}
        reads = frozenset(keys | logs)
        if operation.verb in ("groups", "instances"):
            return Footprint(reads)
        new = {
            f"{INSTANCES}/{name}"
            for group in self._peeked(GROUPS)
            if group.name == operation.name
            for name in _names_ahead(group)
        }
        if operation.verb == "increase":
            new.add(f"uids:{creator_of(self.name, caller)}")
        writes = frozenset(keys | logs | new)
        return Footprint(reads | writes, writes) | self.tails(GROUPS) | self.tails(INSTANCES)

    def _peeked(self, plural: str) -> list[Any]:
        return [entry.value for entry in self.store.unmarked.snapshot(f"{plural}/")]

    # -- what a cloud of your own may do otherwise ----------------------------------------------

    def grant(self, group: NodeGroup, by: int, now_ms: int) -> None:
        """Called before a group gets `by` more machines; its maximum allows them. To refuse, raise
        an ApiError. Nothing has changed yet."""
        self.quota.check(group, by, self._groups(), self._all_machines(), now_ms)

    def boots_for(self, group: NodeGroup, number: int, now_ms: int) -> tuple[Boot, ...]:
        """Called for each new machine, with the number in its name. Returns how it may come up; of
        several ways one is picked."""
        return group.boots_for(number, now_ms)

    # -- what it reads --------------------------------------------------------------------------

    def _groups(self) -> list[NodeGroup]:
        found: list[Any] = [entry.value for entry in self.store.range(f"{GROUPS}/")]
        return sorted(found, key=lambda group: (group.place, group.name))

    def _group(self, operation: Operation) -> NodeGroup:
        entry = self.store.get(f"{GROUPS}/{operation.name}")
        if entry is None:
            raise NotFound(f"{self.name} has no node group {operation.name!r}")
        return entry.value  # type: ignore[return-value]

    def _machine(self, operation: Operation) -> CloudInstance:
        entry = self.store.get(f"{INSTANCES}/{operation.name}")
        if entry is None:
            raise NotFound(f"{self.name} has no instance {operation.name!r}")
        return entry.value  # type: ignore[return-value]

    def _all_machines(self) -> list[CloudInstance]:
        return [entry.value for entry in self.store.range(f"{INSTANCES}/")]  # type: ignore[misc]

    def _machines(self, group: NodeGroup, now_ms: int) -> list[CloudInstance]:
        """Those of a group that are not gone, in the order in which they came."""
        found = [
            each for each in self._all_machines()
            if each.group == group.name and not each.is_gone(now_ms)
        ]  # fmt: skip
        return sorted(found, key=_age)

    def _group_view(self, group: NodeGroup, now_ms: int) -> GroupView:
        nodes = tuple([each.meta.name for each in self._machines(group, now_ms)])
        return GroupView(
            group.name, group.min_size, group.max_size, group.target, nodes, group.template
        )

    # -- what it changes ------------------------------------------------------------------------

    def _increase(self, group: NodeGroup, operation: Operation, caller: str, now_ms: int) -> int:
        by, seen = _by(operation), operation.options.get("seen")
        if group.increase_errors:
            self._write(attrs.evolve(group, increase_errors=_one_less(group.increase_errors)))
            raise Forbidden(group.increase_error)
        if group.is_told_sizes and seen is not None:
            by = seen + by - group.target
            if by < 1:
                return group.target
        if by < 1 or group.target + by > group.max_size:
            raise Invalid(
                f"{group.name} wants {group.target} instances and may want {group.max_size}: it "
                f"cannot want {by} more"
            )
        self.grant(group, by, now_ms)
        numbers, room = self._free_numbers(group, by), self._room(group, now_ms)
        machines = []
        for nth, number in enumerate(numbers):
            machine = CloudInstance(
                group.slot(number), group=group.name, number=number, template=group.becomes,
                requested_ms=now_ms,
            )  # fmt: skip
            has_room = room is None or nth < room
            boots = self._boots(group, number, now_ms) if has_room else (STOCK_OUT,)
            made: Any = self._made(machine, caller, now_ms)
            machines.append(
                attrs.evolve(made, boots=boots) if len(boots) > 1 else made.coming_up(boots[0])
            )
        count = group.made + by if group.naming == RISING else 0
        target = group.target + by
        self._write(attrs.evolve(group, target=target, made=count), *machines)
        return target

    def _boots(self, group: NodeGroup, number: int, now_ms: int) -> tuple[Boot, ...]:
        boots = self.boots_for(group, number, now_ms)
        if not are_boots(boots):
            raise ScenarioError(
                f"{type(self).__name__}.boots_for returned {shown(boots)} for {group.name!r}: "
                f"expected {SOME_BOOTS}.\nNext: return (Boot(),), or group.boots."
            )
        return boots

    def _free_numbers(self, group: NodeGroup, count: int) -> list[int]:
        """The numbers of `count` new machines; Forbidden if too few names are free."""
        if group.naming == RISING:
            return [group.made + number for number in range(1, count + 1)]
        taken = {each.meta.name for each in self._all_machines()}
        free = [n for n, name in enumerate(group.slots, 1) if name not in taken]
        if len(free) < count:
            raise Forbidden(f"{group.name} has {len(free)} free names and needs {count}")
        return free[:count]

    def _room(self, group: NodeGroup, now_ms: int) -> int | None:
        """How many more machines of it the provider has; None: no limit."""
        if group.stock is None:
            return None
        there = [
            each for each in self._machines(group, now_ms) if not each.view(now_ms).error_class
        ]
        return max(group.stock - len(there), 0)

    def _decrease(self, group: NodeGroup, by: int) -> int:
        if not 1 <= by <= group.target:
            raise Invalid(f"{group.name} wants {group.target} instances, not {by} less")
        self._write(attrs.evolve(group, target=group.target - by))
        return group.target - by

    def _delete_machines(self, group: NodeGroup, names: tuple[str, ...], now_ms: int) -> int:
        if group.delete_errors:
            self._write(attrs.evolve(group, delete_errors=_one_less(group.delete_errors)))
            raise InternalError(group.delete_error)
        machines = self._named(group, names, now_ms)
        target = max(group.target - len(machines), 0)
        if group.keeps_min and target < group.min_size:
            raise Forbidden(f"{group.name} keeps {group.min_size} instances, and has {target} then")
        gone_ms = now_ms + group.delete_ms
        going = [attrs.evolve(each, gone_ms=gone_ms) for each in machines]
        self._write(attrs.evolve(group, target=target), *going)
        return target

    def _reclaim(self, group: NodeGroup, names: tuple[str, ...], now_ms: int) -> None:
        self._write(
            *[attrs.evolve(each, gone_ms=now_ms) for each in self._named(group, names, now_ms)]
        )

    def _named(self, group: NodeGroup, names: tuple[str, ...], now_ms: int) -> list[CloudInstance]:
        """The machines of a group by name; NotFound if one is not among them."""
        there = {each.meta.name: each for each in self._machines(group, now_ms)}
        for name in names:
            if name not in there:
                raise NotFound(f"{group.name} has no instance {name!r}")
        # One that is being deleted already goes when it was to go, and is counted once.
        return [there[name] for name in names if there[name].gone_ms is None]

    def _adjust(self, group: NodeGroup, fields: Mapping[str, Any]) -> None:
        known = {field.name for field in attrs.fields(type(group))} - {"meta", "extra"}
        for name in fields:
            if name not in known:
                raise Invalid(f"a NodeGroup has no {name!r}: it has {', '.join(sorted(known))}")
        try:
            changed = attrs.evolve(group, **fields)
        except ScenarioError as error:
            raise Invalid(str(error).partition("\n")[0]) from error
        self._write(changed)

    def _draw(self, machine: CloudInstance, index: int) -> None:
        if len(machine.boots) > 1:
            self._write(machine.coming_up(machine.boots[index]))

    def _forget(self, machine: CloudInstance, now_ms: int) -> None:
        if not machine.is_gone(now_ms):
            raise Invalid(f"{machine.meta.name} is not gone")
        self.store.delete(machine.key)

    def _write(self, *items: Object) -> None:
        """Commit these objects together, without those that are already stored like this."""
        revision, puts = self.store.next_revision, []
        for item in items:
            old: Any = self.store.get(item.key)
            if old is None or not item.is_as(old.value):
                puts.append(Put(item.key, item.with_meta(revision=revision)))
        self.store.txn((), puts)


def _names_ahead(group: NodeGroup) -> tuple[str, ...]:
    """The names that a machine of it may get if it is asked for soon."""
    if group.naming == RISING:
        ahead = range(group.made + 1, group.made + 2 * group.max_size + 1)
        return tuple([group.slot(number) for number in ahead])
    return group.slots


def _by(operation: Operation) -> int:
    by = operation.options.get("by")
    if type(by) is not int:
        raise Invalid(f"{operation}: expected how many as the option `by`, such as by=1")
    return by


def _one_less(left: int) -> int:
    """How many refusals are left after one; -1 stays."""
    return left if left < 0 else left - 1


def _age(machine: CloudInstance) -> tuple[int, int]:
    """The order in which machines came; those that were there from the start come first."""
    asked_ms = machine.requested_ms
    return -1 if asked_ms is None else asked_ms, machine.number
