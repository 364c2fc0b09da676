"""Asking: what an actor gives its Client, refused at its line if it can mean nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from testbed.client.audit import whole
from testbed.errors import ScenarioError, shown
from testbed.objects.binding import Binding, Eviction
from testbed.objects.fitting import Unfit, fitted
from testbed.objects.meta import Object, Revision
from testbed.objects.plain import Misfit, frozen
from testbed.store.endpoint import EVERYTHING
from testbed.store.selector import Selector
from testbed.turns.table import Table

VERBS_OF_PODS = {Binding: 'bind(client, pod, "n1")', Eviction: "evict(client, pod)"}
"""What goes with a request to a part of a pod, and the call that makes the request."""
PICKED = (list, tuple, str, range)
"""What has an order of its own that is the same in every Run."""


def plural_of_kind(table: Table, verb: str, kind: type[Object]) -> str:
    """The plural of a kind; ScenarioError if it is none."""
    try:
        return kind.plural
    except AttributeError:
        raise table.refused(
            f"client.{verb} was given {shown(kind)} as the kind: expected a class of objects",
            f"say client.{verb}(Pod, …) with `from testbed.objects import Pod`",
        ) from None


def check_read(table: Table, verb: str, selector: object, revision: object) -> None:
    """Raise ScenarioError if the one is no Selector, or the other no Revision."""
    if selector is EVERYTHING and type(revision) is Revision:
        return
    if not isinstance(selector, Selector):
        raise table.refused(
            f"client.{verb} was given {shown(selector)} as the selector: expected a Selector",
            'say Selector(namespace="default"), with `from testbed.store.selector import Selector`',
        )
    if selector.misfit is not None:
        said, step = selector.misfit
        raise table.refused(f"client.{verb} was given Selector({said}", f"say Selector({step})")
    if not isinstance(revision, Revision | str):
        raise table.refused(
            f"client.{verb} was given {shown(revision)} as the revision: expected a Revision",
            "pass the `revision` of a list, or that of an object's `meta`",
        )


def check_ms(table: Table, what: str, ms: object) -> None:
    """Raise ScenarioError unless it is a time in whole milliseconds, or None."""
    if ms is not None and (not isinstance(ms, int) or isinstance(ms, bool)):
        text = f"{what}={shown(ms)}: expected whole milliseconds, or None"
        raise table.refused(text, f"say {what}=1500 for 1.5 seconds")


def to_write(table: Table, verb: str, item: Any) -> Any:
    """The whole object that is to be written, with tuples and Maps where it has lists and dicts;
    ScenarioError if a value of it does not fit."""
    try:
        return fitted(whole(item))
    except Unfit as unfit:
        text = f"client.{verb} was given {unfit.of(item)}"
        raise table.refused(text, unfit.next_step) from unfit


def check_part(table: Table, verb: str, item: Object, subresource: str) -> None:
    """Raise ScenarioError if it is what a request to a part of a pod has in it, and no object that
    has that part."""
    if subresource and type(item) in VERBS_OF_PODS:
        raise table.refused(
            f"client.{verb} was given {shown(item)} with subresource={subresource!r}: expected the "
            "pod that has this part, which goes with the request",
            f"say await {VERBS_OF_PODS[type(item)]}, from actors.shared.verbs",
        )


def to_patch(table: Table, tree: Mapping[str, Any]) -> Any:
    """The tree of a patch, frozen; ScenarioError if it is none."""
    given: object = tree
    if not isinstance(given, Mapping):
        text = f"client.patch was given {shown(given)} as the tree: expected a mapping"
        raise table.refused(text, 'say client.patch(pod, {"status": {"phase": "Running"}})')
    try:
        return frozen(tree, nulls=True)
    except Misfit as misfit:
        what = shown(misfit.found)
        text = f"client.patch was given a tree whose {misfit.path or 'name'} is {what}"
        step = "write it as in a manifest: texts, numbers, lists and mappings"
        raise table.refused(f"{text}: expected {misfit.expected}", step) from None


def check_object(table: Table, verb: str, item: object) -> None:
    """Raise ScenarioError unless it is an object of a cluster."""
    if not isinstance(item, Object):
        text = f"client.{verb} was given {shown(item)}: expected an object of testbed.objects"
        raise table.refused(text, f"pass what client.get gave, or say client.{verb}(Pod('p'), …)")


def check_pick(table: Table, label: object, alternatives: object) -> None:
    """Raise ScenarioError unless a Chooser can be shown these alternatives."""
    if not isinstance(label, str):
        text = f"client.pick was given {shown(label)} as the label: expected a text"
        raise table.refused(text, 'say client.pick("node", […])')
    if not hasattr(alternatives, "__getitem__") or isinstance(alternatives, Mapping):
        text = f"client.pick({label!r}, …) was given {shown(alternatives)}: expected a list"
        raise table.refused(text, "make a list of it, with the dullest first")


def no_task(table: Table, name: str, task: object) -> ScenarioError:
    """The error for what is no task that the actor of that name has spawned."""
    return table.refused(
        f"{name} names a task by {shown(task)}: expected what client.spawn returned",
        "keep that: task = client.spawn(…), and say client.join(task)",
    )
