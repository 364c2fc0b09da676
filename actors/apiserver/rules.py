"""Rules: what the server sets, keeps and refuses of any object, for whatever verb writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actors.apiserver.call import all_invalid, invalid
from actors.apiserver.kind_rules import rules_of
from testbed.objects import Map, Meta, Object
from testbed.objects.meta import evolved
from testbed.objects.names import wrong_names


def complete(item: Any) -> Any:
    """The object with the server's defaults where it says nothing."""
    return rules_of(item).complete(item)


def created(item: Any) -> Any:
    """The object as it is created: no status but the one that the server gives it, generation 1
    if its kind counts generations (API-16)."""
    rules = rules_of(item)
    item = item.with_meta(generation=int(rules.is_counted), deleted_ms=None, grace_s=None)
    if not hasattr(item, "status") or rules.keeps_status:
        return item
    return _with_status(item, rules.first_status(item), None)


def initial(item: Any) -> Any:
    """An object that a scenario starts with: as if it had been created, and given its status
    later. What the scenario says of it is kept. Raises Invalid if its spec makes no sense."""
    rules = rules_of(item)
    item = rules.complete(item)
    if rules.is_counted and not item.meta.generation:
        item = item.with_meta(generation=1)
    check_spec(item)
    return rules.initial(item)


def check(item: Object, old: Object | None = None) -> None:
    """Raise Invalid if there can be no such object, or none that the old one may become."""
    check_names(item, old)
    rules_of(item).check(item)
    check_spec(item)


def check_names(item: Object, old: Object | None = None) -> None:
    """Raise Invalid, with each name in it that cannot be and was not in the old one (API-10)."""
    if wrongs := tuple(dict.fromkeys(wrong_names(item, old))):
        raise all_invalid(type(item), item.meta.name, wrongs)


def check_spec(item: Object) -> None:
    """Raise Invalid, with all that is wrong with its spec."""
    wrongs_of = rules_of(item).wrongs
    if wrongs_of is None:
        return
    if wrongs := tuple(dict.fromkeys(wrongs_of(item))):
        raise all_invalid(type(item), item.meta.name, wrongs)


def check_change(new: Any, old: Any) -> None:
    """Raise Invalid if the old object may not become the new one (API-14)."""
    rules_of(new).check_change(new, old)


def check_finalizers(new: Any, old: Any) -> None:
    """Raise Invalid if a write adds a finalizer to an object that is being deleted."""
    if not new.meta.finalizers or not old.meta.is_terminating:
        return
    if added := sorted({*new.meta.finalizers} - {*old.meta.finalizers}):
        found = ", ".join(f'"{name}"' for name in added)
        raise invalid(
            type(old), old.meta.name, "metadata.finalizers",
            "Forbidden: no new finalizers can be added if the object is being deleted, found new "
            f"finalizers []string{{{found}}}",
        )  # fmt: skip


def merged(new: Any, old: Any, subresource: str) -> Any:
    """The new object, with everything that this write may not change as it is in the old one
    (API-15).

    A write of the object leaves its status alone. A write of the status changes the status, labels
    and annotations, and nothing else. Identity, age and deletion belong to the server.
    """
    theirs, rules = old.meta, rules_of(old)
    meta = _kept(new.meta, theirs)
    if subresource != "status":
        new = evolved(new, meta=meta)
        if not hasattr(old, "status"):
            return new
        new = _with_status(new, old.status, old.extra.get("status"))
        if rules.is_counted and new.spec != old.spec:
            new = new.with_meta(generation=theirs.generation + 1)
        return new
    if meta.owners is not theirs.owners:
        meta = evolved(meta, owners=theirs.owners)
    kept = old if meta is theirs else evolved(old, meta=meta)
    if old.extra or new.extra:
        said = {name: rest for name, rest in new.extra.items() if name == "metadata"}
        kept = evolved(kept, extra=Map({**old.extra, **said}))
    return _with_status(kept, rules.merge_status(new, old), new.extra.get("status"))


def _kept(meta: Meta, theirs: Meta) -> Meta:
    """The new Meta, with what no write may change as it is in theirs."""
    if meta is theirs:
        return meta
    return evolved(
        meta, name=theirs.name, namespace=theirs.namespace, uid=theirs.uid,
        created_ms=theirs.created_ms, deleted_ms=theirs.deleted_ms, grace_s=theirs.grace_s,
        generation=theirs.generation, generate_name=theirs.generate_name,
    )  # fmt: skip


def _with_status(item: Any, status: Any, extra: Mapping[str, Any] | None) -> Any:
    """The object with that status; `extra` are those of its fields that have no attribute."""
    if not item.extra and not extra:
        return item if status is item.status else evolved(item, status=status)
    left = {name: value for name, value in item.extra.items() if name != "status"}
    if extra:
        left["status"] = extra
    return evolved(item, status=status, extra=Map(left))
