"""Ownership: which manager owns which fields of an object, as its `managedFields` say (API-66).

The record is a part of the object: it is stored, read and watched with it, and a server remembers
nothing of it. An object has one from its creation if its creator names a field manager, as every
program that asks over HTTP does; else from the first apply on. Without one, a write costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from actors.apiserver.call import Call
from actors.apiserver.verbs.field_sets import Path, fields_v1, paths_of, values_of
from testbed.objects import Map, calendar
from testbed.objects.calendar import whole_second
from testbed.objects.form import from_tree, to_tree
from testbed.objects.plain import Misfit
from testbed.objects.settled import settled

APPLY, UPDATE = "Apply", "Update"
METADATA, RECORD = "metadata", "managedFields"
NAME: Path = ("f:metadata", "f:name")
SERVERS_OWN: tuple[Path, ...] = (
    ("f:apiVersion",), ("f:kind",), NAME,
    *(("f:metadata", f"f:{name}") for name in (
        "namespace", "creationTimestamp", "selfLink", "uid", "generation", RECORD,
        "resourceVersion",
    )),
)  # fmt: skip
"""What no manager owns."""


@attrs.frozen
class Claimant:
    """Who owns fields: a program, by the way in which it wrote them."""

    name: str
    """`kubectl-client-side-apply`."""
    operation: str
    """APPLY or UPDATE."""
    api_version: str
    """The API group and version that it wrote in."""
    subresource: str = ""
    """`status` if it wrote that alone."""

    def __str__(self) -> str:
        part = f' with subresource "{self.subresource}"' if self.subresource else ""
        version = f" using {self.api_version}" if self.operation == UPDATE else ""
        return f'"{self.name}"{part}{version}'


@attrs.frozen
class OwnedFields:
    """The fields that one manager owns, and when it last took one."""

    paths: frozenset[Path]
    time: str = ""


NOTHING = OwnedFields(frozenset())
Owners = dict[Claimant, OwnedFields]


@attrs.frozen
class _Entry:
    """One item of `managedFields`, as it is on the wire."""

    api_version: str = ""
    fields_type: str = ""
    fields_v1: Any = None
    manager: str = ""
    operation: str = ""
    subresource: str = ""
    time: str = ""


@attrs.frozen
class FieldChanges:
    """The paths at which a write changes an object, but for those that it cannot change."""

    written: frozenset[Path]
    removed: frozenset[Path]

    @classmethod
    def between(cls, call: Call, old: Any, new: Any) -> FieldChanges:
        """From one object, or None, to another."""
        trees = [{} if item is None else values_of(to_tree(item)) for item in (old, new)]
        was, now = ({path: tree[path] for path in within(call, tree)} for tree in trees)
        written = (path for path in now if path not in was or was[path] != now[path])
        return cls(frozenset(written), frozenset(was.keys() - now.keys()))


def within(call: Call, paths: Iterable[Path]) -> frozenset[Path]:
    """Those paths that this request can change, and thus own."""
    return frozenset(path for path in paths if not _is_beyond(call, path))


def _is_beyond(call: Call, path: Path) -> bool:
    if path[:2] in SERVERS_OWN or path[:1] in SERVERS_OWN:
        return True
    if call.operation.subresource == "scale":
        return path[:2] != ("f:spec", "f:replicas")
    if call.operation.subresource:
        return path[0] not in ("f:status", "f:metadata") or path[1:2] == ("f:ownerReferences",)
    return path[0] == "f:status" and hasattr(call.kind, "status")


def claimant_of(call: Call, operation: str) -> Claimant:
    """Who asks. A caller that names no manager has its own name."""
    name = call.options.get("field_manager") or call.caller
    return Claimant(name, operation, call.kind.api_version, call.operation.subresource)


# -- the record -----------------------------------------------------------------------------------


def owners_of(item: Any) -> Owners:
    """Who owns what of an object, as its record says; nothing if that cannot be read."""
    record, owners = _record(item), {}
    try:
        for tree in record if isinstance(record, tuple) else ():
            each = from_tree(_Entry, tree)
            who = Claimant(each.manager, each.operation, each.api_version, each.subresource)
            owners[who] = OwnedFields(frozenset(paths_of(each.fields_v1)) - {()}, each.time)
    except Misfit:
        return {}
    return {who: owned for who, owned in owners.items() if owned.paths}


def _record(item: Any) -> Any:
    return item.extra.get(METADATA, {}).get(RECORD)


def with_owners(item: Any, owners: Owners) -> Any:
    """The object with that record, in which what was applied comes first, and what is older."""
    order = sorted(owners, key=lambda who: (who.operation, owners[who].time, who.name, str(who)))
    record = tuple(_written(who, owners[who]) for who in order if owners[who].paths)
    had = item.extra.get(METADATA, {})
    metadata = Map({name: rest for name, rest in had.items() if name != RECORD})
    metadata = metadata.having(**{RECORD: record}) if record else metadata
    extra = Map({name: rest for name, rest in item.extra.items() if name != METADATA})
    return attrs.evolve(item, extra=extra.having(metadata=metadata) if metadata else extra)


def _written(who: Claimant, owned: OwnedFields) -> Map[Any]:
    entry = {
        "manager": who.name, "operation": who.operation, "apiVersion": who.api_version,
        "subresource": who.subresource, "time": owned.time, "fieldsType": "FieldsV1",
        "fieldsV1": fields_v1(owned.paths),
    }  # fmt: skip
    return Map({name: said for name, said in entry.items() if said})


# -- writes that are no apply ---------------------------------------------------------------------


def noted(call: Call, new: Any, old: Any = None) -> Any:
    """The new object, whose record says that the caller owns what it has changed; without `old` all
    of it. If no record is kept of it, the same object."""
    if (
        not new.extra
        and not (old is not None and old.extra)
        and (old is not None or not call.options.get("field_manager"))
    ):
        return new
    given, is_part = _record(new), bool(call.operation.subresource)
    if _is_reset(given) and not is_part:
        return with_owners(new, {})
    # What a caller says of the record counts, unless it writes a part of the object.
    owners = {} if is_part else owners_of(new)
    if not owners and old is not None:
        owners = owners_of(old)
    if not owners and (old is not None or not call.options.get("field_manager")):
        return new if given is None else with_owners(new, {})
    changes = FieldChanges.between(call, old, settled(new))
    owners = left_by(changes, owners)
    if changes.written:
        me = claimant_of(call, UPDATE)
        owners[me] = OwnedFields(owners.get(me, NOTHING).paths | changes.written, now_of(call))
    return with_owners(new, owners)


def _is_reset(record: Any) -> bool:
    """Whether a write wants no record kept: it says that there is one, and that it is empty."""
    return record in ((), (Map(),))


def left_by(changes: FieldChanges, owners: Owners) -> Owners:
    """What each still owns after these changes: nothing that was written, and nothing that is
    gone."""
    lost = changes.written | changes.removed
    return {who: attrs.evolve(owned, paths=owned.paths - lost) for who, owned in owners.items()}


def now_of(call: Call) -> str:
    """The time of the request, as a record writes it."""
    return calendar.written(whole_second(call.now_ms))
