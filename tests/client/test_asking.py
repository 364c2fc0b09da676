"""Asking: what an actor gives its Client and can mean nothing is refused at its line."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from testbed.client.actor import Actor
from testbed.client.client import Client
from testbed.errors import ScenarioError
from testbed.objects import Binding, Eviction, Note, Pod
from testbed.objects.condition import Condition
from testbed.store.selector import Selector
from tests.each_row import each_row
from tests.shared.stage import note, play, world_of

A_KIND = "as the kind: expected a class of objects"
AN_OBJECT = ": expected an object of testbed.objects"
A_TIME = ": expected whole milliseconds, or None"
A_TREE = ": expected what JSON can say"
A_LIST = ": expected a list"
WAITS = ": expected waits"
A_TASK = ": expected what client.spawn returned"


async def _exit(client: Any) -> None:
    client.exit(0.5)


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "get by a plural": (lambda c: c.get("notes", "n"), f"client.get was given 'notes' {A_KIND}"),
    "get of no object": (lambda c: c.get(Actor, "n"), f"get was given the class Actor {A_KIND}"),
    "list by a plural": (lambda c: c.list("notes"), f"client.list was given 'notes' {A_KIND}"),
    "list in a namespace": (
        lambda c: c.list(Note, "default"), "given 'default' as the selector: expected a Selector"
    ),
    "labels as a dict": (
        lambda c: c.list(Note, Selector(labels={"a": "1"})),  # type: ignore[arg-type]
        "Selector(labels={'a': '1'}): expected requirements",
    ),
    "labels as a text": (
        lambda c: c.list(Note, Selector(labels="a=1")),  # type: ignore[arg-type]
        'Next: say Selector(labels=testbed.objects.labels.parse("app=web"))',
    ),
    "fields as a dict": (
        lambda c: c.watch(Note, "1", Selector(fields={"data.a": "1"})),  # type: ignore[arg-type]
        "Selector(fields={'data.a': '1'}): expected pairs of a dotted path and a value",
    ),
    "a name that is none": (
        lambda c: c.list(Note, Selector(name=3)),  # type: ignore[arg-type]
        "Selector(name=3): expected a text, or None",
    ),
    "a Binding to a part": (
        lambda c: c.create(Binding("p"), subresource="binding"),
        "create was given Binding(…) with subresource='binding': expected the pod that has this",
    ),
    "an Eviction to a part": (
        lambda c: c.create(Eviction("p"), subresource="eviction"),
        "Next: say await evict(client, pod), from actors.shared.verbs",
    ),
    "list at a number": (
        lambda c: c.list(Note, at=3), "given 3 as the revision: expected a Revision"
    ),
    "watch by a plural": (lambda c: c.watch("notes", "1"), f"was given 'notes' {A_KIND}"),
    "watch since a number": (
        lambda c: c.watch(Note, 3), "client.watch was given 3 as the revision: expected a Revision"
    ),
    "timeout as a text": (lambda c: c.get(Note, "n", timeout_ms="5"), f"timeout_ms='5'{A_TIME}"),
    "timeout with a point": (lambda c: c.get(Note, "n", timeout_ms=0.5), f"ms=0.5{A_TIME}"),
    "timeout of a thing": (
        lambda c: c.get(Note, "n", timeout_ms=[Note("n")]), f"timeout_ms=list(…){A_TIME}"
    ),
    "create a kind": (lambda c: c.create(Note), f"create was given the class Note{AN_OBJECT}"),
    "create a part": (lambda c: c.create(Condition("a")), f"was given Condition(…){AN_OBJECT}"),
    "delete by name": (lambda c: c.delete("n"), f"client.delete was given 'n'{AN_OBJECT}"),
    "patch by name": (lambda c: c.patch("n", {}), f"client.patch was given 'n'{AN_OBJECT}"),
    "patch with an object": (
        lambda c: c.patch(note("n"), note("n")), "given Note(…) as the tree: expected a mapping"
    ),
    "patch with a set": (
        lambda c: c.patch(note("n"), {"a": {"b": {1}}}), f"whose a.b is set(…){A_TREE}"
    ),
    "pick from a number": (lambda c: c.pick("x", 3), f"client.pick('x', …) was given 3{A_LIST}"),
    "pick from a set": (lambda c: c.pick("x", {"a", "b"}), f"given set(…){A_LIST}"),
    "pick from a dict": (lambda c: c.pick("x", {"a": 1, 2: 3}), f"{{'a': 1, 2: 3}}{A_LIST}"),
    "pick by no label": (lambda c: c.pick(3, ["a"]), "given 3 as the label: expected a text"),
    "first of a list": (lambda c: c.first([]), f"first() was given []{WAITS}"),
    "first of a signal": (lambda c: c.first(c.signal()), f"given Signal(…){WAITS}"),
    "join by name": (lambda c: c.join("x"), f"alpha names a task by 'x'{A_TASK}"),
    "join a thing": (
        lambda c: c.join(object()), f"alpha names a task by object(…){A_TASK}"
    ),
    "cancel by name": (lambda c: c.cancel("x"), f"alpha names a task by 'x'{A_TASK}"),
    "exit for half a moment": (_exit, f"again_after_ms=0.5{A_TIME}"),
}  # fmt: skip


@each_row("case", WRONG)
def test_what_can_mean_nothing_is_told_with_its_line(case: str) -> None:
    """Also if the actor catches it; and there is a next step."""
    wrong, said = WRONG[case]

    async def alpha(client: Client) -> None:
        with suppress(Exception):
            asked = wrong(client)
            await asked

    with pytest.raises(ScenarioError) as refused:
        play(world_of(alpha=alpha))
    place, _, text = str(refused.value).partition(": ")
    assert place.startswith(f"{__file__}, line ")
    assert said in text
    assert "\nNext: " in text
    assert " at 0x" not in text


def test_what_has_an_order_can_be_picked_from() -> None:
    """A list, a tuple, a text, a range, or a sequence of the user's own."""

    class Own(list[int]):
        """A sequence of the user's own."""

    async def alpha(client: Client) -> None:
        for alternatives in ([1, 2], (1, 2), "ab", range(3), Own([1, 2])):
            client.pick("one", alternatives)
        await client.create(Pod("p"), timeout_ms=5)

    assert len(play(world_of(alpha=alpha)).every("pick *")) == 5
