"""CloudInstance: a machine at the provider, from the request for it until it is gone."""

from __future__ import annotations

from typing import ClassVar

import attrs

from actors.shared.machines.boot import Boot
from actors.shared.node_groups import CREATING, DELETING, RUNNING, Instance
from testbed.objects import Node
from testbed.objects.meta import Object


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
    requested_ms: int | None = None
    """When it was asked for; None: it was there from the start."""
    boots: tuple[Boot, ...] = ()
    """How it comes up; if there are several, it is still to be drawn."""
    template: Node | None = None
    """What its node will be."""
    nth: int = 0
    """Which machine of its group it is, in the order in which they came."""
    gone_ms: int | None = None
    """When it is gone; None: it is not being deleted."""

    @property
    def boot(self) -> Boot:
        """How it comes up, or the first way if that is not drawn yet."""
        return self.boots[0] if self.boots else Boot(0)

    @property
    def register_ms(self) -> int | None:
        """When it becomes a Node; None: never, or that is still to be drawn."""
        if self.template is None or len(self.boots) > 1 or self.boot.register_ms is None:
            return None
        return (self.requested_ms or 0) + self.boot.register_ms

    @property
    def ready_ms(self) -> int | None:
        """When that is Ready; None: never."""
        if self.register_ms is None or self.boot.stays_unready:
            return None
        in_ms = self.boot.ready_ms
        return self.register_ms if in_ms is None else (self.requested_ms or 0) + in_ms

    @property
    def fails_ms(self) -> int | None:
        """When the provider says that it cannot be created; None: never."""
        in_ms = self.boot.error_ms
        return None if in_ms is None else (self.requested_ms or 0) + in_ms

    def is_on(self, uid: str, now_ms: int) -> bool:
        """Whether it is the machine of that uid, and is still there."""
        return self.meta.uid == uid and not self.is_gone(now_ms)

    def is_gone(self, now_ms: int) -> bool:
        """Whether it is deleted and no more there."""
        return self.gone_ms is not None and self.gone_ms <= now_ms

    def seen(self, now_ms: int) -> Instance:
        """What the provider says of it at that time."""
        name, boot = self.meta.name, self.boot
        if self.gone_ms is not None:
            return Instance(name, DELETING)
        if self.fails_ms is not None and self.fails_ms <= now_ms:
            return Instance(name, CREATING, boot.error_class, boot.error_code, boot.error_message)
        comes_ms = self.register_ms
        is_coming = self.requested_ms is not None and (comes_ms is None or comes_ms > now_ms)
        return Instance(name, CREATING if is_coming else RUNNING)
