"""Operation: a request, as data. Endpoint: what answers it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, ClassVar, Protocol, cast

import attrs

from testbed.code.quick import quick
from testbed.errors import ScenarioError, shown
from testbed.objects.codec import encode
from testbed.objects.meta import UNSET, Map, Numbered, Object, Revision
from testbed.store.footprint import NOTHING, Footprint
from testbed.store.selector import Selector, View
from testbed.store.store import LOG_IS_KEPT, Store
from testbed.store.watch import Cursor
from testbed.switches import Component

EVERYTHING = Selector()
NO_OPTIONS: Map[Any] = Map()


@quick
@attrs.frozen
class Operation:
    """A request to an Endpoint. It is plain data: it fits on one JSON line."""

    verb: str
    """get, list, watch, create, update, delete, txn, or another verb that its Endpoint knows."""
    plural: str = ""
    name: str = ""
    namespace: str = ""
    body: Any = None
    """The object to write, or whatever else the verb needs; frozen data."""
    revision: Revision = UNSET
    """For a write, a precondition: the object is still at this revision. For a read, the point in
    history to read at or from. Unset: neither."""
    uid: str = ""
    """A precondition: the object has this uid. Empty: none."""
    selector: Selector = EVERYTHING
    """Which objects a list or a watch is about."""
    subresource: str = ""
    options: Map[Any] = NO_OPTIONS
    """Further options of the verb: `bookmarks`, …"""
    endpoint: str = ""
    """The Endpoint it is addressed to; empty: the one that stands before the Store for its
    caller."""
    key: str = attrs.field(init=False, eq=False, repr=False)
    """The object or kind it is about, as users write it: `pods/default/p1`, or `pods` for all."""

    @key.default
    def _(self) -> str:
        within = f"{self.plural}/{self.namespace}" if self.namespace else self.plural
        return f"{within}/{self.name}" if self.name else within

    @property
    def view(self) -> View:
        """The part of its kind that a list or a watch looks at."""
        return View(self.plural, self.selector, self.options.get("fields"))

    def line(self) -> str:
        """The whole Operation as one JSON line."""
        return encode(self).decode()

    @property
    def asked(self) -> str:
        """The verb, with its subresource: `create/binding`."""
        return f"{self.verb}/{self.subresource}" if self.subresource else self.verb

    def __str__(self) -> str:
        return f"{self.asked} {self.key}"


@attrs.frozen(kw_only=True)
class Pause:
    """What a handler yields where other turns may come between two of its parts.

    A bare Pause becomes an Option at once. With `until_ms`, or with a cursor that has to reach a
    revision, it becomes an Option as soon as one of these conditions holds.
    """

    until_ms: int | None = None
    cursor: Cursor | None = None
    revision: int = 0
    may: Footprint = NOTHING
    """What the next part may touch beyond the handler's own `may`, if that is known only now: for
    instance the key of an object whose name the server has just generated."""


BETWEEN = Pause()

Handler = Generator[Pause, int | None, Any]
"""Answers an Operation part by part. Each `yield` returns the virtual time at which the handler
goes on, or None if it is driven without a clock."""


@quick
@attrs.frozen
class Listing:
    """The answer to a list: the objects in order of their keys, and the revision of that state."""

    items: tuple[Any, ...]
    """The objects, in order of their keys."""
    revision: Revision
    """The revision of that state: where a watch may begin."""
    more: str | Numbered = ""
    """Where the next page begins, if there is one; opaque."""


class Endpoint(Protocol):
    """Whatever answers Operations: the bare Store, an API server, a node's runtime, the cloud.

    The World calls `handle` when it performs the `serve` of an Operation. It then drives the
    generator from one yield to the next; each step is an Option. A handler yields before every
    commit except its first, after a read of another key that the commit's compare-and-swap does
    not protect, and to wait. It returns the answer, or raises an ApiError, which is an answer too.
    An Endpoint has no task of its own: when it crashes, each unfinished generator stops where it
    is.
    """

    name: str
    """The name to which Operations are addressed."""
    near: bool
    """Whether it serves and answers within the caller's own turn, as a kubelet's runtime does."""
    is_front: bool
    """Whether it stands before the Store: actors that name no Endpoint speak to it."""
    on_behind: Callable[[Cursor], None] | None
    """The World sets this. The Endpoint calls it with a lagging cursor that has something to
    read, or that has expired and has nothing more to read."""

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Answer the Operation. `caller` is the actor that asks. It becomes part of the uid of new
        objects, and matters otherwise only to an Endpoint that knows what this actor may do."""

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """What serving the Operation may touch; it must hold every key that `handle` will mark."""

    def begin(self) -> None:
        """Start reading, if it reads ahead. Called once, when the World is assembled."""

    def restart(self) -> None:
        """Start a new life with empty memory. Called when a crash of it is over."""


class Front(Endpoint, Protocol):
    """An Endpoint that stands before the Store."""

    def completed(self, item: Object) -> Object:
        """An object of the initial state, with the defaults that this Endpoint would have written
        at create. Fields that are set already stay. Called when the object is added, or when the
        World starts to serve this Endpoint. Raises Invalid if there can be no such object."""


class Switched(Endpoint, Protocol):
    """An Endpoint with switches. An Endpoint without any need not have these fields."""

    component: ClassVar[Component]
    """Declares the switches."""
    told: Mapping[str, str]
    """The switches that its constructor was given, `profile` among them."""
    switches: Any
    """The values in force: those that it was given, until its World decides otherwise."""


class Remembering(Endpoint, Protocol):
    """An Endpoint that marks what it remembers from one Operation to the next, key by key, with
    `store.mark`. An Endpoint that does not say so need not have this field: each part that it
    serves then writes one key, `memory:<name>`, and so keeps its place among the others. Its place
    among all commits is kept, too, for it may see them in the Store in any way. One that says so
    says nothing of its reads: each leaves a mark, but for those by `store.unmarked`."""

    marks_memory: ClassVar[bool]
    """True. The class itself must say so, and a subclass must say it again."""


def marks_memory(endpoint: Endpoint) -> bool:
    """Whether its own class declares that it marks what it remembers."""
    return bool(vars(type(endpoint)).get("marks_memory"))


def served_by(factory: Callable[[Store], Endpoint], store: Store) -> Endpoint:
    """The Endpoint that a factory makes for a World; ScenarioError if it is none, or makes none."""
    # An Endpoint that was made before would answer from another Store, and outlive the World.
    given: object = factory
    store.has_given_log = False
    made: object = factory(store) if callable(given) else None
    if store.has_given_log and bool(vars(type(made)).get("marks_memory")):
        raise ScenarioError(LOG_IS_KEPT)
    if isinstance(getattr(made, "name", None), str) and callable(getattr(made, "handle", None)):
        return cast(Endpoint, made)
    what = f"what makes a {type(made).__name__}" if callable(given) else shown(given)
    raise ScenarioError(
        f"world.serve was given {what}: expected a class of Endpoints, or a function that makes "
        "one for a Store.\nNext: world.serve(ApiServer)."
    )


def creator_of(endpoint: str, caller: str) -> str:
    """The creator that the uid of a new object names: `alpha@apiserver`, or `alpha`."""
    return caller if endpoint == "store" else f"{caller}@{endpoint}"


def answer_at_once(endpoint: Endpoint, operation: Operation, caller: str, now_ms: int = 0) -> Any:
    """Run a handler to its answer in one go, with no turn in between."""
    handler = endpoint.handle(operation, caller, 0)
    while True:
        try:
            next(handler)
        except StopIteration as done:
            return done.value
