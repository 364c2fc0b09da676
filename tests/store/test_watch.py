"""Cursor and Watch: each promise by itself; `test_watch_by_scan.py` has them all at once."""

from __future__ import annotations

import json
from collections.abc import Iterator

import attrs
import msgspec
import pytest

from testbed.errors import Expired, HarnessBug
from testbed.objects.meta import Revision
from testbed.objects.pod import Pod, PodSpec
from testbed.store.delivery import ADDED, BOOKMARK, DELETED, ERROR, MODIFIED, Delivery
from testbed.store.footprint import HISTORY, Marks
from testbed.store.selector import Selector
from testbed.store.store import Store
from testbed.store.txn import Delete, Put
from testbed.store.watch import Cursor, Watch

EVERY = Selector()
ON_N1 = Selector(fields=(("spec.node_name", "n1"),))
NAMED_A = Selector(name="a")


def pod(name: str = "p1", node: str = "", revision: int = 0) -> Pod:
    """A pod as an Endpoint would write it."""
    new = Pod(name, spec=PodSpec(node))
    return new.with_meta(revision=Revision(revision)) if revision else new


def opened(selector: Selector | None = None, *, follows: bool = True) -> tuple[Store, Watch]:
    """A Store with nothing in it, and a watch on its pods from the start."""
    store = Store()
    cursor = Cursor(store, "server", "pods", follows=follows)
    return store, Watch(cursor, selector or EVERY, store.revision)


def all_of(watch: Watch) -> Iterator[Delivery]:
    """Everything there is to take."""
    while watch.is_ready:
        yield watch.take()


@pytest.mark.spec("API-6", "API-45")
def test_an_object_enters_and_leaves_a_filtered_watch() -> None:
    """Bound to n1 it is ADDED, bound elsewhere it is DELETED as it was, with the new revision."""
    store, watch = opened(ON_N1)
    for revision, node in enumerate(("", "n1", "n1", "n2", "n1"), start=2):
        store.put("pods/default/p1", pod(node=node, revision=revision))
    store.delete("pods/default/p1")
    told = []
    for delivery in all_of(watch):
        assert isinstance(delivery.object, Pod)
        stamp = str(delivery.object.meta.revision)
        told.append((delivery.type, delivery.object.spec.node_name, stamp, str(delivery.revision)))
    assert told == [
        (ADDED, "n1", "3", "3"),
        (MODIFIED, "n1", "4", "4"),
        (DELETED, "n1", "5", "5"),
        (ADDED, "n1", "6", "6"),
        (DELETED, "n1", "7", "7"),
    ]


def test_a_value_that_is_no_object_is_deleted_as_it_was() -> None:
    """Only an Object has a place for the revision of its deletion."""
    store, watch = opened()
    store.put("pods/p1", "bytes")
    store.delete("pods/p1")
    assert [delivery.object for delivery in all_of(watch)] == ["bytes", "bytes"]


def test_a_lagging_cursor_stands_still_until_it_is_fed() -> None:
    """A commit moves neither it nor its watches; a feed moves both by one Change."""
    store, watch = opened(follows=False)
    cursor = watch.cursor
    for name in ("p1", "p2"):
        store.put(f"pods/default/{name}", pod(name))
    store.put("nodes/n1", "up")
    assert (cursor.revision, watch.peek(), store.range("pods/", cursor.revision)) == (1, None, [])
    change = cursor.advance()
    assert change is not None
    assert (change.revision, cursor.revision, watch.take().change) == (2, 2, change)
    cursor.advance()
    assert (cursor.revision, cursor.is_behind, cursor.advance()) == (4, False, None)


def test_a_feed_is_marked_and_following_is_not() -> None:
    """A feed is a turn that writes its cursor; a commit only adds to what is to be fed."""
    store, watch = opened(follows=False)
    Cursor(store, "other", "pods")
    store.marks = Marks()
    store.put("pods/default/p1", pod())
    tail = "cursor:server/pods/tail"
    assert (store.marks.reads, store.marks.writes) == (["endpoint:server"], [tail])
    watch.cursor.advance()
    watch.cursor.advance()
    watch.take()
    assert store.marks.writes == [tail, "cursor:server/pods"]


def test_a_cursor_can_start_behind() -> None:
    """A server that comes up with an old state is told at once that there is something to feed."""
    store, _ = opened()
    for name in ("p1", "p2"):
        store.put(f"pods/default/{name}", pod(name))
    called: list[str] = []
    cursor = Cursor(
        store, "late", "pods", revision=2, follows=False, on_behind=lambda: called.append("behind")
    )
    assert (cursor.revision, called) == (2, ["behind"])
    assert [entry.key for entry in store.range("pods/", cursor.revision)] == ["pods/default/p1"]


def test_a_watch_from_ahead_of_a_lagging_cursor_has_what_comes_after_it() -> None:
    """Its reader had the first two from another server; it gets neither again, and the third."""
    store, late = opened(follows=False)
    for name in ("p1", "p2", "p3"):
        store.put(f"pods/default/{name}", pod(name))
    ahead = Watch(late.cursor, EVERY, 3)
    while late.cursor.is_behind:
        late.cursor.advance()
    assert [delivery.revision for delivery in all_of(ahead)] == [Revision(4)]
    assert len([*all_of(late)]) == 3


def test_a_cursor_cannot_start_where_history_is_gone() -> None:
    """It could not read on from there."""
    store, _ = opened()
    for _ in range(5):
        store.put("pods/default/p1", pod())
    store.compact(5)
    with pytest.raises(Expired, match=r"too old resource version: 3 \(5\)"):
        Cursor(store, "late", "pods", revision=3, follows=False)


def test_a_compaction_ends_a_watch_that_was_too_slow() -> None:
    """Its next Delivery is an ERROR with Expired, once, and it is closed; the others go on."""
    store, slow = opened()
    quick = Watch(slow.cursor, EVERY, store.revision)
    for number in range(5):
        store.put("pods/default/p1", pod(node=f"n{number}"))
    assert len(list(all_of(quick))) == 5
    slow.take()
    store.compact(4)
    delivery = slow.take()
    assert (delivery.type, delivery.object, delivery.key) == (ERROR, None, "")
    assert str(delivery.error) == (
        "too old resource version: 2 (4): a compaction overtook this watch of pods; list again"
    )
    assert (slow.is_open, slow.peek()) == (False, None)
    store.delete("pods/default/p1")
    assert [delivery.type for delivery in all_of(quick)] == [DELETED]
    assert not slow.is_ready


def test_a_watch_from_before_the_compaction_cannot_be_opened() -> None:
    """The error says what was asked and from where history is kept."""
    store, watch = opened()
    for _ in range(5):
        store.put("pods/default/p1", pod())
    store.compact(4)
    with pytest.raises(Expired, match=r"too old resource version: 2 \(4\)"):
        Watch(watch.cursor, EVERY, 2)
    assert len(list(all_of(Watch(watch.cursor, EVERY, 3)))) == 3


def test_a_compaction_overtakes_a_lagging_cursor_and_tells_its_watches() -> None:
    """What it has not read is gone: it can be fed no more, and every Watch on it ends."""
    store, watch = opened(follows=False)
    called: list[Watch] = []
    watch.on_ready = called.append
    for _ in range(3):
        store.put("pods/default/p1", pod())
    store.compact(4)
    assert called == [watch]
    assert watch.cursor.is_expired
    assert watch.cursor.advance() is None
    late = Watch(watch.cursor, EVERY, 4)
    assert [delivery.type for delivery in (late.take(), watch.take())] == [ERROR, ERROR]


def test_a_lagging_cursor_tells_that_there_is_something_to_feed_and_that_there_is_not() -> None:
    """Once when it falls behind, once more when a compaction has taken that; then nothing."""
    store, _ = opened()
    told: list[bool] = []
    late = Cursor(
        store, "late", "pods", follows=False, on_behind=lambda: told.append(late.is_behind)
    )
    for _ in range(3):
        store.put("pods/default/p1", pod())
    assert told == [True]
    store.compact(4)
    store.put("pods/default/p1", pod())
    store.compact(5)
    assert told == [True, False]


def test_a_watch_nobody_reads_keeps_no_more_than_the_window() -> None:
    """Once it is overtaken, what it had gathered is let go."""
    store = Store(window=10)
    watch = Watch(Cursor(store, "server", "pods"), EVERY, 1)
    for _ in range(500):
        store.put("pods/default/p1", pod())
        assert len(watch.queue) <= 22
    assert watch.take().type == ERROR


def test_a_bookmark_is_owed_once_however_much_passes() -> None:
    """Changes that do not match make one debt; a bookmark, or a match that is told, pays it."""
    store, watch = opened()
    called: list[Watch] = []
    filtered = Watch(watch.cursor, Selector(name="p1"), 1, bookmarks=True, on_owing=called.append)
    for _ in range(3):
        store.put("pods/default/p2", pod("p2"))
    assert called == [filtered]
    assert filtered.take_bookmark() == Delivery(BOOKMARK, revision=Revision(4))
    with pytest.raises(HarnessBug, match="was asked for a bookmark it does not owe"):
        filtered.take_bookmark()
    store.put("pods/default/p2", pod("p2"))
    store.put("pods/default/p1", pod("p1"))
    assert (len(called), filtered.owes_bookmark) == (2, False)
    filtered.take()
    assert not filtered.owes_bookmark
    store.put("pods/default/p2", pod("p2"))
    assert len(called) == 3


def test_a_bookmark_is_marked_as_a_look_at_the_present() -> None:
    """It tells a revision that any commit may have brought, of whatever kind."""
    store, watch = opened()
    filtered = Watch(watch.cursor, Selector(name="p1"), 1, bookmarks=True)
    store.put("pods/default/p2", pod("p2"))
    store.marks = Marks()
    filtered.take_bookmark()
    assert store.marks.reads == [HISTORY]


def test_a_bookmark_of_a_lagging_cursor_promises_what_it_has_read() -> None:
    """What is committed but not fed lies behind it."""
    store, watch = opened(follows=False)
    filtered = Watch(watch.cursor, NAMED_A, 1, bookmarks=True)
    for name in ("p1", "a"):
        store.put(f"pods/default/{name}", pod(name))
    assert not filtered.owes_bookmark
    watch.cursor.advance()
    assert (str(filtered.take_bookmark().revision), filtered.revision) == ("2", 2)


def test_a_reader_in_the_middle_of_a_transaction_resumes_before_it() -> None:
    """Two pods of one revision are two Deliveries; only with the second is the revision told."""
    store, watch = opened()
    store.put("pods/default/p0", pod("p0"))
    store.txn((), [Put(f"pods/default/{name}", pod(name)) for name in ("p1", "p2")])
    assert [str(delivery.revision) for delivery in all_of(watch)] == ["2", "2", "3"]


def test_a_cursor_in_the_middle_of_a_transaction_promises_nothing_of_it() -> None:
    """Fed one of two pods: its list, a Delivery and a bookmark all speak of the revision before."""
    store, watch = opened(follows=False)
    owing: list[Watch] = []
    other = Watch(watch.cursor, NAMED_A, 1, bookmarks=True, on_owing=owing.append)
    store.txn((), [Put(f"pods/default/{name}", pod(name)) for name in ("p1", "p2")])
    watch.cursor.advance()
    assert (watch.cursor.revision, str(watch.take().revision)) == (1, "1")
    assert (owing, other.owes_bookmark) == ([], False)
    watch.cursor.advance()
    assert (watch.cursor.revision, str(watch.take().revision)) == (2, "2")
    assert (owing, str(other.take_bookmark().revision)) == ([other], "2")


def test_callbacks_come_in_the_order_in_which_watches_were_opened() -> None:
    """However they are filed: by one field, by another, or not at all."""
    store = Store()
    cursor = Cursor(store, "server", "pods")
    called: list[int] = []
    selectors = (NAMED_A, EVERY, ON_N1, EVERY, NAMED_A)
    for selector in selectors:
        Watch(cursor, selector, 1, on_ready=lambda watch: called.append(watch.number))
    store.put("pods/default/a", pod("a", "n1"))
    assert called == [1, 2, 3, 4, 5]


@attrs.frozen
class Spied:
    """A value that counts how often it is looked at."""

    looks: list[str]

    @property
    def node(self) -> str:
        """What Watches are filed by."""
        self.looks.append("node")
        return "n1"


def test_a_commit_is_offered_only_to_the_watches_it_may_concern() -> None:
    """With 5,000 watches, one for each node, a write to n1 costs as much as with two."""
    costs = []
    for count in (2, 5_000):
        store, looks = Store(), list[str]()
        cursor = Cursor(store, "server", "pods")
        watches = [
            Watch(cursor, Selector(fields=(("node", f"n{number}"),)), 1) for number in range(count)
        ]
        store.put("pods/p1", Spied(looks))
        assert [watch.is_ready for watch in watches[:3]] == [False, True, False][:count]
        store.put("pods/p1", Spied(looks))
        costs.append(len(looks))
    assert costs[0] == costs[1]


def test_a_closed_watch_is_told_nothing_and_leaves_nothing_behind() -> None:
    """Neither do those of a Cursor that is forgotten."""
    store, watch = opened(ON_N1)
    cursor = watch.cursor
    other = Watch(cursor, EVERY, 1, bookmarks=True)
    watch.close()
    watch.close()
    cursor.forget()
    store.put("pods/default/p1", pod(node="n1"))
    assert [watch.is_ready, other.is_ready, other.is_open, other.owes_bookmark] == [False] * 4
    assert not any((cursor._open, cursor._unfiled, cursor._settled))
    assert not cursor._index["spec.node_name"]


def test_a_watch_with_nothing_to_deliver_cannot_be_taken_from() -> None:
    """Who takes has looked first."""
    _, watch = opened()
    with pytest.raises(HarnessBug, match="a watch of pods was taken from with nothing to deliver"):
        watch.take()


def test_a_selector_is_plain_data() -> None:
    """It goes through JSON and comes back equal."""
    for selector in (EVERY, ON_N1, Selector("default", "a", (("spec.unschedulable", True),))):
        line = json.dumps(attrs.asdict(selector))
        assert msgspec.json.decode(line, type=Selector) == selector


def test_deletes_of_a_transaction_are_deliveries_of_their_own() -> None:
    """Each object that goes is told by itself, in order of the keys."""
    store, watch = opened()
    for name in ("p2", "p1"):
        store.put(f"pods/default/{name}", pod(name))
    store.txn((), [Delete("pods/", "pods0")])
    told = [(delivery.type, delivery.key) for delivery in all_of(watch)]
    assert told[2:] == [(DELETED, "pods/default/p1"), (DELETED, "pods/default/p2")]
