"""The core's books balance at every time (INV-42)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from actors.yunikorn.invariants.looks import cores, same, total
from testbed import Evidence, Invariant
from testbed.invariant import SERVED
from testbed.turns.found import UNEQUAL, Found, Wrong, told
from testbed.turns.trace import Step


class BooksBalance(Invariant):
    """On each node, the sum of what its allocations and foreign pods hold is booked as allocated;
    with what is left, it is all of the node. In each queue, the sum of what its applications hold
    is booked as held, and what its victims hold as about to be given back. A pod that requires a
    node is on no other one. Nodes and applications agree on allocations and reservations."""

    name = "yunikorn_books_balance"
    breach_reason = UNEQUAL
    looks_at: ClassVar[frozenset[str]] = frozenset({SERVED})

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        served = evidence.served
        for core in cores(evidence):
            if served is not None and served.post.name == core.name:
                found = next(_wrong_with(core.partition), None)
                if found is not None:
                    return told(found, before=f"{core.name}: ", actors=core.name)
        return None


def _wrong_with(books: Any) -> Iterator[Found]:
    yield from _wrong_on_nodes(books)
    yield from _wrong_in_queues(books)
    reserved = {(key, each.node) for app in books.apps.values()
                for key, each in app.reservations.items()}  # fmt: skip
    kept = {(key, name) for name, node in books.nodes.items() for key in node.reservations}
    for key, name in sorted(reserved ^ kept):
        text = f"its application and {name} disagree on whether {key} has reserved it"
        yield Found.of(text, f"nodes/{name}")
    held = {(key, each.node) for app in books.apps.values()
            for key, each in app.allocations.items()}  # fmt: skip
    here = {(key, name) for name, node in books.nodes.items() for key in node.allocations}
    for key, name in sorted(held ^ here):
        text = f"its application and {name} disagree on whether {key} is there"
        yield Found.of(text, f"nodes/{name}")


def _wrong_on_nodes(books: Any) -> Iterator[Found]:
    for name, node in sorted(books.nodes.items()):
        held = total(each.amounts for each in (*node.allocations.values(), *node.foreign.values()))
        if not same(held, node.allocated):
            text = f"{name} has allocated {dict(node.allocated)}, and its pods hold {held}"
            yield Found.of(text, f"nodes/{name}")
        if not same(total([node.allocated, node.available]), node.news.room):
            left = dict(node.available)
            text = f"{name} has {left} left of {dict(node.news.room)}, and its pods hold {held}"
            yield Found.of(text, f"nodes/{name}")
        for each in node.allocations.values():
            if each.request.required_node not in ("", name):
                pod, required = each.request.pod, each.request.required_node
                text = f"{pod} requires {required}, and is on {name}"
                yield Found.of(text, pod, f"nodes/{required}", f"nodes/{name}")


def _wrong_in_queues(books: Any) -> Iterator[Found]:
    queues = [books.root]
    while queues:
        queue = queues.pop()
        queues += queue.children.values()
        below = [
            each for app in books.apps.values() if queue in app.queue.above()
            for each in app.allocations.values()
        ]  # fmt: skip
        held = total(each.amounts for each in below)
        if not same(held, queue.allocated):
            yield Found.of(
                f"{queue.path} holds {dict(queue.allocated)}, and its applications hold {held}"
            )
        given = total(each.amounts for each in below if each.is_preempted)
        if not same(given, queue.preempting):
            yield Found.of(
                f"{queue.path} is to get {dict(queue.preempting)}, and its victims hold {given}"
            )
