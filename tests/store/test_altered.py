"""Altered: what is left out is not there, and revisions and times are those of the other Store."""

from __future__ import annotations

from testbed.store.altered import AlteredStore
from testbed.store.store import Delete, Put, Store


def written() -> Store:
    """Three commits, a second apart; the last one removes what the first has made."""
    store, times = Store(), iter([1000, 2000, 3000])
    store.clock = lambda: next(times)
    store.put("notes/a", "one")
    store.put("notes/b", "two")
    store.txn(then=[Delete("notes/a"), Put("notes/c", "three")])
    return store


def again(store: Store, *, without: int) -> AlteredStore:
    """The same without the commit at that revision."""
    altered = AlteredStore.like(store)
    for change in store.log().changes:
        altered.come_to(change.revision - 1)
        if change.revision != without:
            altered.write(change.key, change.after, change.revision)
        altered.come_to(change.revision)
    return altered


def test_all_of_it_is_the_same() -> None:
    """State, revisions, and when each of them was."""
    store = written()
    altered = again(store, without=0)
    assert altered.snapshot("") == store.snapshot("")
    assert altered.revision == store.revision
    assert [altered.first_after(ms) for ms in (0, 1000, 2500)] == [2, 3, 4]
    assert altered.peek("notes/a", 2) == store.peek("notes/a", 2)


def test_what_is_left_out_leaves_the_others_where_they_were() -> None:
    """Also what would have removed it: there is nothing to remove."""
    altered = again(written(), without=2)
    assert [(e.key, e.revision) for e in altered.snapshot("")] == [("notes/b", 3), ("notes/c", 4)]
    assert altered.write("notes/a", None, 5) is None
    kept = again(written(), without=4)
    assert [e.key for e in kept.snapshot("")] == ["notes/a", "notes/b"]
    assert kept.revision == 4
