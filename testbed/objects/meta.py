"""What every object has: a name, an identity, a revision; and the frozen Map its labels live in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Any, ClassVar, NoReturn, Self, TypeVar

import attrs

T = TypeVar("T")
V = TypeVar("V")


class Map(dict[str, V]):
    """A mapping that cannot change: hashable, shared by reference, encoded as a plain object."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("a Map never changes; make another with `map.having(key=value)`")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def having(self, **items: V) -> Map[V]:
        """The same Map with these items set."""
        return Map({**self, **items}) if items else self


def texts(items: Mapping[str, str]) -> Map[str]:
    """A Map of strings, the same one if it is one already."""
    return items if isinstance(items, Map) else Map(items)


def wire(name: str = "", shape: str = "", *, always: bool = False) -> dict[str, Any]:
    """How a field is written on the wire, as its metadata: under which name, as what (`time`,
    `times` by names, `fine time`), and whether even while it is unset. See `form.py`."""
    return {"wire": name, "shape": shape, "always": always}


class Revision:
    """What the Store's clock read when an object last changed, as a client may see it.

    Opaque: two are equal or they are not; which is newer only a server knows (API-4). The empty
    one means "not said". An actor that orders two of them is told so.
    """

    __slots__ = ("text", "told")

    def __init__(self, text: str | int = "", told: object = None) -> None:
        self.text = str(text)
        self.told = told
        """Which view of which kind a list or a watch spoke of when it told this; for the testbed,
        and no part of what it is."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Revision) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __bool__(self) -> bool:
        return bool(self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"rv {self.text}" if self.text else "rv unset"

    def _refuse(self, other: object) -> NoReturn:
        raise TypeError(
            f"{self!r} and {other!r} cannot be ordered: a resourceVersion is opaque, equal or not. "
            "Keep what you need from the order of your watch instead."
        )

    __lt__ = __le__ = __gt__ = __ge__ = _refuse


UNSET = Revision()


@attrs.frozen
class Owner:
    """The object that another belongs to, and goes with."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    """Whether it is the one that manages it; at most one of its owners is."""
    block_owner_deletion: bool | None = None


@attrs.frozen
class Meta:
    """Name, identity and age of an object (API-1)."""

    name: str = ""
    """Unique in its namespace among objects of its kind; empty only until the server names it."""
    namespace: str = ""
    """Empty for what belongs to the whole cluster."""
    uid: str = ""
    """Given at create, never reused: a re-created object of the same name has another."""
    revision: Revision = attrs.field(default=UNSET, metadata=wire("resourceVersion"))
    """The Store's revision of this object's last change; opaque."""
    created_ms: int | None = attrs.field(default=None, metadata=wire("creationTimestamp", "time"))
    """When it was created, in whole seconds as the real API keeps it (GEN-4)."""
    labels: Map[str] = attrs.field(factory=Map, converter=texts)
    """What selectors look at."""
    annotations: Map[str] = attrs.field(factory=Map, converter=texts)
    """What else anybody notes of it."""
    generate_name: str = ""
    """What the server begins a name with if none is given."""
    generation: int = 0
    """How often what is wanted of it has changed, for kinds that count that (API-17)."""
    deleted_ms: int | None = attrs.field(default=None, metadata=wire("deletionTimestamp", "time"))
    """By when it is to be gone, once somebody has asked for its deletion."""
    grace_s: int | None = attrs.field(default=None, metadata=wire("deletionGracePeriodSeconds"))
    """How long it was given then."""
    owners: tuple[Owner, ...] = attrs.field(default=(), metadata=wire("ownerReferences"))
    """Whose it is."""
    finalizers: tuple[str, ...] = ()
    """Who has something to do before it may go."""

    @property
    def is_terminating(self) -> bool:
        """Whether somebody has asked for its deletion."""
        return self.deleted_ms is not None


def _meta(given: Meta | str) -> Meta:
    """A bare name stands for a Meta; `namespace/name` for both."""
    if isinstance(given, Meta):
        return given
    namespace, _, name = given.rpartition("/")
    return Meta(name=name, namespace=namespace)


def named(name: str, labels: Mapping[str, str] | None) -> Meta:
    """The Meta of what is called `name`, or `namespace/name`, and has these labels."""
    return attrs.evolve(_meta(name), labels=labels or {})


@attrs.frozen
class Object:
    """Anything the Store keeps: a kind, a Meta, and the fields its family adds."""

    kind: ClassVar[str] = ""
    """As users write it in a manifest: `Pod`."""
    plural: ClassVar[str] = ""
    """As it stands in a key and in a URL: `pods`."""
    is_namespaced: ClassVar[bool] = True
    api_version: ClassVar[str] = "v1"
    """The group and version it is written under."""

    meta: Meta = attrs.field(converter=_meta, metadata=wire("metadata"))
    """Name, identity, revision. A string `name` or `namespace/name` will do."""
    extra: Map[Any] = attrs.field(factory=Map, kw_only=True)
    """What it said when it was read that it has no field for."""

    def __attrs_post_init__(self) -> None:
        if self.is_namespaced and not self.meta.namespace:
            object.__setattr__(self, "meta", attrs.evolve(self.meta, namespace="default"))

    @property
    def key(self) -> str:
        """Where it stands in the Store: `pods/default/p1`, `nodes/n1`."""
        return key_of(type(self), self.meta.name, self.meta.namespace)

    def is_as(self, other: Object) -> bool:
        """Whether the two differ in nothing but their revision."""
        if type(self) is not type(other):
            return False
        for name in _names(type(self)):
            if name != "meta" and _differ(getattr(self, name), getattr(other, name)):
                return False
        mine, theirs = self.meta, other.meta
        return not any(
            name != "revision" and _differ(getattr(mine, name), getattr(theirs, name))
            for name in _names(Meta)
        )

    def with_meta(self, **changes: Any) -> Self:
        """The same object with these fields of its Meta changed."""
        if "labels" in changes:
            changes["labels"] = texts(changes["labels"])
        meta = self.meta
        for name, value in changes.items():
            if getattr(meta, name, ...) is not value:
                return evolved(self, meta=evolved(meta, **changes))
        return self


_known_names: dict[type, tuple[str, ...]] = {}
_known_readers: dict[type, Callable[[Any], tuple[Any, ...]]] = {}


def _names(kind: type) -> tuple[str, ...]:
    """The names of its fields, in order."""
    names = _known_names.get(kind)
    if names is None:
        names = _known_names[kind] = tuple(field.name for field in attrs.fields(kind))
    return names


def _reader(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    """What reads all its fields at once, in order."""
    read = _known_readers.get(kind)
    if read is None:
        names = _names(kind)
        get = attrgetter(*names) if names else lambda _: ()
        read = _known_readers[kind] = get if len(names) != 1 else lambda value: (get(value),)
    return read


def _differ(one: object, other: object) -> bool:
    return one is not other and one != other


def evolved(value: T, **changes: Any) -> T:
    """As `attrs.evolve`, three times as fast: for changes that are already of their types."""
    kind = type(value)
    names, new = _names(kind), object.__new__(kind)
    for name, each in zip(names, _reader(kind)(value), strict=True):
        object.__setattr__(new, name, each)
    for name, each in changes.items():
        if name not in names:
            raise TypeError(f"a {kind.__name__} has no {name}; it has {', '.join(names)}")
        object.__setattr__(new, name, each)
    return new


def key_of(kind: type[Object], name: str, namespace: str = "default") -> str:
    """The Store key of an object of that kind: `pods/default/p1`, or `nodes/n1`."""
    if kind.is_namespaced:
        return f"{kind.plural}/{namespace or 'default'}/{name}"
    return f"{kind.plural}/{name}"


def prefix_of(kind: type[Object], namespace: str | None = None) -> str:
    """The key prefix of all objects of that kind, or of those in one namespace."""
    if kind.is_namespaced and namespace is not None:
        return f"{kind.plural}/{namespace}/"
    return f"{kind.plural}/"


def field_of(value: object, path: str) -> object:
    """What stands at a dotted path (`spec.node_name`, `data.owner`), or None. A name in a Map may
    have dots itself, as those of labels have."""
    parts = path.split(".")
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


def changed_fields(old: object, new: object, path: str = "") -> Iterator[str]:
    """The dotted paths at which two objects of one kind differ, but for their revision."""
    if old is new or old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from changed_fields(old.get(name), new.get(name), f"{path}.{name}")
    elif type(old) is type(new) and attrs.has(type(old)):
        for name in _names(type(old)):
            if name != "revision":
                yield from changed_fields(getattr(old, name), getattr(new, name), f"{path}.{name}")
    else:
        yield path[1:]
