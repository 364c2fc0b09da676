"""Believing: an actor knows what it was told, whatever the Store still keeps; or is not there."""

from __future__ import annotations

from typing import Any

from testbed import Client, World
from testbed.faults.compact import Compact
from testbed.maps.believing import ENDED, NOT_BEGUN, CommittedVersions
from testbed.objects import Note
from testbed.store.store import Store
from testbed.world.scenario import of
from tests.maps.walked_maps import map_of
from tests.shared.stage import Puppet


def forgetting(world: World) -> None:
    """One lists the notes, and waits; another deletes one. The history may be forgotten."""

    async def read(client: Client) -> None:
        listing = await client.list(Note)
        await client.sleep(1_000)
        client.record("read", count=len(listing.items))

    async def delete(client: Client) -> None:
        await client.delete(Note("a"), whatever_it_was=True)

    world.add(Note("a"), Note("b"))
    world.start(Puppet("reader", read), Puppet("remover", delete))
    world.allow(Compact("store"))


def known(found: dict[str, Any], state: dict[str, Any]) -> list[str] | None:
    """The names of what the reader believes to be there; None if it is not there itself."""
    index = state["beliefs"][0]
    names = [found["versions"][n]["name"] for n in found["sets"][index]] if index >= 0 else None
    return sorted(names) if names is not None else None


def test_a_compaction_takes_no_knowledge_away() -> None:
    """What was listed is believed before and after it, also of an object that is gone."""
    found = map_of(of(forgetting, "forgetting")).as_dict()
    believed, gone = [], 0
    for state in found["states"]:
        for move, to in state["next"]:
            if "compacted" in found["moves"][move]["said"]:
                after = found["states"][to]
                assert known(found, after) == known(found, state)
                believed.append(known(found, after))
                gone += len(found["sets"][after["truth"]]) == 1 and believed[-1] == ["a", "b"]
    assert [] in believed
    assert gone, "in no state was a note believed that the Store had forgotten"


def test_to_be_away_is_not_to_know_nothing() -> None:
    """Before its first life and after its end, which are told apart."""
    found = map_of(of(forgetting, "forgetting")).as_dict()
    assert found["states"][0]["beliefs"] == [NOT_BEGUN, NOT_BEGUN]
    last = found["states"][found["ends"][0]["shortest"][-1]]
    assert last["beliefs"] == [ENDED, ENDED]


def test_what_was_never_committed_is_no_belief() -> None:
    """An object that an actor has yet to write is none that it has read."""
    store, committed = Store(), CommittedVersions()
    read = Note("a").saying(color="red").with_meta(revision=store.next_revision)
    store.put("notes/default/a", read)
    committed.note(store.log().changes[-1])
    store.put("notes/default/a", read.saying(color="blue"))
    store.compact(store.revision)
    committed.note(store.log().changes[-1])
    assert committed.has(read), "it was noted before it was forgotten"
    assert not committed.has(read.saying(color="green"))
    assert not committed.has(Note("a"))
