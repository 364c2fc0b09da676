"""Cursors and Watches beside a naive scan of the whole history, in whatever order things come."""

from __future__ import annotations

import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from testbed.errors import Expired, HarnessBug
from testbed.objects.meta import Revision
from testbed.objects.pod import Pod, PodSpec, PodStatus
from testbed.store.change import Change, Entry
from testbed.store.delivery import ADDED, BOOKMARK, DELETED, ERROR, MODIFIED, Delivery
from testbed.store.selector import Selector
from testbed.store.store import Store
from testbed.store.txn import Put
from testbed.store.watch import Cursor, Watch
from tests.shared.cursors import catch_up

NODES = ("", "n1", "n2")
SELECTORS = (
    Selector(),
    Selector(fields=(("spec.node_name", "n1"),)),
    Selector(fields=(("spec.node_name", ""), ("status.phase", "Pending"))),
    Selector(name="a"),
    Selector(namespace="other"),
)

names = st.sampled_from(("default/a", "default/b", "other/a"))
pods = st.builds(
    lambda name, node, phase: Pod(name, spec=PodSpec(node), status=PodStatus(phase)),
    names,
    st.sampled_from(NODES),
    st.sampled_from(("Pending", "Running")),
)


def selects(selector: Selector, entry: Entry | None) -> bool:
    """What a Selector means, said once more and naively."""
    if entry is None:
        return False
    pod = entry.value
    assert isinstance(pod, Pod)
    held = {"spec.node_name": pod.spec.node_name, "status.phase": pod.status.phase}
    return (
        selector.name in (None, pod.meta.name)
        and selector.namespace in (None, pod.meta.namespace)
        and all(held[path] == value for path, value in selector.fields)
    )


class Reader:
    """One Watch, what it has told, and whether its callbacks would have us look at it."""

    def __init__(self, cursor: Cursor, selector: Selector, since: int, bookmarks: bool) -> None:
        self.told: list[Change] = []
        self.is_called_ready = self.is_called_owing = False
        self.watch = Watch(
            cursor, selector, since,
            bookmarks=bookmarks, on_ready=self.on_ready, on_owing=self.on_owing,
        )  # fmt: skip

    def on_ready(self, watch: Watch) -> None:
        assert not self.is_called_ready, "called while there already was something to take"
        self.is_called_ready = True

    def on_owing(self, watch: Watch) -> None:
        assert not self.is_called_owing, "called while it already owed"
        assert watch.owes_bookmark
        self.is_called_owing = True


class WatchesBesideScan(RuleBasedStateMachine):
    """The naive side keeps every Change of pods for ever, and how many the Cursor has read."""

    def __init__(self) -> None:
        super().__init__()
        self.store = Store()
        self.history: list[Change] = []
        self.store.listeners.add("pods", self.history.append)
        self.readers: list[Reader] = []
        self.cursor = Cursor(self.store, "server", "pods")
        self.renew(follows=True)

    @rule(follows=st.booleans())
    def renew(self, follows: bool) -> None:
        """The server crashes, and starts again where the Store is."""
        self.cursor.forget()
        assert not any(reader.watch.is_open for reader in self.readers)
        self.readers.clear()
        self.is_called_behind = False
        self.cursor = Cursor(
            self.store, "server", "pods", follows=follows, on_behind=self.on_behind
        )
        self.read = len(self.history)

    def on_behind(self) -> None:
        assert not self.is_called_behind, "called while it already was behind"
        self.is_called_behind = True

    @property
    def is_lost(self) -> bool:
        """Whether a Change was forgotten before it was read."""
        unread = self.history[self.read :]
        return bool(unread) and unread[0].revision < self.store.compacted

    def follow(self) -> None:
        if self.cursor.follows and not self.is_lost:
            self.read = len(self.history)

    @rule(pod=pods)
    def put(self, pod: Pod) -> None:
        """A pod is written."""
        self.store.put(pod.key, pod)
        self.follow()

    @rule(name=names)
    def delete(self, name: str) -> None:
        """A pod goes, or was not there."""
        self.store.delete(f"pods/{name}")
        self.follow()

    @rule(written=st.lists(pods, min_size=2, max_size=3, unique_by=lambda pod: pod.key))
    def transact(self, written: list[Pod]) -> None:
        """Several pods are written at one revision, and something else with them."""
        self.store.txn((), [*(Put(pod.key, pod) for pod in written), Put("nodes/n", "up")])
        self.follow()

    @rule()
    def write_elsewhere(self) -> None:
        """Another kind is written."""
        self.store.put("nodes/n", "up")

    @rule()
    def advance(self) -> None:
        """A feed: exactly one Change is read, if there is one."""
        expected = None
        if not self.is_lost and self.read < len(self.history):
            expected = self.history[self.read]
            self.read += 1
        assert self.cursor.advance() is expected

    @rule(pod=pods, data=st.data())
    def cut(self, pod: Pod, data: st.DataObject) -> None:
        """A Cursor stops in the middle of a transaction, and a reader takes what there is."""
        self.begin_to_follow()
        self.begin_to_lag()
        self.transact([Pod("default/a"), pod] if pod.meta.name != "a" else [pod, Pod("default/b")])
        self.advance()
        for reader in list(self.readers):
            if self.next_of(reader) is not None and data.draw(st.booleans()):
                self.take_from(reader)

    @rule()
    def begin_to_follow(self) -> None:
        """The lag ends."""
        self.cursor.follows = True
        catch_up(self.cursor)
        self.is_called_behind = False
        self.follow()

    @rule()
    def begin_to_lag(self) -> None:
        """From here on every Change is a feed."""
        self.cursor.follows = False

    @rule(back=st.integers(0, 12))
    def compact(self, back: int) -> None:
        """Some history goes."""
        assume(self.store.revision - back > self.store.compacted)
        self.store.compact(self.store.revision - back)

    @rule(selector=st.sampled_from(SELECTORS), back=st.integers(-2, 15), bookmarks=st.booleans())
    def open(self, selector: Selector, back: int, bookmarks: bool) -> None:
        """A watch from an old revision, from now, or from what this server has yet to see."""
        since = max(0, self.store.revision - back)
        if since + 1 < self.store.compacted:
            with pytest.raises(Expired):
                Watch(self.cursor, selector, since)
            return
        self.readers.append(Reader(self.cursor, selector, since, bookmarks))

    def next_of(self, reader: Reader) -> Change | None:
        """The naive scan: the next matching Change the Cursor has passed."""
        return next(iter(self.rest_of(reader, self.read)), None)

    def rest_of(self, reader: Reader, until: int) -> list[Change]:
        """All that a reader is still to be told, up to that place of the history."""
        selector = reader.watch.selector
        matching = [
            change
            for change in self.history[:until]
            if change.revision > reader.watch.since
            and (selects(selector, change.old) or selects(selector, change.new))
        ]
        assert matching[: len(reader.told)] == reader.told[: len(matching)]
        return matching[len(reader.told) :]

    def has_ended(self, reader: Reader) -> bool:
        """Whether something it was to be told is gone."""
        change = self.next_of(reader)
        gone = change is not None and change.revision < self.store.compacted
        return gone or self.is_lost

    @rule(data=st.data())
    def take(self, data: st.DataObject) -> None:
        """The next Delivery of one Watch is what the scan says."""
        assume(self.readers)
        self.take_from(data.draw(st.sampled_from(self.readers)))

    def take_from(self, reader: Reader) -> None:
        expected = self.next_of(reader)
        if self.has_ended(reader):
            delivery = reader.watch.take()
            assert (delivery.type, delivery.change) == (ERROR, None)
            assert "a compaction overtook this watch of pods" in str(delivery.error)
            assert not reader.watch.is_open
            self.readers.remove(reader)
        elif expected is None:
            with pytest.raises(HarnessBug):
                reader.watch.take()
        else:
            delivery = reader.watch.take()
            reader.told.append(expected)
            self.check(delivery, expected, reader)

    def check(self, delivery: Delivery, change: Change, reader: Reader) -> None:
        """API-45 and API-6, spelled out."""
        had = selects(reader.watch.selector, change.old)
        has = selects(reader.watch.selector, change.new)
        assert delivery.change is change
        assert delivery.key == change.key
        assert delivery.type == {(False, True): ADDED, (True, True): MODIFIED}.get(
            (had, has), DELETED
        )
        if has:
            assert change.new is not None
            assert delivery.object is change.new.value
        else:
            assert change.old is not None
            last = change.old.value
            assert isinstance(last, Pod)
            assert delivery.object == last.with_meta(revision=Revision(change.revision))

    @rule(data=st.data())
    def take_bookmark(self, data: st.DataObject) -> None:
        """A bookmark promises that all up to it was told, whatever the server has yet to read."""
        owing = [reader for reader in self.readers if reader.watch.owes_bookmark]
        assume(owing)
        reader = data.draw(st.sampled_from(owing))
        before = reader.watch.revision
        delivery = reader.watch.take_bookmark()
        promised = int(str(delivery.revision))
        assert delivery == Delivery(BOOKMARK, revision=Revision(self.cursor.revision))
        assert promised > before
        rest = self.rest_of(reader, len(self.history))
        assert all(change.revision > promised for change in rest)

    @rule(data=st.data())
    def close(self, data: st.DataObject) -> None:
        """A reader goes."""
        assume(self.readers)
        reader = data.draw(st.sampled_from(self.readers))
        reader.watch.close()
        assert reader.watch.peek() is None
        self.readers.remove(reader)

    @invariant()
    def each_watch_peeks_at_the_next(self) -> None:
        """Ready if the scan finds something, owing if a bookmark is due; called for it, once."""
        for reader in self.readers:
            watch, expected = reader.watch, self.next_of(reader)
            delivery = watch.peek()
            assert watch.is_ready is (expected is not None or self.is_lost)
            assert reader.is_called_ready or not watch.is_ready
            reader.is_called_ready = watch.is_ready
            assert reader.is_called_owing or not watch.owes_bookmark
            reader.is_called_owing = watch.owes_bookmark
            if self.has_ended(reader):
                assert delivery is not None
                assert isinstance(delivery.error, Expired)
            else:
                assert (delivery.change if delivery else None) is expected

    @invariant()
    def a_watch_that_breaks_loses_nothing(self) -> None:
        """What a reader was not told lies behind the revision from which it would resume."""
        for reader in self.readers:
            rest = self.rest_of(reader, len(self.history))
            assert all(change.revision > reader.watch.revision for change in rest)

    @invariant()
    def the_cursor_is_where_it_was_fed_to(self) -> None:
        """Its revision is a state of its kind: all it has read, and nothing else."""
        cursor, unread = self.cursor, self.history[self.read :]
        assert cursor.is_expired is self.is_lost
        assert cursor.is_behind is (bool(unread) and not self.is_lost)
        if cursor.is_behind and not cursor.follows:
            assert self.is_called_behind
        self.is_called_behind = cursor.is_behind
        if self.is_lost or cursor.revision < self.store.compacted:
            return
        state: dict[str, Entry] = {}
        for change in self.history:
            if change.revision <= cursor.revision:
                state.pop(change.key, None)
                if change.new is not None:
                    state[change.key] = change.new
        listed = self.store.snapshot("pods/", cursor.revision)
        assert listed == [state[key] for key in sorted(state)]
        whole = [change for change in self.history[: self.read] if change not in unread]
        assert all(change.revision > cursor.revision for change in unread)
        cut = {change.revision for change in unread}
        assert all(c.revision <= cursor.revision for c in whole if c.revision not in cut)


@pytest.mark.parametrize("examples", [60, pytest.param(2_000, marks=pytest.mark.long)])
@pytest.mark.spec("API-6", "API-45", "API-46")
def test_watches_deliver_what_a_naive_scan_finds(examples: int) -> None:
    """In order, once, gap-free, converted, up to the Cursor; the callbacks miss nothing."""
    run_state_machine_as_test(
        WatchesBesideScan,
        settings=settings(max_examples=examples, stateful_step_count=40, deadline=None),
    )
