"""A counter to ask an API server at, without a World: one request after another, at any time."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed.errors import ApiError
from testbed.objects import (
    Binding,
    DeleteOptions,
    Eviction,
    Map,
    Meta,
    Object,
    Pod,
    Revision,
    Target,
)
from testbed.objects.kinds import kind_by_plural
from testbed.objects.meta import UNSET
from testbed.objects.plain import frozen
from testbed.store.delivery import Delivery
from testbed.store.endpoint import Handler, Operation, Pause
from testbed.store.store import Store
from testbed.store.watch import Watch


class Counter:
    """An ApiServer and its Store; `now_s` is the time of the next request."""

    def __init__(self, store: Store | None = None, name: str = "api", **settings: Any) -> None:
        self.now_s: int = 0
        self.store = Store() if store is None else store
        self.store.clock = lambda: self.now_s * 1000
        self.server = ApiServer(self.store, name, **settings)
        self.watches: list[Watch] = []

    def begin(self, operation: Operation, caller: str = "kubectl") -> Handler:
        """The handler of a request, to be driven from one pause to the next."""
        return self.server.handle(operation, caller, self.now_s * 1000)

    def ask(self, operation: Operation, caller: str = "kubectl") -> Any:
        """The answer; whatever it waits for comes at once."""
        return finish(self.begin(operation, caller))

    def heard(self, plural: str = "pods") -> list[tuple[str, str]]:
        """What a watch of that kind was told since it was last asked: type and name."""
        if not self.watches:
            self.watches.append(self.ask(Operation("watch", plural, revision=self.now)))
            return []
        return [(d.type, named(d)) for d in told(self.watches[0])]

    @property
    def now(self) -> Revision:
        """The Store's revision, as a client may name it."""
        return Revision(self.store.revision)

    # -- verbs ----------------------------------------------------------------------------------

    def get(self, kind: type[Object], name: str, at: str = "") -> Any:
        """The object of that name in the default namespace."""
        return self.ask(about("get", kind, name, revision=Revision(at)))

    def create(self, item: Object, caller: str = "kubectl") -> Any:
        """The object as it was created."""
        meta = item.meta
        return self.ask(Operation("create", item.plural, meta.name, meta.namespace, item), caller)

    def update(self, item: Object, subresource: str = "") -> Any:
        """The object as it became."""
        meta = item.meta
        return self.ask(
            Operation(
                "update", item.plural, meta.name, meta.namespace, item, subresource=subresource
            )
        )

    def patch(self, item: Object, tree: Any, how: str = "merge", subresource: str = "") -> Any:
        """The object as it became."""
        meta, options = item.meta, Map({"how": how})
        return self.ask(
            Operation(
                "patch", item.plural, meta.name, meta.namespace, frozen(tree, nulls=True),
                subresource=subresource, options=options,
            )
        )  # fmt: skip

    def delete(self, item: Object, grace_s: int | None = None, **said: Any) -> Any:
        """What the server says of its deletion."""
        return self.ask(deletion(item, grace_s, **said))

    def bind(self, pod: Pod, node: str, uid: str = "", revision: Revision = UNSET) -> Any:
        """The answer to a bind."""
        meta = Meta(pod.meta.name, pod.meta.namespace, uid=uid, revision=revision)
        return self.ask(
            Operation(
                "create", "pods", meta.name, meta.namespace, Binding(meta, Target(node)),
                subresource="binding",
            )
        )  # fmt: skip

    def evict(self, pod: Pod, options: DeleteOptions | None = None) -> Any:
        """The answer to an eviction."""
        return self.ask(eviction(pod, options))

    def bound(self, name: str, phase: str = "Running", **of: Any) -> Pod:
        """A pod of that name that is bound to n1 and has come so far."""
        pod = self.create(Pod.of(name, cpu_m=100, **of))
        self.bind(pod, "n1")
        return self.patch(pod, {"status": {"phase": phase}}, subresource="status")  # type: ignore[no-any-return]


def about(verb: str, kind: type[Object], name: str, **said: Any) -> Operation:
    """An Operation about one object in the default namespace."""
    return Operation(verb, kind.plural, name, "default" if kind.is_namespaced else "", **said)


def deletion(item: Object, grace_s: int | None = None, **said: Any) -> Operation:
    """The Operation that deletes an object so."""
    meta = item.meta
    options = {"propagation": said.pop("propagation")} if "propagation" in said else {}
    if grace_s is not None:
        options["grace_s"] = grace_s
    return Operation("delete", item.plural, meta.name, meta.namespace, options=Map(options), **said)


def eviction(pod: Pod, options: DeleteOptions | None = None) -> Operation:
    """The Operation that evicts a pod."""
    meta = Meta(pod.meta.name, pod.meta.namespace)
    return Operation(
        "create", "pods", meta.name, meta.namespace, Eviction(meta, options),
        subresource="eviction",
    )  # fmt: skip


def finish(handler: Handler) -> Any:
    """Drive a handler to its answer."""
    while True:
        try:
            next(handler)
        except StopIteration as done:
            return done.value


def step(handler: Handler) -> Pause:
    """Drive a handler to its next pause, which it must come to."""
    return next(handler)


def told(watch: Watch) -> list[Delivery]:
    """All that a watch has to deliver now."""
    deliveries = []
    while watch.is_ready:
        deliveries.append(watch.take())
    return deliveries


def named(delivery: Delivery) -> str:
    """The name of the object it tells of."""
    item = delivery.object
    return item.meta.name if isinstance(item, Object) else ""


def refusal(error: ApiError) -> tuple[int, str, str]:
    """Its code, reason and text."""
    return error.code, error.reason, str(error)


def with_meta(item: Any, **changes: Any) -> Any:
    """The object with another Meta."""
    return attrs.evolve(item, meta=attrs.evolve(item.meta, **changes))


__all__ = [
    "Counter", "about", "deletion", "eviction", "finish", "kind_by_plural", "named", "refusal",
    "step", "told", "with_meta",
]  # fmt: skip
