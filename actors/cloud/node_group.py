"""NodeGroup: a group of like machines at the provider, and how its machines come and fail."""

from __future__ import annotations

from typing import ClassVar

import attrs

from actors.shared.machines.boot import LOST, Boot
from actors.shared.settings import at_least, in_order
from testbed.errors import ScenarioError, shown
from testbed.objects import Node
from testbed.objects.meta import Object

SLOTS, RISING = "slots", "rising"
"""How new instances are named: by the lowest number that is free, `g-2`; or by one that is never
used again, `g-new-2`."""
SOME_BOOTS = "a tuple of at least one Boot"
"""What says how machines come up."""
SUCH_A_NODE = 'Node.of("any", cpu_m=4000)'
"""How a template is written."""
ALWAYS = -1
"""As a number of refusals: every call is refused."""


@attrs.frozen
class NodeGroup(Object):
    """A node group, as the provider keeps it; an instance is a CloudInstance of its own.

    It stands in the Store, where claims can see it, but no API server answers for it.
    """

    kind: ClassVar[str] = "NodeGroup"
    plural: ClassVar[str] = "nodegroups"
    is_namespaced: ClassVar[bool] = False

    min_size: int = attrs.field(default=0, validator=at_least(0))
    """The autoscaler keeps that many; the provider does not care."""
    max_size: int = attrs.field(default=10, validator=at_least(0))
    """The provider refuses a larger target."""
    target: int = attrs.field(default=0, validator=at_least(0))
    """How many instances are wanted."""
    template: Node | None = None
    """What a new node of it will be, as the provider says; its name does not matter. None: the
    provider cannot say."""
    actual: Node | None = None
    """What its nodes really are; None: as the template says, and without a template new machines
    never become nodes."""
    boots: tuple[Boot, ...] = (Boot(),)
    """How new machines come up; of several, one is picked for each machine."""
    place: int = 0
    """Where it stands in the provider's list; those of one place stand in order of their names."""
    stock: int | None = attrs.field(default=None, validator=at_least(0))
    """How many instances there is room for at the provider. More of them report the error
    `ZONE_RESOURCE_POOL_EXHAUSTED`; None: there is always room."""
    increase_errors: int = attrs.field(default=0, validator=at_least(ALWAYS))
    """How many calls that want more it still refuses; -1: all."""
    increase_error: str = "quota exceeded"
    """What it says then."""
    delete_errors: int = attrs.field(default=0, validator=at_least(ALWAYS))
    """How many calls that delete instances it still refuses; -1: all."""
    delete_error: str = "cloud says no"
    """What it says then."""
    is_told_sizes: bool = True
    """Whether a caller that wants more says the new size, counted from the one it has seen. If two
    callers want one more, the second then changes nothing. Otherwise each gets one."""
    keeps_min: bool = False
    """Whether it refuses to delete below its minimum."""
    delete_ms: int = attrs.field(default=2000, validator=at_least(0))
    """How long an instance is still there after the call that deletes it."""
    naming: str = SLOTS
    """How new instances are named: `slots` or `rising`."""
    spare: int = attrs.field(default=2, validator=at_least(0))
    """How many names it has beyond its maximum, for instances that are still on their way out. If
    no name is free, it refuses to want more, as a network without a free address does."""
    made: int = attrs.field(default=0, validator=at_least(0))
    """The highest number in a name so far, if these rise."""

    def __attrs_post_init__(self) -> None:
        in_order(self, "min_size", "max_size")
        if not are_boots(self.boots):
            self._refuse("boots", self.boots, SOME_BOOTS, "boots=(Boot(),)")
        if self.naming not in (SLOTS, RISING):
            self._refuse("naming", self.naming, f"{SLOTS!r} or {RISING!r}", f"naming={SLOTS!r}")
        self._check_node("template", self.template)
        self._check_node("actual", self.actual)

    def _check_node(self, field: str, node: Node | None) -> None:
        """Refuse what is no Node, or has less than nothing of a resource."""
        if node is None:
            return
        expected, step = "a Node that has at least 0 of everything", f"{field}={SUCH_A_NODE}"
        if not isinstance(node, Node):
            self._refuse(field, node, expected, step)
        for name, amount in (*node.status.capacity.items(), *node.status.allocatable.items()):
            if amount.nano < 0:
                self._refuse(f"{field}'s {name}", str(amount), expected, step)

    def _refuse(self, field: str, value: object, expected: str, step: str) -> None:
        raise ScenarioError(
            f"NodeGroup.{field} of {self.name!r} is {shown(value)}: expected {expected}.\n"
            f"Next: say {step}."
        )

    @property
    def name(self) -> str:
        """Its name."""
        return self.meta.name

    @property
    def becomes(self) -> Node | None:
        """What a machine of it becomes."""
        return self.template if self.actual is None else self.actual

    def boots_for(self, number: int, now_ms: int) -> tuple[Boot, ...]:
        """How its new machine of that number may come up. A model of your own says otherwise."""
        return tuple([_limited(boot, number) for boot in self.boots])

    @property
    def slots(self) -> tuple[str, ...]:
        """All names that its instances may have, if they are named by slots."""
        return tuple([self.slot(number) for number in range(1, self.max_size + self.spare + 1)])

    def slot(self, number: int) -> str:
        """The name of its instance of that number."""
        return f"{self.name}-new-{number}" if self.naming == RISING else f"{self.name}-{number}"


def _limited(boot: Boot, number: int) -> Boot:
    """How the machine of that number comes up: not at all if only lower numbers do."""
    return boot if boot.only is None or number <= boot.only else LOST


def are_boots(given: object) -> bool:
    """Whether that can say how machines come up."""
    return isinstance(given, tuple) and bool(given) and all(isinstance(b, Boot) for b in given)
