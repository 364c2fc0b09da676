"""What every object has: a name, an identity, a revision; and Map, a frozen mapping for labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from operator import attrgetter
from typing import Any, ClassVar, NoReturn, Self, TypeVar

import attrs

from testbed.code.copier import COPIERS, names_of
from testbed.code.quick import quick

T = TypeVar("T")
V = TypeVar("V")
READERS_MAX = 1024
"""How many dotted paths are kept as functions."""


class Map(dict[str, V]):
    """A frozen mapping: hashable, shared by reference, encoded as a plain JSON object."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("a Map never changes; make another with `map.having(key=value)`")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[Map[V]], tuple[dict[str, V]]]:
        """To another process it goes whole: what is pickled otherwise is filled item by item."""
        return Map, (dict(self),)

    def having(self, **items: V) -> Map[V]:
        """A Map with these items set as well."""
        return Map({**self, **items}) if items else self


def texts(items: Mapping[str, str]) -> Map[str]:
    """These strings as a Map; the same one if they are a Map already. TypeError if one is none."""
    for name, value in items.items():
        if not isinstance(value, str):
            raise TypeError(f"{name}={value!r}: expected a text, such as {str(value)!r}")
    return items if isinstance(items, Map) else Map(items)


def wire(name: str = "", shape: str = "", *, always: bool = False) -> dict[str, Any]:
    """The metadata of a field for the wire: its name there, its shape (`time`, `fine time`, or
    `times` for a Map of times), and whether it is written even while it is unset. See `form.py`."""
    return {"wire": name, "shape": shape, "always": always}


LOOKED: ContextVar[Callable[[], None] | None] = ContextVar("looked", default=None)
"""What to call when an actor looks at a number that counts all commits. Only the context of its
tasks has it: a look of an Endpoint, a claim or the testbed makes no difference."""


def looked() -> None:
    """Note a look at such a number; nothing, unless an actor's code is what looks."""
    note = LOOKED.get()
    if note is not None:
        note()


class Revision:
    """A resourceVersion: the Store's revision at the last change of an object, as clients see it.

    It is opaque. Two are equal or not; only a server knows which is newer (API-4), and to order two
    of them is a TypeError. The empty one means unset.

    Its text counts the commits of the whole World, so whether two Runs show the same text depends
    on the order of all that was committed. Therefore an actor's look at it leaves a mark, and a
    complete search keeps that order from then on. To hand a Revision back is no look. Nor is to ask
    whether two objects are of one revision: each commit has a revision of its own in every order.
    """

    # `view` never reaches a client: it is not part of equality, hash or JSON. A footprint needs it.
    # A read "from revision 7" depends on the order of all commits before 7, unless it was a list of
    # the same view that returned the 7: then that order is fixed already (`View.has_returned`).
    __slots__ = ("_is_commit", "_text", "_view")

    def __init__(self, text: str | int = "") -> None:
        self._text = str(text)
        self._view: object = None
        """The View of the list or watch that returned this revision; None: it is from elsewhere."""
        self._is_commit = False
        """Whether it is that of one commit, and not how far a list or a bookmark had come."""

    @property
    def text(self) -> str:
        """Its text; an actor that asks for it has looked at it."""
        looked()
        return self._text

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Revision):
            return False
        mine, theirs = self._text, other._text
        if mine and theirs and not (self._is_commit and other._is_commit):
            looked()
        return mine == theirs

    # All are alike, so a set or a dict has to ask `==`, and that leaves a mark if one is needed.
    def __hash__(self) -> int:
        return 1 if self._text else 0

    def __bool__(self) -> bool:
        return bool(self._text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"rv {self.text}" if self._text else "rv unset"

    def __getstate__(self) -> object:
        looked()  # what is pickled shows the text
        return super().__getstate__()

    def _refuse(self, other: object) -> NoReturn:
        raise TypeError(
            f"{self!r} and {other!r} cannot be ordered: a resourceVersion is opaque, equal or not. "
            "Keep what you need from the order of your watch instead."
        )

    __lt__ = __le__ = __gt__ = __ge__ = _refuse


def revision_from(text: int, view: object = None, *, is_commit: bool = False) -> Revision:
    """A Revision as the Store and its Endpoints give it out: that of one commit, or how far a list
    or a watch of that View had come. A Revision that an actor makes says neither."""
    made = object.__new__(Revision)
    made._text, made._view, made._is_commit = str(text), view, is_commit
    return made


def text_of(revision: Revision | Numbered | str) -> str:
    """The text of a Revision, for the testbed and for Endpoints, whose looks leave no mark. So of
    any other text that holds numbers of the Store."""
    if revision.__class__ is Revision or isinstance(revision, (Revision, Numbered)):
        return revision._text
    return str(revision)


class Numbered:
    """A text that holds numbers of the Store: of an error, or the token of a list's next page.

    As with a Revision, what it says depends on the order of all commits. So an actor's look at it
    leaves a mark; to hand it back, or to ask whether it is empty, is no look.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        self._text = text

    def __str__(self) -> str:
        looked()
        return self._text

    def __repr__(self) -> str:
        return repr(str(self))

    def __eq__(self, other: object) -> bool:
        return self is other or str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __bool__(self) -> bool:
        return bool(self._text)

    def __getstate__(self) -> object:
        looked()
        return super().__getstate__()


UNSET = Revision()


@attrs.frozen
class Owner:
    """The owner of an object; the object is deleted once its owners are gone."""

    api_version: str
    """The API group and version of the owner's kind: `apps/v1`."""
    kind: str
    """The owner's kind: `ReplicaSet`."""
    name: str
    """The owner's name, in the namespace of the object or in none."""
    uid: str
    """The owner's uid; an object of the same name with another uid is no owner."""
    controller: bool | None = None
    """Whether this owner manages the object; at most one of its owners does."""
    block_owner_deletion: bool | None = None
    """Whether an owner that is deleted in the foreground waits until this object is gone."""


@quick
@attrs.frozen
class Meta:
    """Name, identity and age of an object (API-1)."""

    name: str = ""
    """Unique in its namespace for its kind; empty only until the server generates it."""
    namespace: str = ""
    """Empty for cluster-scoped kinds."""
    uid: str = ""
    """Set at create and never reused: a re-created object of the same name has another."""
    revision: Revision = attrs.field(default=UNSET, metadata=wire("resourceVersion"))
    """The Store's revision at the last change of this object; opaque."""
    created_ms: int | None = attrs.field(default=None, metadata=wire("creationTimestamp", "time"))
    """When it was created, in whole seconds as in the real API (GEN-4)."""
    labels: Map[str] = attrs.field(factory=Map, converter=texts)
    """What selectors look at."""
    annotations: Map[str] = attrs.field(factory=Map, converter=texts)
    """Further notes, which no selector looks at."""
    generate_name: str = ""
    """The prefix of the name that the server generates if `name` is empty."""
    generation: int = 0
    """How often the desired state has changed, for kinds that count this (API-17)."""
    deleted_ms: int | None = attrs.field(default=None, metadata=wire("deletionTimestamp", "time"))
    """Set once its deletion was requested: the time by which it is to be gone."""
    grace_s: int | None = attrs.field(default=None, metadata=wire("deletionGracePeriodSeconds"))
    """The grace period of that deletion."""
    owners: tuple[Owner, ...] = attrs.field(default=(), metadata=wire("ownerReferences"))
    """The objects that it belongs to."""
    finalizers: tuple[str, ...] = ()
    """Names of what has to be done before an API server removes it."""

    @property
    def is_terminating(self) -> bool:
        """Whether its deletion was requested."""
        return self.deleted_ms is not None


def _meta(given: Meta | str) -> Meta:
    """The Meta itself, or one made from `name` or `namespace/name`."""
    if isinstance(given, Meta):
        return given
    if not isinstance(given, str):
        raise TypeError(f"{given!r}: expected a name, such as 'shop/web', or a Meta")
    namespace, _, name = given.rpartition("/")
    return Meta(name=name, namespace=namespace)


def named(name: str, labels: Mapping[str, str] | None) -> Meta:
    """A Meta with these labels, for `name` or `namespace/name`."""
    return attrs.evolve(_meta(name), labels=labels or {})


@attrs.frozen
class Object:
    """Anything that the Store keeps: a kind, a Meta, and the fields of its class."""

    kind: ClassVar[str] = ""
    """The kind as users write it in a manifest: `Pod`."""
    plural: ClassVar[str] = ""
    """The kind as it is in a key and in a URL: `pods`."""
    is_namespaced: ClassVar[bool] = True
    api_version: ClassVar[str] = "v1"
    """Its API group and version."""

    meta: Meta = attrs.field(converter=_meta, metadata=wire("metadata"))
    """Name, identity, revision. A string `name` or `namespace/name` also makes one."""
    extra: Map[Any] = attrs.field(factory=Map, kw_only=True)
    """The fields of its tree that its class does not model (see `form.py`)."""

    def __attrs_post_init__(self) -> None:
        if self.is_namespaced and not self.meta.namespace:
            object.__setattr__(self, "meta", attrs.evolve(self.meta, namespace="default"))

    @property
    def key(self) -> str:
        """Its key in the Store: `pods/default/p1`, `nodes/n1`."""
        meta = self.meta
        if self.is_namespaced:
            return f"{self.plural}/{meta.namespace or 'default'}/{meta.name}"
        return f"{self.plural}/{meta.name}"

    def is_as(self, other: Object) -> bool:
        """Whether the two differ in nothing but their revision. An update that would store such a
        copy stores nothing, so it moves no revision and no watch hears of it."""
        if type(self) is not type(other):
            return False
        for name in names_of(type(self)):
            if name != "meta" and _differ(getattr(self, name), getattr(other, name)):
                return False
        mine, theirs = self.meta, other.meta
        if mine is theirs:
            return True
        return not any(
            name != "revision" and _differ(getattr(mine, name), getattr(theirs, name))
            for name in names_of(Meta)
        )

    def with_meta(self, **changes: Any) -> Self:
        """A copy with these fields of its Meta changed; the object itself if none changes."""
        for name in ("labels", "annotations"):
            if name in changes:
                changes[name] = texts(changes[name])
        meta = self.meta
        for name, value in changes.items():
            if getattr(meta, name, ...) is not value:
                return evolved(self, meta=evolved(meta, **changes))
        return self


def _differ(one: object, other: object) -> bool:
    return one is not other and one != other


def evolved(value: T, /, **changes: Any) -> T:
    """As `attrs.evolve`, but mostly twice as fast, for changes that have the right types."""
    # Every write of an object makes copies this way: the Meta with its new revision, and the object
    # with its new Meta. It fills in the fields of a blank instance, so no converter and no
    # `__attrs_post_init__` runs. A plain dict for `labels`, or a Meta without a namespace, would
    # stay what it is: callers with such values need `attrs.evolve`.
    copied: T = COPIERS[type(value)](value, changes)
    return copied


def key_of(kind: type[Object], name: str, namespace: str = "default") -> str:
    """The key of an object in the Store: `pods/default/p1`, or `nodes/n1`."""
    if kind.is_namespaced:
        return f"{kind.plural}/{namespace or 'default'}/{name}"
    return f"{kind.plural}/{name}"


def prefix_of(kind: type[Object], namespace: str | None = None) -> str:
    """The key prefix of all objects of a kind, or of those in one namespace."""
    if kind.is_namespaced and namespace is not None:
        return f"{kind.plural}/{namespace}/"
    return f"{kind.plural}/"


def field_of(value: object, path: str) -> object:
    """The value at a dotted path (`spec.node_name`, `data.owner`), or None. A name in a Map may
    itself contain dots, as names of labels do."""
    return reader_of(path)(value)


@lru_cache(READERS_MAX)
def reader_of(path: str) -> Callable[[object], object]:
    """What returns the value at that path, as `field_of` does, without taking the path apart."""
    parts = path.split(".")
    # Of a Map, attrgetter would get the method of that name.
    if any(hasattr(Map, part) for part in parts):
        return lambda value: _found(value, parts)
    get = attrgetter(path)

    def read(value: object) -> object:
        try:
            return get(value)
        except AttributeError:  # it leads through a Map, or there is nothing
            return _found(value, parts)

    return read


def _found(value: object, parts: list[str]) -> object:
    for n, part in enumerate(parts):
        if isinstance(value, dict):
            name = ".".join(parts[n:])
            if name in value:
                return value[name]
            value = value.get(part)
        else:
            value = getattr(value, part, None)
        if value is None:
            return None
    return value


_RECORD = ".extra.metadata.managedFields"


def changed_fields(old: object, new: object, path: str = "") -> Iterator[str]:
    """The dotted paths at which two objects of one kind differ, without their revision and the
    record of who owns which field, which says no more than that they do."""
    if old is new or old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            if f"{path}.{name}" != _RECORD:
                yield from changed_fields(old.get(name), new.get(name), f"{path}.{name}")
    elif type(old) is type(new) and attrs.has(type(old)):
        for name in names_of(type(old)):
            if name != "revision":
                yield from changed_fields(getattr(old, name), getattr(new, name), f"{path}.{name}")
    else:
        yield path[1:]
