"""Selector: which objects of a kind a reader wants. View: which Changes of them he is told."""

from __future__ import annotations

import attrs

from testbed.objects.labels import Requirement
from testbed.objects.meta import Object, Revision, field_of
from testbed.store.change import Change, Entry
from testbed.store.footprint import LOG, fields_changed


@attrs.frozen
class Selector:
    """Which objects of a kind a reader wants. Plain data; the empty one selects every object."""

    namespace: str | None = None
    name: str | None = None
    fields: tuple[tuple[str, str | int | bool], ...] = ()
    """Dotted paths and what must stand there: `(("spec.node_name", "n1"),)`."""
    unlike: tuple[tuple[str, str | int | bool], ...] = ()
    """Dotted paths and what must not stand there: `(("status.phase", "Failed"),)`."""
    labels: tuple[Requirement, ...] = ()
    """What its labels must be, as `labels.parse("app=web,tier!=db")` reads it."""

    @property
    def filed_under(self) -> tuple[str, str | int | bool] | None:
        """The first path and value it demands, by which a Cursor finds its Watch; None if none."""
        if self.name is not None:
            return ("meta.name", self.name)
        if self.fields:
            return self.fields[0]
        return None if self.namespace is None else ("meta.namespace", self.namespace)

    @property
    def paths(self) -> tuple[str, ...]:
        """The fields it looks at that can change."""
        labels = ("meta.labels",) if self.labels else ()
        return (*(path for path, _ in (*self.fields, *self.unlike)), *labels)

    def matches(self, value: object) -> bool:
        """Whether an object is among those selected."""
        if self.name is not None and field_of(value, "meta.name") != self.name:
            return False
        if self.namespace is not None and field_of(value, "meta.namespace") != self.namespace:
            return False
        for path, wanted in self.fields:
            if field_of(value, path) != wanted:
                return False
        for path, unwanted in self.unlike:
            if field_of(value, path) == unwanted:
                return False
        if not self.labels:
            return True
        labels = value.meta.labels if isinstance(value, Object) else {}
        return all(requirement.holds(labels) for requirement in self.labels)

    def has(self, entry: Entry | None) -> bool:
        """Whether there is an object and it is among those selected."""
        return entry is not None and self.matches(entry.value)


@attrs.frozen
class View:
    """What a list or a watch looks at: so much of one kind, and of that the declared fields."""

    plural: str
    selector: Selector | None
    """None: the whole kind."""
    fields: tuple[str, ...] | None
    """None: all of them."""

    @property
    def logs(self) -> set[str]:
        """The log of the kind, or only those fields of it that its reader has declared, and those
        by which he selects. To know the revision is to know of every change."""
        log = f"{LOG}{self.plural}"
        if self.fields is None or any(is_whole(field) for field in self.fields):
            return {log}
        paths = () if self.selector is None else self.selector.paths
        # What comes to be or is gone is added to the log as a whole: to read any field is to hear.
        return {f"{log}.{path}" for path in (*self.fields, *paths, "meta.uid")}

    @property
    def as_listed(self) -> View:
        """What a list of it has seen to the order of: the kind, unless fields are declared."""
        return View(self.plural, None, None) if self.fields is None else self

    def tells(self, change: Change) -> bool:
        """Whether its reader is told: of what begins or ceases to be selected, and of what stays
        if it differs in what he has declared."""
        if self.selector is None:
            return True
        was, is_now = self.selector.has(change.old), self.selector.has(change.new)
        if self.fields is None or not (was and is_now):
            return was or is_now
        return touches(self.fields, change)

    def is_told(self, revision: Revision) -> bool:
        """Whether that was told by a list or a watch of the same, so that it is settled which of
        the Changes that this looks at come before it."""
        return revision.told in (self, View(self.plural, None, None))


def touches(fields: tuple[str, ...], change: Change) -> bool:
    """Whether a Change to an object that stays changes one of these fields, or a part of one."""
    if any(is_whole(field) for field in fields):
        return True
    changed = fields_changed(change) or ()
    return any(
        path == field or path.startswith(f"{field}.") or field.startswith(f"{path}.")
        for path in changed
        for field in fields
    )


def differ_in(fields: tuple[str, ...], one: object, other: object) -> bool:
    """Whether two objects of one name are different ones, or differ in one of these fields."""
    if any(is_whole(field) for field in fields):
        return one != other
    return any(field_of(one, path) != field_of(other, path) for path in (*fields, "meta.uid"))


def is_whole(field: str) -> bool:
    """Whether to know that field is to know of every change: the revision tells of each."""
    return field in ("meta", "meta.revision")
