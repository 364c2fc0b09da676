"""The Store: against a model that keeps every state whole, and each promise by itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from testbed.errors import Expired, HarnessBug, Invalid
from testbed.objects.note import Note
from testbed.store.change import Change, Entry
from testbed.store.footprint import Marks
from testbed.store.store import Store, plural_of
from testbed.store.txn import ONWARD, Compare, Delete, Get, Put, end_of
from tests.each_row import each_row

KEYS = ("nodes/n", "notes/a", "pods/a", "pods/a/x", "pods/b", "podsa")
PREFIXES = ("", "p", "pods", "pods/", "pods/a", "nodes/", "none/")
CHECKED = settings(max_examples=60, stateful_step_count=40, deadline=None, derandomize=True)

keys = st.sampled_from(KEYS)
prefixes = st.sampled_from(PREFIXES)
writes = st.dictionaries(keys, st.integers(0, 3) | st.none(), max_size=3)


class StoreBesideModel(RuleBasedStateMachine):
    """The model: the whole state at every revision, and every Change, all kept for ever."""

    window: int | None = None

    def __init__(self) -> None:
        super().__init__()
        self.store = Store(window=self.window)
        self.states: list[dict[str, Entry]] = [{}, {}]
        self.changes: list[Change] = []
        self.told: list[Change] = []
        for plural in ("nodes", "notes", "pods", "podsa"):
            self.store.listeners.add(plural, self.told.append)

    def commit(self, values: dict[str, object | None]) -> None:
        """The model's transaction: None deletes."""
        state, revision = dict(self.states[-1]), len(self.states)
        before = len(self.changes)
        for key, value in values.items():
            old = state.pop(key, None)
            new = None
            if value is not None:
                created, version = (old.created, old.version) if old else (revision, 0)
                new = state[key] = Entry(key, value, created, revision, version + 1)
            if old or new:
                self.changes.append(Change(revision, key, old, new, len(self.changes) + 1))
        if len(self.changes) > before:
            self.states.append(state)

    def under(self, prefix: str, at: int = -1) -> list[Entry]:
        """What the model holds under a prefix."""
        state = self.states[at]
        return [state[key] for key in sorted(state) if key.startswith(prefix)]

    @rule(key=keys, value=st.integers(0, 3))
    def put(self, key: str, value: int) -> None:
        """A put answers the new Entry."""
        self.commit({key: value})
        assert self.store.put(key, value) == self.states[-1][key]

    @rule(key=keys)
    def delete(self, key: str) -> None:
        """A delete answers the old one."""
        old = self.states[-1].get(key)
        self.commit({key: None})
        assert self.store.delete(key) == old

    @rule(prefix=prefixes)
    def delete_range(self, prefix: str) -> None:
        """A range goes at once, in order."""
        olds = self.under(prefix)
        self.commit({old.key: None for old in olds})
        answer = self.store.txn((), [Delete(prefix or ONWARD, end_of(prefix))])
        assert list(answer.answers[0]) == olds

    @rule(then=writes, otherwise=writes, key=keys, version=st.integers(0, 2))
    def txn(
        self, then: dict[str, object], otherwise: dict[str, object], key: str, version: int
    ) -> None:
        """A transaction writes all of one list, and reads what it has written."""
        held = self.states[-1].get(key)
        succeeds = (held.version if held else 0) == version
        self.commit(then if succeeds else otherwise)
        lists: list[list[Put | Delete | Get]] = [
            [Delete(k) if value is None else Put(k, value) for k, value in some.items()]
            for some in (then, otherwise)
        ]
        for some in lists:
            some.append(Get("n", ONWARD))
        answer = self.store.txn([Compare(key, "version", "=", version)], *lists)
        assert answer.succeeded is succeeds
        assert answer.revision == len(self.states) - 1
        assert list(answer.answers[-1]) == self.under("")

    @rule(back=st.integers(0, 20))
    def compact(self, back: int) -> None:
        """What is older than it is gone."""
        revision = self.store.revision - back
        if revision > self.store.compacted:
            self.store.compact(revision)
            assert self.store.compacted == revision

    @rule(key=keys, prefix=prefixes, back=st.integers(0, 20), limit=st.none() | st.integers(1, 3))
    def read(self, key: str, prefix: str, back: int, limit: int | None) -> None:
        """Any state of the model that is not compacted can be read, of the others none; but the
        harness knows one state more, by the oldest Changes that are kept."""
        at, oldest = max(1, self.store.revision - back), self.store.compacted
        asks: list[Callable[[str, int], object]] = [self.store.get, self.store.range]
        for ask in asks if at < oldest else ():
            with pytest.raises(Expired):
                ask(key, at)
        asks = [self.store.peek, self.store.snapshot]
        for ask in asks if at < oldest - 1 else ():
            with pytest.raises(Expired):
                ask(key, at)
        if at < oldest - 1:
            return
        assert self.store.peek(key, at) == self.states[at].get(key)
        assert self.store.snapshot(prefix, at, limit) == self.under(prefix, at)[:limit]

    @invariant()
    def the_present_is_the_same(self) -> None:
        """Revision, live objects, and every prefix of them."""
        assert self.store.revision == len(self.states) - 1
        assert len(self.store) == len(self.states[-1])
        for prefix in PREFIXES:
            assert self.store.range(prefix) == self.under(prefix)

    @invariant()
    def the_history_is_the_same(self) -> None:
        """All that was told, and all that is kept, of every kind."""
        assert self.told == self.changes
        oldest = max(0, self.store.compacted - 1)
        for plural in (None, "pods", "podsa", "nodes"):
            kept = [c for c in self.changes if plural in (None, plural_of(c.key))]
            kept = [c for c in kept if c.revision > oldest]
            assert self.store.changes(plural, oldest) == kept
            assert self.store.log(plural).changes == kept


class SmallStoreBesideModel(StoreBesideModel):
    """The same, but the Store forgets by itself."""

    window = 5


@pytest.mark.spec("API-3")
def test_the_store_does_what_a_model_of_whole_states_does() -> None:
    """Every read, now and at every revision kept, and every Change."""
    run_state_machine_as_test(StoreBesideModel, settings=CHECKED)


def test_with_a_window_it_does_the_same_but_forgets() -> None:
    """Compacting itself changes nothing but how far back can be read."""
    run_state_machine_as_test(SmallStoreBesideModel, settings=CHECKED)


def filled() -> Store:
    """Revisions 2 to 5: two pods, a node, and the first pod again."""
    store = Store(Marks())
    for key, value in (("pods/a", "1"), ("pods/b", "2"), ("nodes/n", "3"), ("pods/a", "4")):
        store.put(key, value)
    store.marks = Marks()
    return store


def test_a_value_is_handed_out_as_it_came_in() -> None:
    """No object is copied: what is read, now or from history, is what was written."""
    store, note = Store(), Note("a")
    store.put(note.key, note)
    store.put(note.key, note.saying(owner="me"))
    past = store.peek(note.key, 2)
    assert past is not None
    assert past.value is note


def test_a_re_created_key_starts_again() -> None:
    """Its version counts from 1, and it is as old as its new life."""
    store = filled()
    store.delete("pods/a")
    assert store.put("pods/a", "5") == Entry("pods/a", "5", created=7, revision=7, version=1)


def test_a_range_has_a_limit() -> None:
    """It returns the first ones; None and 0 mean all, as in etcd."""
    store = filled()
    for at in (None, 3):
        assert [entry.key for entry in store.range("pods/", at, limit=1)] == ["pods/a"]
        assert len(store.range("pods/", at, limit=0)) == 2


def test_a_range_of_two_keys_in_the_wrong_order_is_empty() -> None:
    """As in etcd, not an error; also in the past."""
    for at in (None, 3):
        assert filled().between("pods/b", "pods/a", at) == []


def test_the_revision_compacted_to_can_be_read_and_watched_from() -> None:
    """Its state is readable, its own Changes are kept; what is older is not."""
    store = filled()
    store.compact(4)
    assert [entry.value for entry in store.range("pods/", at=4)] == ["1", "2"]
    assert [change.key for change in store.changes(since=3)] == ["nodes/n", "pods/a"]
    with pytest.raises(Expired):
        store.changes("pods", since=2)


def compacted() -> Store:
    """The same, compacted to revision 4."""
    store = filled()
    store.compact(4)
    return store


@each_row(
    ("ask", "error", "text"),
    [
        (lambda s: s.get("pods/a", 3), Expired, "too old resource version: 3 (4): history is kept"),
        (lambda s: s.range("pods/", 3), Expired, "too old resource version: 3 (4): history is"),
        (lambda s: s.changes("pods", 2), Expired, "from revision 4 on; list again"),
        (lambda s: s.compact(4), Expired, "too old resource version: 4 (4): history is kept"),
        (lambda s: s.txn((), [Get("pods/a", at=3)]), Expired, "too old resource version: 3 (4)"),
        (lambda s: s.get("pods/a", 6), Invalid, "revision 6 is in the future: the Store is at 5"),
        (lambda s: s.range("pods/", 6), Invalid, "revision 6 is in the future"),
        (lambda s: s.compact(6), Invalid, "revision 6 is in the future"),
        (lambda s: s.txn((), [Put("pods/a", 1), Get("pods/a", at=6)]), Invalid, "in the future"),
        (lambda s: s.get("pods/a", 0), Invalid, "there is no revision 0: the first is 1; leave"),
        (lambda s: s.put("", 1), Invalid, "the key is empty; give one such as pods/default/p1"),
        (lambda s: s.delete(""), Invalid, "the key is empty"),
        (lambda s: s.txn((), [Put("a", 1), Put("a", 2)]), Invalid, "duplicate key"),
        (lambda s: s.txn((), (), [Put("a", 1), Delete("a")]), Invalid, "duplicate key"),
        (lambda _: Store(window=0), Invalid, "a window of 0 revisions keeps nothing; give 1"),
    ],
)
def test_what_cannot_be_done_is_refused_without_effect(
    ask: Callable[[Store], object], error: type[Exception], text: str
) -> None:
    """Each refusal says what was asked and what there is; nothing has moved."""
    store = compacted()
    with pytest.raises(error) as refused:
        ask(store)
    assert text in str(refused.value)
    assert (store.revision, store.compacted) == (5, 4)
    assert store.peek("pods/a") == Entry("pods/a", "4", created=2, revision=5, version=2)


def test_a_transaction_reads_what_it_has_written_and_what_was_before() -> None:
    """A Get sees the writes before it, unless it asks for a revision; all share one revision."""
    store = filled()
    now, past = Get("pods/a"), Get("pods/a", at=5)
    answer = store.txn((), [now, Delete("pods/a"), now, past, Put("pods/c", "9"), Get("pods/c")])
    values = [[entry.value for entry in found] for found in answer.answers]
    assert values == [["4"], ["4"], [], ["4"], ["9"], ["9"]]
    written = [(change.revision, change.key) for change in store.changes(since=5)]
    assert written == [(6, "pods/a"), (6, "pods/c")]


def test_a_transaction_that_writes_nothing_moves_nothing() -> None:
    """Neither a failed condition, nor a delete of nothing."""
    store = filled()
    never = Compare("pods/a", "version", "=", 9)
    assert not store.txn([never], [Put("pods/a", "5")]).succeeded
    assert store.txn((), [Delete("pods/z"), Get("pods/a")]).revision == 5
    assert store.marks is not None
    assert not store.marks.changes


def test_a_window_keeps_at_least_itself_and_at_most_twice() -> None:
    """The last 10 revisions can be read, 20 are the most kept, and most writes forget nothing."""
    store, horizons = Store(window=10), list[int]()
    for number in range(200):
        store.put(f"pods/{number % 3}", number)
        kept = store.revision - store.compacted
        assert store.compacted == 0 or 10 <= kept <= 20
        horizons.append(store.compacted)
        assert len(store.log().changes) <= 21
        assert len(store.log("pods").changes) <= 21
        store.peek("pods/1", max(1, store.revision - 10))
    assert len(dict.fromkeys(horizons)) <= 200 // 10


def test_a_read_of_an_old_key_costs_no_scan() -> None:
    """However often the past of keys is read, each Change is filed under its key once."""
    store = Store()
    for number in range(50):
        store.put(f"pods/{number % 5}", number)
        store.peek("pods/0", 2)
    assert [len(past) for past in store._past.values()] == [10] * 5


def test_listeners_hear_a_transaction_when_all_of_it_is_committed() -> None:
    """Each Change of their kind, in order; the others cost them nothing."""
    store, heard = filled(), list[tuple[str, str, int]]()
    store.listeners.add("pods", lambda c: heard.append(("first", c.key, store.revision)))
    store.listeners.add(
        "pods", lambda c: heard.append(("second", c.key, len(store.range("pods/"))))
    )
    store.listeners.add("nodes", lambda c: heard.append(("nodes", c.key, store.revision)))
    store.txn((), [Put("pods/c", "1"), Delete("pods/a"), Put("notes/a", "1")])
    assert heard == [
        ("first", "pods/c", 6),
        ("second", "pods/c", 2),
        ("first", "pods/a", 6),
        ("second", "pods/a", 2),
    ]


def test_a_listener_that_has_left_hears_nothing() -> None:
    """Nor does its forgetter; and to leave twice is no error."""
    store, heard = filled(), list[object]()
    store.listeners.add("pods", heard.append, partial(heard.append, "forgot"))
    store.put("pods/a", "5")
    store.compact(4)
    assert len(heard) == 2
    for _ in range(2):
        store.listeners.remove("pods", heard.append)
    store.put("pods/a", "6")
    store.compact(6)
    assert len(heard) == 2


def test_a_forgetter_is_called_for_its_own_kind_only() -> None:
    """When Changes of that kind were forgotten, not otherwise."""
    store, heard = filled(), list[str]()
    for plural in ("pods", "nodes", "notes"):
        store.listeners.add(plural, lambda _: None, partial(heard.append, plural))
    store.compact(4)
    assert heard == ["pods"]
    store.compact(5)
    assert heard == ["pods", "nodes"]


def test_a_listener_may_not_write() -> None:
    """The others would hear of it before what led to it: a bug of ours, told as such."""
    store, refused = filled(), list[str]()

    def listener(_: Change) -> None:
        for write in (
            lambda: store.put("pods/z", 1),
            lambda: store.delete("pods/a"),
            lambda: store.txn((), [Put("pods/z", 1)]),
            lambda: store.compact(3),
        ):
            with pytest.raises(HarnessBug) as bug:
                write()
            refused.append(str(bug.value))

    store.listeners.add("nodes", listener)
    store.put("nodes/n", "5")
    assert len(refused) == 4
    assert refused[0].startswith("a listener wrote to the Store while a Change was being told")
    assert store.revision == 6
    store.listeners.remove("nodes", listener)
    assert store.put("pods/z", 1).revision == 7


@each_row(
    ("act", "reads", "written"),
    [
        (lambda s: s.get("pods/a"), ["pods/a"], []),
        (lambda s: s.get("pods/z", 3), ["history"], []),
        (lambda s: s.range("pods/"), ["log:pods"], []),
        (lambda s: s.range("pods/default/", 3), ["history"], []),
        (lambda s: s.range("p"), ["log:"], []),
        (lambda s: s.between("pods/a", ONWARD), ["log:"], []),
        (lambda s: s.between("pods/a", end_of("pods/")), ["log:pods"], []),
        (lambda s: s.put("pods/a", "5"), [], ["pods/a"]),
        (lambda s: s.delete("pods/a"), [], ["pods/a"]),
        (lambda s: s.delete("pods/z"), ["pods/z"], []),
        (
            lambda s: s.txn((), [Delete("pods/", end_of("pods/"))]),
            ["log:pods"],
            ["pods/a", "pods/b"],
        ),
        (
            lambda s: s.txn([Compare("pods/a", "version", "=", 9)], [Put("pods/b", 1)]),
            ["pods/a"],
            [],
        ),
        (
            lambda s: s.txn([Compare("pods/a", "version", "=", 2)], [Put("pods/b", 1), Get("x")]),
            ["pods/a", "x"],
            ["pods/b"],
        ),
        (lambda s: (s.peek("pods/a"), s.peek("pods/a", 3)), [], []),
        (lambda s: (s.snapshot("pods/"), s.changes("pods"), s.log("pods")), [], []),
    ],
)
def test_reads_and_writes_are_marked(
    act: Callable[[Store], object], reads: list[str], written: list[str]
) -> None:
    """A key that was read, the log of the kind that was listed, or all logs, each Change; of the
    past only that it is read, since it does not change; of peeks nothing."""
    store = filled()
    act(store)
    assert store.marks is not None
    assert store.marks.reads == reads
    assert [change.key for change in store.marks.changes] == written


def test_without_marks_nothing_is_noted() -> None:
    """A Store by itself needs no World."""
    store = Store()
    store.put("pods/a", "1")
    assert store.get("pods/a") == store.range("pods/")[0]
    store.delete("pods/z")
    assert store.marks is None


def test_a_time_says_which_revision_was_the_first_after_it() -> None:
    """Those of that very time came before; where none has come, it is the next."""
    store, times = Store(), iter((10, 10, 30))
    store.clock = lambda: next(times)
    for name in "abc":
        store.put(f"notes/{name}", 1)
    assert [store.first_after(ms) for ms in (0, 9, 10, 29, 30)] == [2, 2, 4, 4, 5]
    assert Store().first_after(0) == 2


def test_what_is_listed_again_is_as_it_is_then() -> None:
    """Whatever was done with what was listed before, and whichever kind was written since."""
    store = Store()
    assert store.snapshot("pods/") == []
    store.put("pods/a/p", 1)
    first = store.snapshot("pods/")
    assert store.range("pods/a/") == first == store.snapshot("pods/")
    assert store.snapshot("pods/b/") == []
    first.clear()
    assert [entry.value for entry in store.range("pods/")] == [1]
    store.put("nodes/n", 2)
    store.put("pods/a/p", 3)
    store.put("pods/b/q", 4)
    assert [entry.value for entry in store.snapshot("pods/")] == [3, 4]
    store.compact(store.revision)
    store.delete("pods/a/p")
    assert [entry.value for entry in store.snapshot("pods/")] == [4]
    assert store.range("pods/a/") == []
