"""A table: objects of one kind as rows, each with the object that it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from testbed.attended.http.accept import META, PARTIAL, TABLE
from testbed.attended.http.tables.columns import COLUMNS, NAME_AND_AGE
from testbed.objects.event import Event
from testbed.objects.form import NOTHING, to_tree, write_part
from testbed.objects.meta import Object

Tree = dict[str, Any]
API_VERSION = f"{META}/v1"
NO_TIMES = {"firstTimestamp": None, "lastTimestamp": None}
"""What Kubernetes writes of an Event that has neither; people sort by the latter."""


def table(
    cls: type[Object],
    items: Sequence[Object],
    now_ms: int,
    *,
    revision: str,
    with_object: str = "Metadata",
) -> Tree:
    """These objects as a Table, at the revision of their list.

    A row's object is its metadata, from which kubectl takes the namespace and the labels to print.
    `with_object` is what the query says as `includeObject`: Metadata, Object for all of it, or
    None.
    """
    columns = COLUMNS.get(cls, NAME_AND_AGE)
    rows = []
    for item in items:
        row: Tree = {"cells": [column.cell(item, now_ms) for column in columns]}
        if with_object != "None":
            row["object"] = whole(item) if with_object == "Object" else partial(item)
        rows.append(row)
    return {
        "kind": TABLE,
        "apiVersion": API_VERSION,
        "metadata": {"resourceVersion": revision},
        "columnDefinitions": [column.tree for column in columns],
        "rows": rows,
    }


def whole(item: Object) -> Tree:
    """All of an object."""
    return {**NO_TIMES, **to_tree(item)} if isinstance(item, Event) else to_tree(item)


def partial(item: Object) -> Tree:
    """An object's metadata alone, as clients ask for that look at no more."""
    metadata = write_part(item.meta, item.extra.get("metadata", NOTHING))
    return {"kind": PARTIAL, "apiVersion": API_VERSION, "metadata": metadata}
