"""Selector: which objects of a kind a reader wants. View: which of their Changes it receives."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import attrs

from testbed.code.quick import quick
from testbed.errors import Invalid, shown
from testbed.objects.labels import Requirement
from testbed.objects.meta import Object, Revision, reader_of, text_of
from testbed.store.change import Change, Entry
from testbed.store.footprint import LOG, fields_changed


@attrs.frozen
class Selector:
    """Which objects of a kind a reader wants. Plain data; an empty one selects every object."""

    namespace: str | None = None
    name: str | None = None
    fields: tuple[tuple[str, str | int | bool], ...] = ()
    """Dotted paths and the values required there: `(("spec.node_name", "n1"),)`."""
    unlike: tuple[tuple[str, str | int | bool], ...] = ()
    """Dotted paths and the values excluded there: `(("status.phase", "Failed"),)`."""
    labels: tuple[Requirement, ...] = ()
    """Requirements on the labels, as `labels.parse("app=web,tier!=db")` returns them."""

    def __attrs_post_init__(self) -> None:
        # Which object has a revision depends on the order of all commits, and to select by it would
        # be a look at that which leaves no mark.
        if self.misfit is None and any(is_whole(p) for p, _ in (*self.fields, *self.unlike)):
            raise Invalid(
                "a selector cannot name meta.revision: no server selects by it. "
                "Select by something else, and compare the revisions of what you are given"
            )

    @cached_property
    def misfit(self) -> tuple[str, str] | None:
        """What it was given that can mean nothing, and what to say instead; None if nothing is."""
        for name, value in (("namespace", self.namespace), ("name", self.name)):
            if not isinstance(value, str | None):
                return f"{name}={shown(value)}): expected a text, or None", f'{name}="a"'
        for name, pairs in (("fields", self.fields), ("unlike", self.unlike)):
            if pairs and not _are_pairs(pairs):
                said = f"{name}={shown(pairs)}): expected pairs of a dotted path and a value"
                return said, f'{name}=(("spec.node_name", "n1"),)'
        if self.labels and not _are_requirements(self.labels):
            said = f"labels={shown(self.labels)}): expected requirements, as `parse` returns them"
            return said, 'labels=testbed.objects.labels.parse("app=web")'
        return None

    @property
    def filed_under(self) -> tuple[str, str | int | bool] | None:
        """The first path and value it requires, by which a Cursor indexes its Watch; or None."""
        if self.name is not None:
            return ("meta.name", self.name)
        if self.fields:
            return self.fields[0]
        return None if self.namespace is None else ("meta.namespace", self.namespace)

    @property
    def paths(self) -> tuple[str, ...]:
        """The fields it looks at, without name and namespace, which never change."""
        labels = ("meta.labels",) if self.labels else ()
        return (*(path for path, _ in (*self.fields, *self.unlike)), *labels)

    # Each commit is shown to each reader, so what a Selector asks is worked out once, as a
    # function. Most Selectors ask nothing, and need not even be called.
    @cached_property
    def _accepts(self) -> Callable[[object], bool] | None:
        """Whether it selects this object; None: it selects every object."""
        named = (("meta.name", self.name), ("meta.namespace", self.namespace))
        wanted = (*[each for each in named if each[1] is not None], *self.fields)
        unlike, labels = self.unlike, self.labels
        if not (wanted or unlike or labels):
            return None
        readers = [(reader_of(path), value) for path, value in wanted]
        if len(wanted) == 1 and not (unlike or labels):
            return _is_equal(*readers[0])
        refused: dict[str, tuple[object, ...]] = {}
        for path, value in unlike:
            refused[path] = (*refused.get(path, ()), value)
        unwanted = [(reader_of(path), values) for path, values in refused.items()]
        if len(unwanted) == 1 and not (wanted or labels):
            return _is_none_of(*unwanted[0])

        def accepts(value: object) -> bool:
            for read, asked in readers:
                if read(value) != asked:
                    return False
            for read, values in unwanted:
                if read(value) in values:
                    return False
            if not labels:
                return True
            its = value.meta.labels if isinstance(value, Object) else {}
            return all(requirement.holds(its) for requirement in labels)

        return accepts

    def matches(self, value: object) -> bool:
        """Whether it selects this object."""
        accepts = self._accepts
        return accepts is None or accepts(value)

    def has(self, entry: Entry | None) -> bool:
        """Whether there is an object and it is selected."""
        accepts = self._accepts
        return entry is not None and (accepts is None or accepts(entry.value))


def _are_pairs(given: object) -> bool:
    return isinstance(given, tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in given
    )


def _are_requirements(given: object) -> bool:
    return isinstance(given, tuple) and all(isinstance(each, Requirement) for each in given)


def _is_equal(read: Callable[[object], object], asked: object) -> Callable[[object], bool]:
    return lambda value: read(value) == asked


def _is_none_of(
    read: Callable[[object], object], refused: tuple[object, ...]
) -> Callable[[object], bool]:
    return lambda value: read(value) not in refused


@quick
@attrs.frozen
class View:
    """What a list or a watch looks at: which objects of a kind, and which of their fields.

    A reader may declare the fields that it decides by. It then gets no Change in which none of them
    changes, and fewer commits clash with it.
    """

    plural: str
    selector: Selector | None
    """None: the whole kind."""
    fields: tuple[str, ...] | None
    """None: all of them."""

    @property
    def logs(self) -> set[str]:
        """The logs that reading it reads: that of the kind, or those of the declared fields and of
        the fields that it selects by. A reader of the revision learns of every change, and so reads
        the log of the kind."""
        log = f"{LOG}{self.plural}"
        if self.fields is None or any(is_whole(field) for field in self.fields):
            return {log}
        paths = () if self.selector is None else self.selector.paths
        # A create or a delete adds to the log of the kind, and so clashes with readers of any field
        # (`footprint._meet`); uid is here so that a view of no field at all hears them, too.
        return {f"{log}.{path}" for path in (*self.fields, *paths, "meta.uid")}

    @property
    def as_listed(self) -> View:
        """The View in which a list's revision may be used again without depending on the order of
        all commits: the whole kind, unless fields are declared."""
        return View(self.plural, None, None) if self.fields is None else self

    def delivers(self, change: Change) -> bool:
        """Whether its reader gets this Change: the object starts or stops being selected, or it
        stays selected and a declared field changes."""
        accepts = None if self.selector is None else self.selector._accepts
        old, new = change.old, change.new
        was = old is not None and (accepts is None or accepts(old.value))
        is_now = new is not None and (accepts is None or accepts(new.value))
        if self.fields is None or not (was and is_now):
            return was or is_now
        return touches(self.fields, change)

    def has_returned(self, revision: Revision) -> bool:
        """Whether a list or a watch of the same view returned `revision`. If so, the footprint of
        that read already fixes which of this view's Changes come before the revision."""
        view = revision._view
        if not isinstance(view, View) or view.plural != self.plural:
            return False
        return (view.selector is None and view.fields is None) or view == self


def touches(fields: tuple[str, ...], change: Change) -> bool:
    """Whether an update changes one of these fields, or a part of one."""
    if any(is_whole(field) for field in fields):
        return True
    changed = fields_changed(change) or ()
    return any(
        path == field or path.startswith(f"{field}.") or field.startswith(f"{path}.")
        for path in changed
        for field in fields
    )


def differ_in(fields: tuple[str, ...], one: object, other: object) -> bool:
    """Whether two objects of one name have different uids, or differ in one of these fields."""
    if any(is_whole(field) for field in fields):
        return is_other(one, other)
    for path in (*fields, "meta.uid"):
        read = reader_of(path)
        if read(one) != read(other):
            return True
    return False


def is_other(one: object, other: object) -> bool:
    """Whether two objects of one name differ, for the testbed: an actor has not looked at the
    revision because this has."""
    if not isinstance(one, Object) or not isinstance(other, Object):
        return one != other
    texts = text_of(one.meta.revision), text_of(other.meta.revision)
    return texts[0] != texts[1] or not one.is_as(other)


def is_whole(field: str) -> bool:
    """Whether a reader of this field learns of every change, as a reader of the revision does."""
    return field in ("meta", "meta.revision")
