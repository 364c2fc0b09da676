"""Operation: what is asked, as data. Endpoint: what answers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, ClassVar, Protocol

import attrs

from testbed.objects.codec import encode
from testbed.objects.meta import UNSET, Map, Object, Revision
from testbed.store.footprint import NOTHING, Footprint
from testbed.store.selector import Selector, View
from testbed.store.watch import Cursor
from testbed.switches import Component

EVERYTHING = Selector()
NO_OPTIONS: Map[Any] = Map()


@attrs.frozen
class Operation:
    """What is asked of an Endpoint: data, one JSON line, nothing callable."""

    verb: str
    """get, list, watch, create, update, delete, txn, or what else its Endpoint knows."""
    plural: str = ""
    name: str = ""
    namespace: str = ""
    body: Any = None
    """The object to write, or what the verb needs; frozen data."""
    revision: Revision = UNSET
    """A precondition on the object, or the point in history to read from; unset: none."""
    uid: str = ""
    """A precondition on the identity of the object; empty: none."""
    selector: Selector = EVERYTHING
    """What a list or a watch is about."""
    subresource: str = ""
    options: Map[Any] = NO_OPTIONS
    """What else the verb knows: `bookmarks`, …"""
    endpoint: str = ""
    """Whom it is addressed to; empty: whoever stands before the Store for its caller."""
    key: str = attrs.field(init=False, eq=False, repr=False)
    """What it is about, as users write it: `pods/default/p1`, or `pods` for all of them."""

    @key.default
    def _(self) -> str:
        within = f"{self.plural}/{self.namespace}" if self.namespace else self.plural
        return f"{within}/{self.name}" if self.name else within

    @property
    def view(self) -> View:
        """What of its kind a list or a watch looks at."""
        return View(self.plural, self.selector, self.options.get("fields"))

    def line(self) -> str:
        """The whole of it as one JSON line."""
        return encode(self).decode()

    @property
    def asked(self) -> str:
        """The verb, with its subresource: `create/binding`."""
        return f"{self.verb}/{self.subresource}" if self.subresource else self.verb

    def __str__(self) -> str:
        return f"{self.asked} {self.key}"


@attrs.frozen(kw_only=True)
class Pause:
    """What a handler yields: here something else may come between.

    A bare Pause is an Option at once. With `until_ms`, or a cursor that has to reach a revision,
    it becomes one when the first of them has come about.
    """

    until_ms: int | None = None
    cursor: Cursor | None = None
    revision: int = 0
    may: Footprint = NOTHING
    """What else the next part may touch, now that it is known: the name it has given."""


BETWEEN = Pause()

Handler = Generator[Pause, int | None, Any]
"""How an Operation is answered: part by part. A `yield` of it comes to the virtual time at which
the handler goes on, or to None if nobody says."""


@attrs.frozen
class Listing:
    """The answer to a list: the objects, in order of their keys, and the revision they are of."""

    items: tuple[Any, ...]
    revision: Revision
    more: str = ""
    """Where the next page begins, if this was not all; opaque."""


class Endpoint(Protocol):
    """Whatever answers Operations: the bare Store, an API server, a node's runtime, the cloud.

    The World calls `handle` when it performs the `serve` of an Operation, and drives the generator
    from one yield to the next, an Option each. It yields before every commit but its first, after
    a read of another key that the commit's compare-and-swap does not protect, and to wait. It
    returns the answer, or raises an ApiError, which is one too. It has no task of its own: when it
    crashes, generators half way stop where they are.
    """

    name: str
    """Whom Operations are addressed to."""
    near: bool
    """Served and answered within the caller's own turn, as a kubelet's own runtime is."""
    is_front: bool
    """It stands before the Store: actors that name no Endpoint speak to it."""
    on_behind: Callable[[Cursor], None] | None
    """To be called with a cursor of it that lags and has something to read; set by the World."""

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Answer it. `caller` is the actor that asks: a name for new objects, and decisive only to
        an Endpoint that was told what that actor may do."""

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """What serving it to that caller may touch; must hold every key `handle` will mark."""

    def begin(self) -> None:
        """Begin to read, if it reads ahead; called once, when the World is assembled."""

    def restart(self) -> None:
        """Begin a new life with empty memory; called when a crash of it is over."""


class Front(Endpoint, Protocol):
    """An Endpoint that stands before the Store."""

    def completed(self, item: Object) -> Object:
        """An object that is there from the start, as if it had come this way: called when it is
        added, or when this is served. What it says already is kept."""


class Switched(Endpoint, Protocol):
    """An Endpoint with switches; one without need not say so."""

    component: ClassVar[Component]
    """What they are."""
    told: Mapping[str, str]
    """What its constructor was told of them, `profile` among them."""
    switches: Any
    """What holds for it: as it was told, until the World that it is served in says otherwise."""


def creator_of(endpoint: str, caller: str) -> str:
    """Whom a new object names as its creator, in its uid."""
    return caller if endpoint == "store" else f"{caller}@{endpoint}"


def answer_at_once(endpoint: Endpoint, operation: Operation, caller: str, now_ms: int = 0) -> Any:
    """Run a handler to its answer while nothing moves, so that nothing can come between."""
    handler = endpoint.handle(operation, caller, 0)
    while True:
        try:
            next(handler)
        except StopIteration as done:
            return done.value
