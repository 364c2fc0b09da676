"""PodInfo and NodeInfo: what a scheduler computes from pods, and the sums of a node."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo, info_of
from testbed.objects import Container, Map, Pod, Quantity, Resources
from testbed.objects.pod import Port
from tests.models.drawn_clusters import pods
from tests.shared.deciding import HOST, a_node, a_pod, far, near

MIB = 2**20


def asking(**amounts: str) -> Container:
    """A container with these requests."""
    requests = {name: Quantity.parse(text) for name, text in amounts.items()}
    return Container("c", resources=Resources(Map(requests)))


@pytest.mark.spec("GEN-11", "GEN-12")
def test_a_pod_asks_for_what_it_takes_at_most() -> None:
    """The sum of its containers, or one init container if that is more, and its overhead; cpu in
    thousandths, memory in bytes."""
    pod = Pod.of(
        "p",
        containers=(asking(cpu="250m", memory="1Ki"), asking(cpu="1")),
        init_containers=(asking(cpu="2", memory="1"), asking(cpu="100m")),
        overhead={"cpu": "10m"},
    )
    assert info_of(pod).requests == {"cpu": 2010, "memory": 1024}


@pytest.mark.spec("SCH-40")
def test_a_container_that_does_not_say_counts_in_scores() -> None:
    """100m and 200Mi without a request; 0 if it requests 0."""
    info = info_of(Pod.of("p", containers=(asking(), asking(cpu="0", memory="1Mi"))))
    assert (info.scored_cpu, info.scored_memory) == (100, 201 * MIB)
    init = Pod.of("p", containers=(asking(cpu="1m"),), init_containers=(asking(),))
    info = info_of(attrs.evolve(init, spec=attrs.evolve(init.spec, overhead={"cpu": "5m"})))
    assert (info.scored_cpu, info.scored_memory) == (105, 200 * MIB)


@pytest.mark.spec("SCH-40")
@settings(max_examples=60, derandomize=True, deadline=None)
@given(data=st.data())
def test_the_sums_of_a_node_are_those_of_its_pods(data: st.DataObject) -> None:
    """SCH-40, INV-17: after any adds, removes and changes."""
    node = NodeInfo("n1", a_node("n1"))
    there: list[PodInfo] = []
    for n in range(data.draw(st.integers(1, 6))):
        what = data.draw(st.sampled_from(["add", "remove", "replace"]))
        if what == "add" or not there:
            there.append(info_of(data.draw(pods(f"p{n}"))))
            node.add(there[-1])
            continue
        place = data.draw(st.integers(0, len(there) - 1))
        if what == "remove":
            node.remove(there.pop(place))
        else:
            node.remove(there[place])
            there[place] = info_of(data.draw(pods(there[place].pod.meta.name)))
            node.add(there[place])
    for name in ("cpu", "memory", "gpu.com/g"):
        assert node.requested.get(name, 0) == sum(info.requests.get(name, 0) for info in there)
    assert node.scored_cpu == sum(info.scored_cpu for info in there)
    assert node.scored_memory == sum(info.scored_memory for info in there)
    assert sum(node.ports.values()) == sum(len(info.ports) for info in there)
    assert node.with_terms == sum(info.has_terms for info in there)
    assert node.anti_affine == sum(bool(info.anti_affinity) for info in there)
    assert node.left("pods") == 110 - len(there)


@pytest.mark.spec("SCH-83")
def test_the_last_pod_takes_the_place_of_one_that_goes() -> None:
    """Otherwise pods keep their order; Kubernetes fills a gap in this way."""
    node = NodeInfo("n1", a_node("n1"))
    for name in "abcd":
        node.add(info_of(a_pod(name)))
    node.remove(info_of(a_pod("b")))
    assert [info.pod.meta.name for info in node.pods] == ["a", "d", "c"]
    node.remove(info_of(a_pod("c")))
    assert [info.pod.meta.name for info in node.pods] == ["a", "d"]
    with pytest.raises(KeyError):
        node.remove(info_of(a_pod("b")))


def test_a_copy_is_ones_own() -> None:
    """Changing it does not change the original."""
    main = Container("main", ports=(Port(80, 80),))
    node = NodeInfo("n1", a_node("n1"))
    node.add(info_of(a_pod("a", affinity=near(HOST))))
    copy = node.copy()
    copy.add(info_of(Pod.of("b", containers=(main,), cpu_m=1)))
    copy.remove(info_of(a_pod("a")))
    assert [info.key for info in node.pods] == ["default/a"]
    assert (node.requested, node.ports, node.with_terms) == ({"cpu": 1000}, {}, 1)


def test_a_spec_is_summed_up_once_but_for_each_namespace() -> None:
    """A change of status makes another PodInfo with the same sums; a term without namespaces means
    the namespace of the pod."""
    pod = a_pod("p", 3, affinity=far(HOST, app="a"))
    info, started = (
        info_of(pod),
        info_of(attrs.evolve(pod, status=attrs.evolve(pod.status, phase="x"))),
    )
    assert started.requests is info.requests
    assert started.pod is not info.pod
    elsewhere = info_of(pod.with_meta(namespace="other"))
    assert [each.anti_affinity[0].namespaces for each in (info, elsewhere, info_of(pod))] == [
        {"default"}, {"other"}, {"default"},
    ]  # fmt: skip


@given(st.lists(pods("v", "n"), min_size=1, max_size=4), pods("v0", "n"))
def test_a_pod_is_replaced_as_if_it_were_removed_and_added(there: list[Pod], new: Pod) -> None:
    """The same sums, and the same order of the pods."""
    infos = [info_of(pod.with_meta(uid=f"u{n}")) for n, pod in enumerate(there)]
    for after in (new, attrs.evolve(there[0], status=new.status)):
        quick, plain = NodeInfo("n"), NodeInfo("n")
        for info in infos:
            quick.add(info)
            plain.add(info)
        changed = info_of(after.with_meta(uid="u0"))
        quick.replace(infos[0], changed)
        plain.remove(infos[0])
        plain.add(changed)
        assert quick.pods == plain.pods
        assert {n: a for n, a in quick.requested.items() if a} == {
            n: a for n, a in plain.requested.items() if a
        }
        for name in ("scored_cpu", "scored_memory", "ports", "with_terms", "anti_affine"):
            assert getattr(quick, name) == getattr(plain, name)
