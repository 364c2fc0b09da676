"""CloudInstance: a machine at the provider, from the request for it until it is gone."""

from __future__ import annotations

from typing import ClassVar

import attrs

from actors.shared.machines.boot import AT_ONCE, Boot
from actors.shared.node_groups import CREATING, DELETING, RUNNING, Instance
from testbed.objects import Node
from testbed.objects.meta import Object, wire

TIME = wire(shape="time")


@attrs.frozen
class CloudInstance(Object):
    """A machine of a group, as the provider keeps it. What state it is in follows from the time.

    The Node that it becomes has its name.
    """

    kind: ClassVar[str] = "CloudInstance"
    plural: ClassVar[str] = "cloudinstances"
    is_namespaced: ClassVar[bool] = False

    group: str = ""
    """The name of its group."""
    number: int = 0
    """The number in its name."""
    template: Node | None = None
    """What its node will be; None: it never becomes one."""
    requested_ms: int | None = attrs.field(default=None, metadata=TIME)
    """When it was asked for; None: it was there from the start."""
    boots: tuple[Boot, ...] = ()
    """The ways in which it may come up, while it is still to be drawn which."""
    boot: Boot = AT_ONCE
    """How it comes up, once that is known."""
    register_ms: int | None = attrs.field(default=None, metadata=TIME)
    """When it becomes a Node; None: never, or that is not known yet."""
    ready_ms: int | None = attrs.field(default=None, metadata=TIME)
    """When that is Ready; None: never."""
    fails_ms: int | None = attrs.field(default=None, metadata=TIME)
    """When the provider says that it cannot be created; None: never."""
    gone_ms: int | None = attrs.field(default=None, metadata=TIME)
    """When it is gone; None: it is not being deleted."""

    def coming_up(self, boot: Boot) -> CloudInstance:
        """The same machine, once it is known how it comes up."""
        asked_ms, in_ms = self.requested_ms or 0, boot.register_ms
        register_ms = None if in_ms is None or self.template is None else asked_ms + in_ms
        ready_ms = register_ms if boot.ready_ms is None else asked_ms + boot.ready_ms
        is_never = register_ms is None or boot.stays_unready
        return attrs.evolve(
            self, boots=(), boot=boot, register_ms=register_ms,
            ready_ms=None if is_never else ready_ms,
            fails_ms=None if boot.error_ms is None else asked_ms + boot.error_ms,
        )  # fmt: skip

    def is_on(self, uid: str, now_ms: int) -> bool:
        """Whether it is the machine of that uid, and is still there."""
        return self.meta.uid == uid and not self.is_gone(now_ms)

    def is_gone(self, now_ms: int) -> bool:
        """Whether it is deleted and no more there."""
        return self.gone_ms is not None and self.gone_ms <= now_ms

    def view(self, now_ms: int) -> Instance:
        """What the provider says of it at that time."""
        name, boot = self.meta.name, self.boot
        if self.gone_ms is not None:
            return Instance(name, DELETING)
        if self.fails_ms is not None and self.fails_ms <= now_ms:
            return Instance(name, CREATING, boot.error_class, boot.error_code, boot.error_message)
        comes_ms = self.register_ms
        is_coming = self.requested_ms is not None and (comes_ms is None or comes_ms > now_ms)
        return Instance(name, CREATING if is_coming else RUNNING)
