"""Deletion: the table of SPEC GT-D1 row by row, and what lies between its rows."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from testbed.errors import Conflict, NotFound
from testbed.objects import Meta, Node, Pod, Revision
from tests.each_row import each_row
from tests.models.counter import Counter, deletion, finish, step, with_meta


def times(pod: Any) -> tuple[int | None, int | None]:
    """By when it is to be gone, in seconds, and its grace."""
    deleted_ms = pod.meta.deleted_ms
    return None if deleted_ms is None else deleted_ms // 1000, pod.meta.grace_s


def terminating(counter: Counter) -> Pod:
    """X, bound and running, deleted at 100 with its own grace of 30."""
    pod = counter.bound("x")
    counter.now_s = 100
    counter.heard()
    counter.delete(pod)
    return pod


@pytest.mark.spec("API-24", "API-25")
def test_the_first_delete_gives_a_running_pod_its_grace() -> None:
    """Step 1: to be gone by 130, one MODIFIED; the object stays."""
    counter = Counter()
    terminating(counter)
    assert times(counter.get(Pod, "x")) == (130, 30)
    assert counter.heard() == [("MODIFIED", "x")]


@pytest.mark.spec("API-27")
@each_row("grace_s", [None, 60, 30])
def test_grace_is_never_extended(grace_s: int | None) -> None:
    """Steps 2 and 3: without a grace, or with one no smaller: success, and nothing happens."""
    counter = Counter()
    pod = terminating(counter)
    counter.heard()
    before = counter.store.revision
    counter.now_s = 110
    assert times(counter.delete(pod, grace_s)) == (130, 30)
    assert counter.store.revision == before
    assert counter.heard() == []


@pytest.mark.spec("API-27")
def test_a_smaller_grace_counts_from_the_first_delete() -> None:
    """Step 4: grace 5 at 112 means gone by 105, which is past; then nothing larger any more."""
    counter = Counter()
    pod = terminating(counter)
    counter.heard()
    counter.now_s = 112
    assert times(counter.delete(pod, 5)) == (105, 5)
    assert counter.heard() == [("MODIFIED", "x")]
    assert times(counter.delete(pod, 6)) == (105, 5)


@pytest.mark.spec("API-23")
def test_a_precondition_that_does_not_hold_changes_nothing() -> None:
    """Step 5: another uid, or another revision: 409, with both in the text."""
    counter = Counter()
    pod = terminating(counter)
    before = counter.store.revision
    with pytest.raises(Conflict, match=rf"precondition \(wrong\).* record \({pod.meta.uid}\)"):
        counter.delete(pod, 0, uid="wrong")
    with pytest.raises(Conflict, match=r"ResourceVersion in the precondition \(1\)"):
        counter.delete(pod, 0, revision=Revision(1))
    assert counter.store.revision == before


@pytest.mark.spec("API-26", "API-29")
def test_the_last_delete_is_two_commits() -> None:
    """Steps 6 and 7: MODIFIED with grace 0, DELETED; after that there is nothing to delete. The
    deletion is DELETED at the revision after that of the mark."""
    counter = Counter()
    pod = terminating(counter)
    counter.heard()
    before = counter.store.revision
    counter.delete(pod, 0, uid=pod.meta.uid)
    assert counter.heard() == [("MODIFIED", "x"), ("DELETED", "x")]
    assert counter.store.revision == before + 2
    last = counter.store.log("pods").changes[-1]
    assert times(last.old.value if last.old else None) == (100, 0)
    with pytest.raises(NotFound, match='pods "x" not found'):
        counter.delete(pod)


@pytest.mark.spec("API-30")
def test_a_finalizer_keeps_what_is_to_go() -> None:
    """alt-c: after the last delete it stays, with grace 0; the update that takes the finalizer
    away removes it, in one commit."""
    counter = Counter()
    pod = counter.bound("x")
    pod = counter.update(with_meta(pod, finalizers=("f",)))
    counter.now_s = 100
    counter.delete(pod)
    assert times(counter.get(Pod, "x")) == (130, 30)
    counter.delete(pod, 0)
    assert times(counter.get(Pod, "x")) == (100, 0)
    counter.heard()
    counter.update(with_meta(counter.get(Pod, "x"), finalizers=()))
    assert counter.heard() == [("DELETED", "x")]
    with pytest.raises(NotFound):
        counter.get(Pod, "x")


@pytest.mark.spec("API-20")
def test_a_bind_comes_too_late() -> None:
    """alt-d, alt-e: to a pod that has a node, even the same one, or is terminating: 409."""
    counter = Counter()
    pod = counter.bound("x")
    said = 'Operation cannot be fulfilled on pods/binding "x": pod x is '
    with pytest.raises(Conflict, match=f'{said}already assigned to node "n1"'):
        counter.bind(pod, "n1")
    counter.delete(pod)
    with pytest.raises(Conflict, match=f"{said}being deleted, cannot be assigned to a host"):
        counter.bind(pod, "n1")


@pytest.mark.spec("API-26")
def test_between_the_two_commits_anything_may_come() -> None:
    """Another delete is faster: both succeed. A pod of the same name takes its place: it is
    removed in its stead, as Kubernetes does, unless the delete named the uid."""
    for uid, survives in ((False, False), (True, True)):
        counter = Counter()
        pod = counter.create(Pod.of("x"))
        slow = counter.begin(deletion(pod, uid=pod.meta.uid if uid else ""))
        step(slow)
        counter.delete(pod)
        again = counter.create(Pod.of("x"))
        assert again.meta.uid != pod.meta.uid
        if survives:
            with pytest.raises(Conflict):
                finish(slow)
        else:
            finish(slow)
        assert (counter.store.peek("pods/default/x") is not None) is survives


@pytest.mark.spec("API-31")
def test_other_kinds_go_at_once_unless_a_finalizer_keeps_them() -> None:
    """A Node: one commit, whatever grace was asked for; with a finalizer it stays, marked."""
    counter = Counter()
    node = counter.create(Node.of("n1"))
    before = counter.store.revision
    counter.delete(node, 60)
    assert counter.store.revision == before + 1
    node = counter.create(attrs.evolve(Node.of("n1"), meta=Meta("n1", finalizers=("f",))))
    counter.now_s = 7
    assert times(counter.delete(node)) == (7, 0)
    counter.update(with_meta(counter.get(Node, "n1"), finalizers=()))
    assert counter.store.peek("nodes/n1") is None


@pytest.mark.spec("API-24")
def test_a_pod_says_how_long_it_takes_to_end() -> None:
    """Its own grace, 30 s if it says nothing, 0 if it says so; what is asked for goes before."""
    counter = Counter()
    assert times(counter.delete(counter.bound("x", grace_s=7))) == (7, 7)
    assert times(counter.delete(counter.bound("y", grace_s=7), 9)) == (9, 9)
    assert times(counter.delete(counter.bound("z", grace_s=0))) == (0, 0)
    assert counter.store.peek("pods/default/z") is None


@pytest.mark.spec("API-32")
def test_who_deletes_says_what_becomes_of_its_dependents() -> None:
    """Orphan and Foreground become finalizers, on which the garbage collector acts."""
    counter = Counter()
    pod = counter.create(Pod.of("x"))
    assert counter.delete(pod, propagation="Foreground").meta.finalizers == ("foregroundDeletion",)
    assert counter.delete(pod, propagation="Orphan").meta.finalizers == ("orphan",)
    assert counter.get(Pod, "x").meta.finalizers == ("orphan",)
