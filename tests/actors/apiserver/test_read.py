"""Get, list and watch: of now, of as far as a server has read, of a revision that is named."""

from __future__ import annotations

from typing import Any

import pytest

from actors.apiserver.bare_server import EVENTS_KEPT, KEPT_MS
from testbed import Selector
from testbed.errors import BadRequest, Expired, Invalid, NotFound, TimedOut
from testbed.objects import Map, Pod, Revision
from testbed.objects.labels import parse
from testbed.store.endpoint import Operation
from testbed.store.store import Store
from tests.models.counter import Counter, about, finish, named, step, told, with_meta
from tests.shared.cursors import catch_up


def listed(counter: Counter, at: Any = "", selector: Selector | None = None, **options: Any) -> Any:
    """A list of pods."""
    return counter.ask(
        Operation(
            "list", "pods", selector=selector or Selector(), revision=Revision(at),
            options=Map({name.rstrip("_"): value for name, value in options.items()}),
        )
    )  # fmt: skip


def names(listing: Any) -> list[str]:
    """The names in a list."""
    return [item.meta.name for item in listing.items]


def watched(counter: Counter, at: Any = "", **said: Any) -> Any:
    """A watch of pods."""
    return counter.ask(Operation("watch", "pods", revision=Revision(at), **said))


def behind() -> tuple[Counter, Counter]:
    """Two servers over one Store: one that follows it, and one that reads pods when it is fed."""
    store = Store()
    return Counter(store), Counter(store, "api-2", lags=("pods",))


# -- which state --------------------------------------------------------------------------------


@pytest.mark.spec("API-39", "API-50", "API-51")
def test_any_revision_will_do_means_as_far_as_the_server_has_read() -> None:
    """RV 0 at a server that is behind: what was, a state that there was; no RV: what is."""
    leader, laggard = behind()
    leader.create(Pod.of("a"))
    cursor = laggard.server.cursor("pods")
    leader.create(Pod.of("b"))
    gone = leader.create(Pod.of("c"))
    assert (names(listed(laggard, "0")), names(listed(laggard))) == (["a"], ["a", "b", "c"])
    with pytest.raises(NotFound):
        laggard.get(Pod, "b", "0")
    assert laggard.get(Pod, "b").meta.name == "b"
    cursor.advance()
    assert names(listed(laggard, "0")) == ["a", "b"]
    catch_up(cursor)
    leader.delete(gone)
    assert names(listed(laggard, "0")) == ["a", "b", "c"]
    assert laggard.get(Pod, "c", "0") == gone


@pytest.mark.spec("API-39")
def test_a_read_may_ask_for_no_less_than_it_has_seen() -> None:
    """The server waits until it has read so far; if it does not get there in 3 s: 504, which says
    that the revision is too large, and when to ask again."""
    leader, laggard = behind()
    laggard.server.cursor("pods")
    pod = leader.create(Pod.of("a"))
    revision = pod.meta.revision
    for operation in (
        about("get", Pod, "a", revision=revision),
        Operation("list", "pods", revision=revision),
    ):
        waiting = laggard.begin(operation)
        pause = step(waiting)
        assert (pause.revision, pause.until_ms) == (int(str(revision)), 3000)
        with pytest.raises(TimedOut, match=f"Too large resource version: {revision}, current") as e:
            finish(waiting)
        assert (e.value.causes, e.value.retry_after_s) == (("ResourceVersionTooLarge",), 1)
    waiting = laggard.begin(Operation("list", "pods", revision=revision))
    step(waiting)
    catch_up(laggard.server.cursor("pods"))
    assert names(finish(waiting)) == ["a"]


@pytest.mark.spec("API-40")
def test_an_exact_revision_is_read_from_the_store() -> None:
    """By `Exact`, or with a limit; one that was compacted away is 410; one to come is refused."""
    _, laggard = behind()
    laggard.server.cursor("pods")
    first = laggard.create(Pod.of("a")).meta.revision
    laggard.create(Pod.of("b"))
    assert names(listed(laggard, first, match="Exact")) == ["a"]
    assert names(listed(laggard, first, limit=9)) == ["a"]
    assert names(listed(laggard, "0", limit=1)) == []
    laggard.store.compact(laggard.store.revision)
    with pytest.raises(Expired, match="too old resource version"):
        listed(laggard, first, match="Exact")
    with pytest.raises(Invalid, match="resourceVersionMatch is forbidden unless"):
        listed(laggard, match="Exact")
    with pytest.raises(Invalid, match="is in the future"):
        listed(laggard, 99, match="Exact")
    with pytest.raises(Invalid, match="strconv"):
        listed(laggard, "soon", match="Exact")


@pytest.mark.spec("API-40")
def test_a_long_list_comes_in_pages_of_one_revision() -> None:
    """Each says where the next begins; what changes meanwhile is not in them; if the revision was
    compacted away: 410."""
    counter = Counter()
    for name in "abcde":
        counter.create(Pod.of(name))
    page = listed(counter, limit=2)
    found, revision = names(page), page.revision
    counter.delete(counter.get(Pod, "d"))
    counter.create(Pod.of("bb"))
    while page.more:
        page = listed(counter, limit=2, continue_=page.more)
        found += names(page)
        assert page.revision == revision
    assert found == list("abcde")
    token = listed(counter, limit=1).more
    counter.create(Pod.of("z"))
    counter.store.compact(counter.store.revision)
    with pytest.raises(Expired, match="continue parameter is too old"):
        listed(counter, limit=1, continue_=token)
    with pytest.raises(BadRequest, match="continue key is not valid"):
        listed(counter, continue_="nonsense")


# -- selectors ----------------------------------------------------------------------------------


@pytest.mark.spec("API-47")
def test_labels_are_selected_as_they_say() -> None:
    """`!=` and `notin` match what lacks the key; an empty selector matches everything."""
    counter = Counter()
    for name, labels in (("a", {"app": "x"}), ("b", {"app": "y"}), ("c", {})):
        counter.create(Pod.of(name, labels=labels))
    for text, found in (
        ("", "abc"), ("app=x", "a"), ("app!=x", "bc"), ("app in (x,y)", "ab"),
        ("app notin (x)", "bc"), ("app", "ab"), ("!app", "c"), ("app,app!=y", "a"),
    ):  # fmt: skip
        assert "".join(names(listed(counter, selector=Selector(labels=parse(text))))) == found


@pytest.mark.spec("API-48")
def test_fields_are_selected_that_the_kind_is_found_by() -> None:
    """Of a pod its node, phase and so on, by `=` and `!=`; any other field: 400."""
    counter = Counter()
    counter.bound("a")
    counter.create(Pod.of("b"))
    assert names(listed(counter, selector=Selector(fields=(("spec.node_name", "n1"),)))) == ["a"]
    assert names(listed(counter, selector=Selector(unlike=(("status.phase", "Running"),)))) == ["b"]
    for selector in (
        Selector(fields=(("spec.grace_s", 30),)),
        Selector(unlike=(("spec.grace_s", 30),)),
    ):
        with pytest.raises(BadRequest, match=r"not supported: spec\.terminationGracePeriodSeconds"):
            listed(counter, selector=selector)
        with pytest.raises(BadRequest):
            watched(counter, selector=selector)


# -- watches ------------------------------------------------------------------------------------


@pytest.mark.spec("API-41")
def test_a_watch_tells_what_comes_after_its_revision_or_begins_with_what_is() -> None:
    """After N: every Change with a larger one, in order, once. After none, or 0: first what there
    is, as ADDED, then the same."""
    counter = Counter()
    first = counter.create(Pod.of("b"))
    counter.create(Pod.of("a"))
    after, now, any_ = watched(counter, first.meta.revision), watched(counter), watched(counter, 0)
    counter.create(Pod.of("c"))
    assert [named(d) for d in told(after)] == ["a", "c"]
    for watch in (now, any_):
        assert [(d.type, named(d)) for d in told(watch)] == [("ADDED", n) for n in "abc"]


@pytest.mark.spec("API-45")
def test_a_pod_that_ends_is_deleted_for_who_wants_living_ones() -> None:
    """With what it last was, and the revision of the Change by which it ceased to match; one that
    begins to match is added."""
    counter = Counter()
    living = Selector(unlike=(("status.phase", "Succeeded"), ("status.phase", "Failed")))
    watch = watched(counter, counter.now, selector=living)
    pod = counter.bound("p")
    counter.patch(pod, {"status": {"phase": "Failed"}}, subresource="status")
    labelled = watched(counter, counter.now, selector=Selector(labels=parse("app=x")))
    counter.update(with_meta(counter.get(Pod, "p"), labels=Map(app="x")))
    last = told(watch)[-1]
    assert (last.type, last.object.status.phase) == ("DELETED", "Running")  # type: ignore[attr-defined]
    assert last.object.meta.revision == last.revision  # type: ignore[attr-defined]
    assert [d.type for d in told(labelled)] == ["ADDED"]


@pytest.mark.spec("API-42", "API-43")
def test_a_server_tells_what_it_has_kept_and_says_so_else() -> None:
    """A hundred Changes of a kind, and all that are no older than 75 s. Who asks for more gets an
    ERROR with 410 as the first that he is told, not a refusal."""
    counter = Counter()
    pod = counter.create(Pod.of("p"))
    first = pod.meta.revision
    for n in range(EVENTS_KEPT):
        counter.now_s = n
        pod = counter.update(with_meta(pod, labels=Map(n=str(n))))
    assert len(told(watched(counter, first))) == EVENTS_KEPT
    for n in range(EVENTS_KEPT, 2 * EVENTS_KEPT + KEPT_MS // 1000):
        counter.now_s = n
        pod = counter.update(with_meta(pod, labels=Map(n=str(n))))
    late = watched(counter, first)
    assert [(d.type, d.error.code if d.error else 0) for d in told(late)] == [("ERROR", 410)]
    oldest = counter.server.oldest(counter.server.cursor("pods"), counter.now_s * 1000)
    assert len(told(watched(counter, oldest - 1))) == EVENTS_KEPT
    assert told(watched(counter, oldest - 2))[0].type == "ERROR"


@pytest.mark.spec("API-42", "API-46")
def test_a_server_that_has_restarted_knows_nothing_of_before() -> None:
    """It tells what happens from its own beginning on; a reader from before has to list again."""
    counter = Counter()
    pod = counter.create(Pod.of("p"))
    watched(counter, counter.now)
    counter.update(with_meta(pod, labels=Map(a="b")))
    counter.server.restart()
    assert told(watched(counter, pod.meta.revision))[0].type == "ERROR"
    assert told(watched(counter, counter.now)) == []
