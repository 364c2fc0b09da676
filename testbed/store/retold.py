"""Retold: an Operation again, from the line that it wrote of itself.

What a real program has asked is kept as such lines, and a Run with it is replayed from them.
"""

from __future__ import annotations

from typing import Any

from testbed.objects.binding import Binding, Eviction
from testbed.objects.codec import decode
from testbed.objects.decoded import decoded
from testbed.objects.kinds import KINDS_BY_PLURAL
from testbed.objects.meta import Map, Object, Revision
from testbed.objects.plain import frozen
from testbed.objects.scale import Scale
from testbed.store.endpoint import Operation
from testbed.store.selector import Selector

BODIES: dict[str, type[Object]] = {"binding": Binding, "eviction": Eviction, "scale": Scale}
"""By subresource, what is created or updated there."""
WHOLE = ("create", "update")
"""Verbs that bring a whole object along."""


def operation_from(line: str) -> Operation:
    """The Operation of a line; ValueError if the line is of none."""
    return operation_of(decode(line.encode()))


def operation_of(tree: Any) -> Operation:
    """The same from the line's tree. Equal to the Operation that has written it, but for what a
    Revision remembers of where it is from; ValueError."""
    try:
        return Operation(
            verb=str(tree["verb"]),
            plural=str(tree["plural"]),
            name=str(tree["name"]),
            namespace=str(tree["namespace"]),
            body=_body_of(tree),
            revision=Revision(tree["revision"]),
            uid=str(tree["uid"]),
            selector=decoded(Selector, tree["selector"]),
            subresource=str(tree["subresource"]),
            options=Map(frozen(tree["options"], nulls=True)),
            endpoint=str(tree["endpoint"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is no line of an Operation: {error!r}") from error


def _body_of(tree: Any) -> Any:
    """The body: an object of the kind that the rest of the line says, or else a plain tree."""
    body, verb, plural = tree["body"], tree["verb"], tree["plural"]
    if body is None:
        return None
    if verb in WHOLE:
        cls = BODIES.get(tree["subresource"]) or KINDS_BY_PLURAL.get(plural)
        if cls is None:
            raise ValueError(f"{verb} {plural}: there is no kind with that plural")
        return decoded(cls, body)
    return frozen(body, nulls=True)
