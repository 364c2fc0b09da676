"""SchedulerCache: what a scheduler believes, from informers and from its own assumptions."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.framework.snapshot import Snapshot
from actors.scheduler.cluster.cache import CacheCorrupted, NotCached, SchedulerCache
from testbed.objects import Node, NodeStatus, Pod
from tests.models.drawn_clusters import nodes, pods
from tests.shared.deciding import a_node, a_pod

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"


def cache_of(*things: Node | Pod, ttl_ms: int = 0) -> SchedulerCache:
    """A cache with these nodes and pods."""
    cache = SchedulerCache(ttl_ms)
    for thing in things:
        if isinstance(thing, Node):
            cache.add_node(thing)
        else:
            cache.add_pod(thing)
    return cache


def pods_on(cache: SchedulerCache, node: str) -> list[str]:
    """The names of the pods that a cycle sees on that node, in order."""
    info = cache.snapshot().get(node)
    assert info is not None
    return [each.pod.meta.name for each in info.pods]


def to(pod: Pod, node: str) -> Pod:
    """The same pod, bound to that node."""
    return attrs.evolve(pod, spec=attrs.evolve(pod.spec, node_name=node))


@pytest.mark.spec("SCH-34", "SCH-41")
def test_an_assumed_pod_counts_at_once() -> None:
    """With all its requests, and as bound there; assuming it again is refused."""
    cache, pod = cache_of(a_node("n1")), a_pod("p", 3)
    info = cache.assume(pod, "n1")
    assert info.pod.spec.node_name == "n1"
    assert cache.is_assumed(pod)
    assert cache.snapshot().infos[0].requested == {"cpu": 3000}
    assert cache.snapshot().infos[0].allocatable["cpu"] == 10000
    with pytest.raises(NotCached):
        cache.assume(pod, "n1")


@pytest.mark.spec("SCH-33")
def test_pods_are_known_by_their_uid() -> None:
    """A recreated pod of the same name is another pod."""
    old, new = a_pod("p", on="n1"), a_pod("p", on="n1").with_meta(uid="another")
    cache = cache_of(a_node("n1"), old, new)
    assert pods_on(cache, "n1") == ["p", "p"]
    cache.remove_pod(old)
    assert cache.snapshot().infos[0].pods[0].uid == "another"


@pytest.mark.spec("SCH-36")
def test_a_pod_may_be_forgotten_only_where_it_was_assumed() -> None:
    """Not if it was added, not on another node, not twice."""
    cache, pod = cache_of(a_node("n1"), a_pod("q", on="n1")), a_pod("p")
    cache.assume(pod, "n1")
    for wrong, node in ((a_pod("q", on="n1"), "n1"), (pod, "n2")):
        with pytest.raises(NotCached):
            cache.forget(wrong, node)
    assert cache.forget(pod, "n1").key == "default/p"
    assert pods_on(cache, "n1") == ["q"]
    with pytest.raises(NotCached):
        cache.forget(pod, "n1")


@pytest.mark.spec("SCH-37")
def test_an_assumed_pod_is_added_wherever_it_is_told_of() -> None:
    """The server is right, also about the node; the pod is not assumed any more."""
    cache, pod = cache_of(a_node("n1"), a_node("n2")), a_pod("p")
    cache.assume(pod, "n1")
    cache.add_pod(to(pod, "n2"))
    assert (pods_on(cache, "n1"), pods_on(cache, "n2")) == ([], ["p"])
    assert not cache.is_assumed(pod)
    with pytest.raises(NotCached):
        cache.add_pod(to(pod, "n2"))


@pytest.mark.spec("SCH-37", "SCH-83")
def test_only_a_pod_that_was_added_is_updated() -> None:
    """An assumed pod must be added first. It then stands last on its node."""
    cache = cache_of(a_node("n1"), a_pod("p", 1, on="n1"), a_pod("q", 1, on="n1"))
    cache.update_pod(a_pod("p", 4, on="n1"))
    assert pods_on(cache, "n1") == ["q", "p"]
    assert cache.snapshot().infos[0].requested == {"cpu": 5000}
    for unknown in (a_pod("r", on="n1"), a_pod("s")):
        if not unknown.is_bound:
            cache.assume(unknown, "n1")
        with pytest.raises(NotCached):
            cache.update_pod(to(unknown, "n1"))


@pytest.mark.spec("SCH-37", "SCH-38")
def test_a_pod_that_moves_ends_the_scheduler() -> None:
    """A pod never changes its node, so the cache must be wrong. A deletion that names no node is
    accepted."""
    cache = cache_of(a_node("n1"), a_pod("p", on="n1"))
    with pytest.raises(CacheCorrupted, match=r"known on n1, and is told of on n2.\nNext: "):
        cache.update_pod(a_pod("p", on="n2"))
    with pytest.raises(CacheCorrupted):
        cache.remove_pod(a_pod("p", on="n2"))
    cache.remove_pod(a_pod("p"))
    with pytest.raises(NotCached):
        cache.remove_pod(a_pod("p", on="n1"))


@pytest.mark.spec("SCH-35")
def test_an_assumed_pod_expires_only_with_a_limit_and_a_binding_that_has_ended() -> None:
    """Without a limit, as in 1.26, it stays for ever."""
    cache, pod = cache_of(a_node("n1"), ttl_ms=30_000), a_pod("p")
    cache.assume(pod, "n1")
    assert cache.expire(10**9) == []
    cache.finish_binding(pod, 1000)
    assert cache.expire(31_000) == []
    assert [info.key for info in cache.expire(31_001)] == ["default/p"]
    assert pods_on(cache, "n1") == []
    forever = cache_of(a_node("n1"))
    forever.assume(pod, "n1")
    forever.finish_binding(pod, 0)
    assert forever.expire(10**9) == []


@pytest.mark.spec("SCH-35")
def test_one_that_was_added_does_not_expire() -> None:
    """It is not assumed any more."""
    cache, pod = cache_of(a_node("n1"), ttl_ms=1), a_pod("p")
    cache.assume(pod, "n1")
    cache.finish_binding(pod, 0)
    cache.add_pod(to(pod, "n1"))
    assert cache.expire(10**9) == []


@pytest.mark.spec("SCH-39")
def test_a_node_that_is_gone_lives_on_unseen_as_long_as_its_pods() -> None:
    """As a ghost; the same if a pod is reported before its node."""
    cache = cache_of(a_node("n1"), a_pod("p", on="n1"), a_pod("q", on="n2"))
    cache.remove_node(a_node("n1"))
    assert cache.snapshot().names == []
    assert [info.name for info in cache.nodes] == ["n1", "n2"]
    cache.add_node(a_node("n2"))
    cache.add_node(a_node("n1"))
    assert pods_on(cache, "n1") == ["p"]
    cache.remove_node(a_node("n1"))
    cache.remove_pod(a_pod("p", on="n1"))
    assert [info.name for info in cache.nodes] == ["n2"]
    with pytest.raises(NotCached):
        cache.remove_node(a_node("n1"))


@pytest.mark.spec("SCH-42")
def test_nodes_come_one_of_each_zone_in_turn() -> None:
    """Within a zone in order of arrival; a node that has changed its zone comes last."""
    zones = {"a1": "a", "a2": "a", "a3": "a", "b1": "b", "c1": "c", "c2": "c"}
    cache = cache_of(*(a_node(name, zone=zone) for name, zone in zones.items()))
    assert cache.snapshot().names == ["a1", "b1", "c1", "a2", "c2", "a3"]
    cache.update_node(a_node("a1", zone="b"))
    assert cache.snapshot().names == ["a2", "b1", "c1", "a3", "a1", "c2"]
    cache.remove_node(a_node("b1", zone="b"))
    cache.add_node(a_node("b1", zone="b"))
    assert cache.snapshot().names == ["a2", "a1", "c1", "a3", "b1", "c2"]


def test_a_zone_that_comes_back_comes_last() -> None:
    """SCH-42: with its last node a zone is forgotten, and so is its place among the others."""
    cache = cache_of(a_node("a1", zone="a"), a_node("b1", zone="b"))
    cache.remove_node(a_node("a1", zone="a"))
    cache.add_node(a_node("a1", zone="a"))
    assert cache.snapshot().names == ["b1", "a1"]


@pytest.mark.spec("SCH-42")
def test_two_regions_may_have_zones_of_one_name() -> None:
    """A zone belongs to its region. The old labels are read first."""
    west = {REGION: "west"}
    old = {"failure-domain.beta.kubernetes.io/region": "west"}
    things = [a_node("e1", labels={REGION: "east"}), a_node("e2", labels={REGION: "east"})]
    cache = cache_of(*things, a_node("w1", labels=west), a_node("w2", labels=old))
    assert cache.snapshot().names == ["e1", "w1", "e2", "w2"]


@pytest.mark.spec("SCH-42")
def test_a_snapshot_does_not_move_within_a_cycle() -> None:
    """The next one has what was assumed meanwhile."""
    cache = cache_of(a_node("n1"))
    snapshot = cache.snapshot()
    cache.assume(a_pod("p"), "n1")
    cache.add_node(a_node("n2"))
    assert (snapshot.names, snapshot.infos[0].pods) == (["n1"], [])
    assert len(cache.snapshot().infos[0].pods) == 1


def test_what_a_node_has_become_is_seen_in_columns() -> None:
    """SCH-42: its labels, and resources that it no longer has; its row stays."""
    cache = cache_of(a_node("n1", labels={"disk": "ssd"}))
    snapshot = cache.snapshot()
    assert snapshot.label("disk")[1] == ["ssd"]
    assert snapshot.allocatable["memory"][0] == 2**40
    bare = a_node("n1", labels={"disk": "hdd"})
    cache.update_node(attrs.evolve(bare, status=NodeStatus()))
    codes, values = cache.snapshot().label("disk")
    assert [values[code] for code in codes] == ["hdd"]
    assert snapshot.allocatable["memory"][0] == 0


def test_a_pod_that_is_gone_counts_among_no_kind() -> None:
    """Neither one that was removed nor one that was forgotten, also if no node has changed."""
    cache = cache_of(a_node("n1"), a_pod("p", on="n1", labels={"app": "a"}))
    gone = a_pod("q", on="n1", labels={"app": "a"})
    before = read(cache.snapshot())
    cache.add_pod(gone)
    assert read(cache.snapshot()) != before
    cache.remove_pod(gone)
    assert read(cache.snapshot()) == before
    cache.assume(gone, "n1")
    assert read(cache.snapshot()) != before
    cache.forget(gone, "n1")
    assert read(cache.snapshot()) == before


@pytest.mark.spec("SCH-42")
@settings(
    max_examples=80,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_a_snapshot_that_was_kept_up_is_as_one_made_anew(data: st.DataObject) -> None:
    """By node, in columns, by kinds of nodes and of pods; whatever has happened."""
    cache, seen = SchedulerCache(), {}
    known: dict[str, Pod] = {}
    for n in range(data.draw(st.integers(1, 12))):
        read(cache.snapshot())
        name = data.draw(st.sampled_from(["n0", "n1", "n2"]))
        what = data.draw(st.sampled_from(["node", "no node", "pod", "pod", "change", "no pod"]))
        if what == "node":
            seen[name] = data.draw(nodes(name))
            cache.update_node(seen[name])
        elif what == "no node" and name in seen:
            cache.remove_node(seen.pop(name))
        elif what == "pod":
            known[f"p{n}"] = data.draw(pods(f"p{n}", name))
            cache.add_pod(known[f"p{n}"])
        elif what == "change" and known:
            which = data.draw(st.sampled_from([*known]))
            changed = data.draw(pods(which, known[which].spec.node_name))
            known[which] = changed
            cache.update_pod(changed)
        elif what == "no pod" and known:
            cache.remove_pod(known.pop(data.draw(st.sampled_from([*known]))))
    anew = SchedulerCache()
    for info in cache.nodes:
        if info.node is not None:
            anew.add_node(info.node)
        for pod in info.pods:
            anew.add_pod(pod.pod)
    kept, fresh = cache.snapshot(), anew.snapshot()
    assert sorted(kept.names) == sorted(fresh.names)
    assert read(kept) == read(fresh)


def read(snapshot: Snapshot) -> dict[str, object]:
    """All that can be read from a Snapshot, by names of nodes."""
    names: Sequence[str] = sorted(snapshot.names)
    rows = [snapshot.row[name] for name in names]
    told: dict[str, object] = {"names": names}
    for columns in ("allocatable", "requested", "left", "scored"):
        for resource in ("cpu", "memory", "pods", "gpu.com/g"):
            column = getattr(snapshot, columns)[resource]
            told[f"{columns} {resource}"] = [int(column[row]) for row in rows]
    for key in (ZONE, "disk"):
        codes, values = snapshot.label(key)
        told[key] = [values[codes[row]] if codes[row] >= 0 else None for row in rows]
    for rule in ("with_terms", "anti_affine", "with_ports"):
        told[rule] = sorted(snapshot.names[row] for row in getattr(snapshot, rule))
    told["kinds"] = sorted(
        (
            kind.example.namespace,
            *sorted(kind.example.labels.items()),
            *sorted(kind.count_on.items()),
        )
        for kind in snapshot.pods_by_kind.kinds
    )
    told["terms"] = sorted(
        (str(term), *sorted(kind.count_on.items()))
        for which in ("affinity", "anti_affinity", "liked", "disliked")
        for term, kind in snapshot.pods_by_kind.with_terms(which)
    )
    told["sums"] = [
        (info.requested.get("cpu", 0), info.scored_cpu, info.scored_memory, dict(info.ports))
        for info in (snapshot.infos[row] for row in rows)
    ]
    told["pods"] = [sorted(each.uid for each in snapshot.infos[row].pods) for row in rows]
    return told
