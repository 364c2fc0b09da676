"""The Store's own Endpoint: each verb, each refusal, and what it says it may touch."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from testbed.errors import AlreadyExists, ApiError, Conflict, Expired, Invalid, NotFound
from testbed.objects import UNSET, Map, Note, Pod, PodSpec, Revision
from testbed.store.endpoint import Listing, Operation, answer_at_once
from testbed.store.footprint import Footprint, Marks
from testbed.store.selector import Selector, View
from testbed.store.store import Store
from testbed.store.store_endpoint import ANY, VERBS, StoreEndpoint
from testbed.store.watch import Watch
from tests.each_row import each_row
from tests.shared.announced import uncovered
from tests.shared.stage import note

ANY_READ = Revision(ANY)


class BareStore:
    """The Endpoint of a new Store, asked directly: no World, no turns."""

    def __init__(self, *, lags: tuple[str, ...] = ()) -> None:
        self.store = Store(Marks())
        self.endpoint = StoreEndpoint(self.store, lags=lags)

    def answer(self, operation: Operation, caller: str = "alpha", now_ms: int = 0) -> Any:
        """What it answers; each of its verbs is one step."""
        try:
            next(self.endpoint.handle(operation, caller, now_ms))
        except StopIteration as done:
            return done.value
        raise AssertionError("it has paused")

    def get(self, name: str = "n", at: Revision = UNSET) -> Any:
        return self.answer(Operation("get", "notes", name, "default", revision=at))

    def list(self, plural: str = "notes", **fields: Any) -> Listing:
        listing: Listing = self.answer(Operation("list", plural, **fields))
        return listing

    def create(self, item: Any, caller: str = "alpha", now_ms: int = 0) -> Any:
        meta = item.meta
        operation = Operation("create", item.plural, meta.name, meta.namespace, item)
        return self.answer(operation, caller, now_ms)

    def update(self, item: Any, revision: Revision = UNSET) -> Any:
        meta = item.meta
        return self.answer(
            Operation("update", item.plural, meta.name, meta.namespace, item, revision=revision)
        )

    def delete(self, item: Any, **preconditions: Any) -> Any:
        meta = item.meta
        return self.answer(
            Operation("delete", item.plural, meta.name, meta.namespace, **preconditions)
        )

    def txn(self, *items: Any, caller: str = "alpha", now_ms: int = 0) -> Any:
        first = items[0]
        operation = Operation("txn", first.plural, first.meta.name, first.meta.namespace, items)
        return self.answer(operation, caller, now_ms)


@pytest.fixture
def bare() -> BareStore:
    """An Endpoint with nothing behind it yet."""
    return BareStore()


# -- writing ------------------------------------------------------------------------------------


@pytest.mark.spec("API-3")
def test_every_write_moves_the_one_revision_and_is_stamped_with_it(bare: BareStore) -> None:
    """One counter for all kinds; an object bears that of its last write, a delete takes one."""
    first = bare.create(note())
    assert first.meta.revision == Revision(bare.store.revision) == Revision(2)
    assert bare.create(Pod("p")).meta.revision == Revision(3)
    assert bare.update(first.saying(a="1")).meta.revision == Revision(4)
    bare.delete(first)
    assert bare.store.revision == 5
    assert bare.create(note()).meta.revision == Revision(6)
    assert bare.get().meta.revision == Revision(6)


@pytest.mark.spec("API-2", "GEN-4")
def test_identity_is_given_at_create_and_stays(bare: BareStore) -> None:
    """The uid and the time, in whole seconds, are the server's, whatever a client writes."""
    mine = note().with_meta(uid="mine", created_ms=77)
    made = bare.create(mine, now_ms=2_999)
    assert (made.meta.uid, made.meta.created_ms) == ("alpha-1", 2_000)
    later = bare.update(mine.saying(a="1").with_meta(uid="other", created_ms=5))
    assert (later.meta.uid, later.meta.created_ms) == ("alpha-1", 2_000)
    (moved,) = bare.txn(mine.saying(a="2"), now_ms=9_000)
    assert (moved.meta.uid, moved.meta.created_ms) == ("alpha-1", 2_000)
    assert bare.get() == moved


@pytest.mark.spec("API-2")
def test_a_name_that_is_used_again_has_another_uid(bare: BareStore) -> None:
    """It depends on the creator and on how many objects, of any kind, it has created before."""
    first = bare.create(note())
    bare.delete(first)
    uids = [bare.create(note(name), caller="beta").meta.uid for name in ("x", "y")]
    again = bare.create(note())
    (by_txn,) = bare.txn(Pod("p"))
    assert [first.meta.uid, *uids] == ["alpha-1", "beta-1", "beta-2"]
    assert [again.meta.uid, by_txn.meta.uid] == ["alpha-2", "alpha-3"]


def test_an_endpoint_that_restarts_gives_no_uid_twice(bare: BareStore) -> None:
    """Its memory is gone, but not how many objects were made."""
    bare.create(note("a"))
    bare.endpoint.restart()
    assert bare.create(note("b")).meta.uid == "alpha-2"


@pytest.mark.spec("API-2")
def test_two_endpoints_of_one_store_give_no_uid_twice(bare: BareStore) -> None:
    """Another one beside it says which it is; one that takes its place goes on counting."""
    uids = [bare.create(note("a")).meta.uid, bare.create(note("b"), caller="x-1").meta.uid]
    bare.endpoint = StoreEndpoint(bare.store, "other")
    uids.append(bare.create(note("c")).meta.uid)
    bare.endpoint = StoreEndpoint(bare.store)
    uids += [bare.create(note("d")).meta.uid, bare.create(note("e"), caller="x-1").meta.uid]
    assert uids == ["alpha-1", "x-1-1", "alpha@other-1", "alpha-2", "x-1-2"]


@pytest.mark.spec("API-5")
def test_a_write_that_changes_nothing_is_none(bare: BareStore) -> None:
    """It succeeds, answers what stands there, moves no revision and no watch hears of it."""
    made = bare.create(note(a="1"))
    watch = bare.answer(Operation("watch", "notes"))
    assert bare.update(note(a="1")) is made
    assert bare.update(made, made.meta.revision) is made
    assert bare.txn(note(a="1")) == (made,)
    assert bare.store.revision == 2
    assert not watch.is_ready


def test_a_name_that_is_taken_is_refused(bare: BareStore) -> None:
    """Create says which one, and nothing has happened."""
    bare.create(note(a="1"))
    with pytest.raises(AlreadyExists, match=r"^notes/default/n already exists$"):
        bare.create(note(a="2"))
    assert bare.get().data == {"a": "1"}
    assert bare.create(note("m")).meta.uid == "alpha-2"


@pytest.mark.parametrize("verb", ["get", "update", "delete"])
def test_what_is_not_there_is_not_found(bare: BareStore, verb: str) -> None:
    """Each verb that needs an object says which one is missing."""
    with pytest.raises(NotFound, match=r"^notes/default/n not found$"):
        bare.answer(Operation(verb, "notes", "n", "default", note()))
    assert bare.store.revision == 1


def test_a_write_over_what_was_not_read_is_in_conflict(bare: BareStore) -> None:
    """An update and a delete that name a revision insist on it. They are not told the present one:
    that number counts what all others have committed."""
    read = bare.create(note())
    bare.update(note(a="1"))
    said = r"^notes/default/n: the object has been modified; please apply your changes"
    with pytest.raises(Conflict, match=said):
        bare.update(read.saying(b="2"), read.meta.revision)
    with pytest.raises(Conflict, match=said):
        bare.delete(read, revision=read.meta.revision)
    assert bare.get().data == {"a": "1"}
    assert bare.update(read.saying(b="2")).data == {"b": "2"}, "without one, the last writer wins"


def test_a_delete_of_another_incarnation_is_in_conflict(bare: BareStore) -> None:
    """A uid as a precondition holds, though the name is the same."""
    first = bare.create(note())
    bare.delete(first, uid=first.meta.uid)
    second = bare.create(note())
    with pytest.raises(Conflict, match=r"the precondition names uid alpha-1, it is alpha-2$"):
        bare.delete(first, uid=first.meta.uid)
    assert bare.delete(second, uid=second.meta.uid, revision=second.meta.revision) == second


def test_a_transaction_writes_all_or_nothing(bare: BareStore) -> None:
    """Several objects of several kinds at one revision; if one was changed, none is written."""
    a = bare.create(note("a", x="1"))
    items = bare.txn(a.saying(x="2"), Pod("p"), note("b"))
    assert {item.meta.revision for item in items} == {Revision(3)}
    assert bare.store.revision == 3
    with pytest.raises(Conflict, match=r"^notes/default/a: .* since it was read; nothing of the"):
        bare.txn(note("c"), a.saying(x="3"))
    with pytest.raises(Conflict, match=r"^notes/default/d: .* since it was read"):
        bare.txn(note("d").with_meta(revision=Revision(9)))
    assert bare.store.revision == 3
    assert bare.get("a").data == {"x": "2"}
    with pytest.raises(NotFound):
        bare.get("c")
    assert bare.create(note("c")).meta.uid == "alpha-4", "what was refused has used up no name"


def test_a_transaction_of_nothing_does_nothing(bare: BareStore) -> None:
    """It is answered, and what it may touch can be said of it."""
    operation = Operation("txn", "notes", body=())
    assert bare.answer(operation) == ()
    assert bare.endpoint.may(operation) == Footprint(writes=frozenset())
    assert bare.store.revision == 1


# -- reading ------------------------------------------------------------------------------------


def test_an_object_can_be_read_as_it_was(bare: BareStore) -> None:
    """At any revision that is kept; the future and the forgotten are refused, each in its way."""
    first = bare.create(note(a="1"))
    bare.update(note(a="2"))
    assert bare.get(at=first.meta.revision) == first
    assert bare.get().data == {"a": "2"}
    with pytest.raises(NotFound):
        bare.get(at=Revision(1))
    with pytest.raises(Invalid, match="revision 9 is in the future"):
        bare.get(at=Revision(9))
    bare.store.compact(3)
    with pytest.raises(Expired, match="too old resource version: 2"):
        bare.get(at=first.meta.revision)


@pytest.mark.parametrize("verb", ["get", "list", "watch"])
@pytest.mark.parametrize("text", ["seven", "-1", "1.5", "²"])
def test_a_revision_nobody_has_given_is_refused(bare: BareStore, verb: str, text: str) -> None:
    """It is opaque to actors, but not any text will do; an actor that makes one up is told."""
    operation = Operation(verb, "notes", revision=Revision(text))
    with pytest.raises(Invalid, match=f"^{verb} notes: '{text}' is no revision"):
        bare.answer(operation)


@pytest.mark.spec("API-7")
def test_a_list_is_one_snapshot_sorted_by_key(bare: BareStore) -> None:
    """It says which revision it is of, and another one at that revision is the same."""
    for name in ("b", "a", "c"):
        bare.create(note(name))
    bare.create(Pod("p"))
    listing = bare.list()
    assert [item.meta.name for item in listing.items] == ["a", "b", "c"]
    assert listing.revision == Revision(5)
    bare.delete(note("a"))
    assert bare.list(revision=listing.revision) == listing
    assert [item.meta.name for item in bare.list().items] == ["b", "c"]


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        (Selector(), ["a", "b", "c"]),
        (Selector(namespace="team"), ["c"]),
        (Selector(name="b"), ["b"]),
        (Selector(fields=(("spec.node_name", "n1"),)), ["a", "c"]),
        (Selector(namespace="default", fields=(("spec.node_name", "n1"),)), ["a"]),
        (Selector(namespace="tea"), []),
    ],
)
def test_a_list_has_what_its_selector_selects(
    bare: BareStore, selector: Selector, names: list[str]
) -> None:
    """By namespace, by name, by fields, and by all of them; never by a part of a namespace."""
    bare.create(Pod("a", spec=PodSpec("n1")))
    bare.create(Pod("b"))
    bare.create(Pod("team/c", spec=PodSpec("n1")))
    assert [pod.meta.name for pod in bare.list("pods", selector=selector).items] == names


@each_row("fields", [None, ("data.x",)])
def test_a_list_says_in_which_view_its_revision_may_be_used(fields: tuple[str, ...] | None) -> None:
    """The whole kind, unless fields are declared."""
    bare = BareStore()
    options = Map[Any]() if fields is None else Map[Any](fields=fields)
    selector = Selector(name="a")
    listing = bare.list(selector=selector, options=options)
    expected = View("notes", None, None) if fields is None else View("notes", selector, fields)
    assert listing.revision._view == expected


def test_a_watch_begins_after_a_revision_or_now(bare: BareStore) -> None:
    """What happened after it was named is told; without one, what happens from now on."""
    first = bare.create(note("a"))
    bare.create(note("b"))
    operation = Operation("watch", "notes", revision=first.meta.revision)
    since, now = bare.answer(operation), bare.answer(Operation("watch", "notes"))
    bare.create(note("c"))
    assert [since.take().key for _ in range(2)] == ["notes/default/b", "notes/default/c"]
    assert now.take().key == "notes/default/c"
    assert not since.bookmarks
    bare.store.compact(4)
    with pytest.raises(Expired):
        bare.answer(operation)


# -- what it does not know ----------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["bind", "put", "made", "existing", "mark", "created", "_init__"])
def test_another_verb_is_refused(bare: BareStore, verb: str) -> None:
    """It says which it knows; a name of its own code is none."""
    operation = Operation(verb, "notes", "n", "default", note())
    said = f"cannot {verb} notes/default/n: it knows get, list, watch, create, update, delete, txn"
    with pytest.raises(Invalid, match=said):
        bare.answer(operation)
    assert len(VERBS) == 8


def test_a_subresource_is_refused(bare: BareStore) -> None:
    """The Store's own Endpoint has none, and says so."""
    operation = Operation("update", "notes", "n", "default", note(), subresource="status")
    said = r"cannot update/status notes/default/n: .* no subresource; serve an ApiServer for more$"
    with pytest.raises(Invalid, match=said):
        bare.answer(operation)


def test_an_operation_is_data(bare: BareStore) -> None:
    """One line of JSON says the whole of it, and two that ask the same are equal."""
    operation = Operation("update", "notes", "n", "default", note(a="1"), revision=Revision(3))
    assert '"verb":"update"' in operation.line()
    assert '"revision":"3"' in operation.line()
    assert '"body":{"data":{"a":"1"},' in operation.line()
    assert "\n" not in operation.line()
    assert operation == attrs.evolve(operation)
    assert hash(operation)
    assert Operation("list", "notes").key == "notes"


# -- lagging ------------------------------------------------------------------------------------


def test_a_lagging_kind_is_listed_as_its_cursor_has_read_it() -> None:
    """From the first list on it stands still until it is fed; a get, and other kinds, do not."""
    bare = BareStore(lags=("notes",))
    behind: list[str] = []
    bare.endpoint.on_behind = lambda cursor: behind.append(cursor.key)
    bare.create(note("a"))
    assert len(bare.list(revision=ANY_READ).items) == 1, (
        "a server that starts has read all there is"
    )
    bare.create(note("b"))
    bare.create(note("c"))
    bare.create(Pod("p"))
    assert behind == ["cursor:store/notes"], "told once, however far behind"
    assert bare.list(revision=ANY_READ) == Listing((bare.get("a"),), Revision(2))
    bare.endpoint.cursor("notes").advance()
    assert [item.meta.name for item in bare.list(revision=ANY_READ).items] == ["a", "b"]
    assert bare.get("c").meta.name == "c"
    assert len(bare.list("pods").items) == 1
    assert len(bare.list().items) == 3, "without a revision the Store itself is read"


@each_row(("given", "lag_ms"), [({}, 0), ({"lag_ms": 500}, 500)])
def test_a_lagging_kind_is_read_so_much_later(given: dict[str, Any], lag_ms: int) -> None:
    """As it was given; at once if nothing was."""
    endpoint = StoreEndpoint(Store(), lags=("notes",), **given)
    assert endpoint.cursor("notes").lag_ms == lag_ms


@each_row("path", ["meta.revision", "meta"])
@each_row("given", ["fields", "unlike"])
def test_nothing_is_selected_by_its_revision(path: str, given: str) -> None:
    """No server of Kubernetes knows such a selector; it would look at the order of all commits."""
    named: dict[str, Any] = {given: ((path, "2"),)}
    with pytest.raises(Invalid, match="no server selects by it"):
        Selector(**named)


def test_a_write_is_never_judged_by_what_a_lagging_server_has_read() -> None:
    """A precondition is held against the Store itself, however stale the lists are."""
    bare = BareStore(lags=("notes",))
    read = bare.create(note())
    bare.list(revision=ANY_READ)
    bare.update(note(a="1"))
    (stale,) = bare.list(revision=ANY_READ).items
    assert stale == read
    with pytest.raises(Conflict):
        bare.update(stale.saying(b="2"), stale.meta.revision)


def test_a_restart_forgets_the_cursors() -> None:
    """Its watches are closed, and what is listed next is the present."""
    bare = BareStore(lags=("notes",))
    bare.list(revision=ANY_READ)
    watch = bare.answer(Operation("watch", "notes"))
    bare.create(note())
    assert not bare.list(revision=ANY_READ).items
    bare.endpoint.restart()
    assert not watch.is_open
    assert len(bare.list(revision=ANY_READ).items) == 1


def test_a_cursor_that_a_compaction_has_overtaken_begins_anew() -> None:
    """Its watches end in Expired, each reader is told; the next list is served from the present."""
    bare = BareStore(lags=("notes",))
    bare.list()
    watch = bare.answer(Operation("watch", "notes"))
    for name in ("a", "b", "c"):
        bare.create(note(name))
    bare.store.compact(bare.store.revision)
    listing = bare.list()
    assert len(listing.items) == 3
    assert isinstance(watch.take().error, Expired)
    fresh = bare.answer(Operation("watch", "notes", revision=listing.revision))
    bare.create(note("d"))
    assert not fresh.is_ready
    bare.endpoint.cursor("notes").advance()
    assert fresh.take().key == "notes/default/d"


def test_a_cursor_that_a_compaction_has_just_not_overtaken_goes_on() -> None:
    """What it has still to read is kept, and by that what was before: a list shows no Change that
    the cursor has not read, and a watch from there misses none. A reader that names that revision
    is refused, as by etcd."""
    bare = BareStore(lags=("notes",))
    before = bare.list(revision=ANY_READ)
    watch = bare.answer(Operation("watch", "notes"))
    bare.create(note("a"))
    bare.store.compact(2)
    assert bare.list(revision=ANY_READ) == before == Listing((), Revision(1))
    with pytest.raises(Expired):
        bare.list(revision=before.revision)
    late = bare.answer(Operation("watch", "notes", revision=before.revision))
    bare.endpoint.cursor("notes").advance()
    assert watch.take().key == late.take().key == "notes/default/a"
    assert bare.list(revision=ANY_READ) == Listing((bare.get("a"),), Revision(2))


# -- footprints ---------------------------------------------------------------------------------

PLURALS = {"notes": Note, "pods": Pod}
names = st.sampled_from(["a", "b"])
fields = st.sampled_from(
    [
        Map[Any](),
        Map[Any](fields=("data.x",)),
        Map[Any](fields=("spec.node_name", "meta")),
        Map[Any](match="NotOlderThan"),
    ]
)


def item_of(data: DataObject) -> Any:
    """A Note or a Pod, by either name, that says one of two things."""
    name, value = data.draw(names), data.draw(st.sampled_from(["", "1"]))
    return note(name, x=value) if data.draw(st.booleans()) else Pod(name, spec=PodSpec(value))


def operation_of(data: DataObject, store: Store) -> Operation:
    """Any Operation, with any revision: the present one, an old one, none, or one yet to come."""
    verb = data.draw(st.sampled_from((*VERBS, "bind")))
    item = item_of(data)
    back = data.draw(st.none() | st.integers(-1, 3))
    revision = UNSET if back is None else Revision(max(store.revision - back, 0))
    if verb == "txn":
        body = {item.key: item for item in (item_of(data) for _ in range(3))}
        return Operation("txn", item.plural, item.meta.name, "default", tuple(body.values()))
    if verb in ("list", "watch"):
        options: Map[Any] = data.draw(fields)
        return Operation(verb, item.plural, revision=revision, options=options)
    entry = store.peek(item.key)
    if entry is not None and back == 0:
        revision = entry.value.meta.revision  # type: ignore[attr-defined]
    return Operation(verb, item.plural, item.meta.name, "default", item, revision=revision)


@given(st.data())
@settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
def test_what_an_operation_does_it_has_announced(data: DataObject) -> None:
    """Whatever is asked and however it ends: `may` covers `did`; a refusal changes nothing; and
    what is no read moves the revision by one, or by none if it changed nothing."""
    bare = BareStore(lags=("pods",))
    for _ in range(data.draw(st.integers(1, 15))):
        if data.draw(st.integers(0, 9)) == 0 and bare.store.revision > bare.store.compacted:
            bare.store.compact(bare.store.revision)
        operation = operation_of(data, bare.store)
        may, before = bare.endpoint.may(operation), bare.store.revision
        marks = bare.store.marks = Marks()
        try:
            answer = bare.answer(operation)
        except ApiError:
            answer = None
        did = marks.footprint()
        assert not uncovered(did, may), operation
        assert bare.store.revision - before == (1 if marks.changes else 0)
        if answer is None:
            # A look back orders all that was committed before; the first look makes a cursor.
            assert did.writes <= {"history", "cursor:store/pods"}, operation
        if isinstance(answer, Watch):
            answer.close()


@each_row("verb", ["create", "update"])
def test_a_body_of_another_name_is_invalid(verb: str) -> None:
    """What is written must be what the Operation is about; nothing of either name is touched."""
    store = Store()
    endpoint = StoreEndpoint(store)
    answer_at_once(endpoint, Operation("create", "notes", "y", "default", Note("y")), "test")
    for body in (Note("y"), None):
        with pytest.raises(Invalid, match="its body is"):
            answer_at_once(endpoint, Operation(verb, "notes", "x", "default", body), "test")
    assert store.revision == 2
