"""Tainting: an update of what may be old, repeated while it meets conflicts."""

from __future__ import annotations

from typing import Any

import pytest

from actors.autoscaler.scale_down.actuation.tainting import put_taint, take_taint
from actors.autoscaler.state.readiness import CANDIDATE, TO_BE_DELETED
from testbed import Client, Conflict, NotFound
from testbed.faults.server_error import ServerError
from testbed.objects import Node, Taint
from tests.shared.stage import play, world_of


def played(do: Any, *cues: str) -> list[Taint]:
    """What taints the node has after that, if any update may meet a conflict."""
    world = world_of(alpha=do)
    world.add(Node("n1"))
    world.allow(ServerError("alpha", code=409, times_max=9))
    play(world, *cues)
    nodes: list[Any] = [entry.value for entry in world.store.snapshot("nodes/")]
    return [*nodes[0].spec.taints] if nodes else []


def test_a_taint_is_put_and_taken_once() -> None:
    """Its value is the second in which it was put."""

    async def do(client: Client) -> None:
        node = await client.get(Node, "n1")
        await client.sleep(2500)
        assert await put_taint(client, node, TO_BE_DELETED)
        assert not await put_taint(client, await client.get(Node, "n1"), TO_BE_DELETED)
        assert await put_taint(client, await client.get(Node, "n1"), CANDIDATE)
        assert await take_taint(client, node, CANDIDATE)
        assert not await take_taint(client, node, CANDIDATE)

    assert played(do) == [Taint(TO_BE_DELETED, "2", "NoSchedule")]


def test_a_node_that_has_changed_is_tainted_all_the_same() -> None:
    """After a conflict it waits, and reads the node again."""

    async def do(client: Client) -> None:
        node = await client.get(Node, "n1")
        await client.update(node.with_meta(labels={"a": "b"}))
        assert await put_taint(client, node, CANDIDATE)
        assert client.now() == 750
        assert (await client.get(Node, "n1")).meta.labels == {"a": "b"}

    assert played(do) == [Taint(CANDIDATE, "0", "PreferNoSchedule")]


def test_conflicts_are_borne_for_five_seconds() -> None:
    """Then it gives up. A node that is gone is given up at once."""
    tried_ms: list[int] = []

    async def do(client: Client) -> None:
        node = await client.get(Node, "n1")
        with pytest.raises(Conflict):
            await put_taint(client, node, CANDIDATE)
        tried_ms.append(client.now())
        await client.delete(node)
        with pytest.raises(NotFound):
            await take_taint(client, node, CANDIDATE)

    assert played(do, *["fault * update nodes/n1*"] * 8) == []
    assert tried_ms == [5250]
