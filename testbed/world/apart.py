"""Apart: whether the actors and Endpoints of a World share what no footprint names."""

from __future__ import annotations

from testbed.client.wire import Wire
from testbed.turns.shared import Both, shared
from testbed.turns.table import Table


def shared_in(table: Table, wire: Wire) -> Both | None:
    """The first object that two of them hold and that can change; None if none is seen."""
    parties: dict[str, list[object]] = {
        name: [role.factory()] for name, role in table.roles.items()
    }
    parties |= {name: [post.endpoint] for name, post in wire.posts.items()}
    return shared(parties)
