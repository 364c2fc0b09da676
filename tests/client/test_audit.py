"""The audit: what an actor declared it may read, and nothing else of what its Cache holds."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

from testbed.choosers.calm import Calm
from testbed.client.audit import audited, whole
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import ScenarioError
from testbed.objects import Map, Meta, Note, Pod, PodSpec
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import note, world_of

POD = Pod(Meta("p", labels=Map(app="a")), spec=PodSpec("n1", "mine"))


def shown(*declared: str) -> Any:
    """The pod, as an actor sees it that has declared these."""
    return audited(POD, declared, "alpha", ScenarioError)


def test_what_was_declared_can_be_read() -> None:
    """A field, all that lies below one, and always which object it is."""
    pod = shown("spec.node_name", "meta.labels", "status")
    assert pod.spec.node_name == "n1"
    assert pod.meta.labels is POD.meta.labels
    assert pod.status.phase == ""
    identity = (pod.key, pod.kind, pod.plural, pod.meta.name, pod.meta.namespace, pod.meta.uid)
    assert identity == ("pods/default/p", "Pod", "pods", "p", "default", "")


def test_one_key_of_a_mapping_can_be_declared() -> None:
    """It is read as any other, whether it is there or not."""
    pod = shown("meta.labels.app", "meta.labels.tier")
    assert pod.meta.labels["app"] == pod.meta.labels.get("app") == "a"
    assert pod.meta.labels.get("tier", "none") == "none"
    assert "app" in pod.meta.labels
    assert "tier" not in pod.meta.labels
    with pytest.raises(KeyError):
        pod.meta.labels["tier"]


@each_row(
    ("read", "field"),
    [
        (lambda pod: pod.status, "status"),
        (lambda pod: pod.spec.scheduler_name, "spec.scheduler_name"),
        (lambda pod: pod.meta.labels["tier"], "meta.labels.tier"),
        (lambda pod: pod.meta.labels["apple"], "meta.labels.apple"),
        (lambda pod: pod.meta.labels.get("tier"), "meta.labels.tier"),
        (lambda pod: "tier" in pod.meta.labels, "meta.labels.tier"),
        (lambda pod: pod.meta.created_ms, "meta.created_ms"),
        (lambda pod: list(pod.meta.labels), r"meta.labels \(iteration\)"),
        (lambda pod: len(pod.meta.labels), r"meta.labels \(len\)"),
        (lambda pod: bool(pod.meta.labels), r"meta.labels \(truth\)"),
        (lambda pod: pod.meta.labels.items(), r"meta.labels \(items\)"),
        (lambda pod: pod == POD, r"the whole object \(==\)"),
        (lambda pod: {pod}, r"the whole object \(hash\)"),
        (lambda pod: pod.with_meta(uid="u"), r"the whole object \(with_meta\)"),
    ],
)
def test_what_was_not_declared_is_an_error(read: Callable[[Any], object], field: str) -> None:
    """It names the actor, the field and what was declared, and says what to do; to look at the
    whole is to read more than was declared."""
    pod = shown("spec.node_name", "meta.labels.app")
    with pytest.raises(
        ScenarioError, match=f"alpha reads {field} of a .* and declared spec.node_n"
    ):
        read(pod)


def test_a_view_is_an_object_all_the_same() -> None:
    """It is of its class, it is true, its text says no more than that, and it cannot be changed."""
    pod = shown("spec.node_name")
    assert bool(pod)
    assert repr(pod) == "<audited Pod>"
    assert repr(pod.spec) == "<audited PodSpec spec>"
    with pytest.raises(AttributeError):
        pod.spec = PodSpec()
    assert isinstance(pod, Pod)


def test_to_write_an_object_back_is_to_have_read_all_of_it() -> None:
    """So its revision must have been declared, which tells of every change; what is no view stays
    what it is."""
    assert whole(shown("meta.revision")) is POD
    assert whole(shown("meta")) is POD
    assert whole(POD) is POD
    with pytest.raises(ScenarioError, match=r"reads the whole object \(written back\)"):
        whole(shown("spec", "status"))
    with pytest.raises(ScenarioError, match=r"reads meta\.revision"):
        _ = shown("spec").meta.revision


def reading(read: Callable[[Any], object], reads: tuple[str, ...] | None, *, audit: bool) -> World:
    """Alpha reads the Note n from its Cache, and catches what it can."""

    async def alpha(client: Client) -> None:
        cache = Cache(client, Note, reads=reads)
        await cache.synced()
        try:
            read(cache.get("n"))
        except Exception:  # noqa: BLE001
            client.record("caught")

    world = world_of(alpha=alpha)
    world.table.audits = audit
    world.add(note(x="1", y="2"))
    return world


def test_an_undeclared_read_ends_the_run() -> None:
    """Though the actor caught the error; and only in a Run that is audited."""
    read = operator.attrgetter("data")
    with pytest.raises(
        ScenarioError, match=r"alpha reads data\.y of a Map .* and declared data\.x"
    ):
        reading(lambda item: read(item)["y"], ("data.x",), audit=True).run(Calm(), driver="direct")
    for reads, audit in (
        (("data.x",), False),
        (None, True),
        (("data.y",), True),
        (("data",), True),
    ):
        world = reading(lambda item: read(item)["y"], reads, audit=audit)
        assert world.run(Calm(), driver="direct").is_held
        assert not world.evidence.records


def test_handlers_are_audited_as_well() -> None:
    """What a handler is shown is what `get` and `all` show."""
    seen: list[str] = []

    async def alpha(client: Client) -> None:
        cache = Cache(client, Note, reads=("data.x",))
        cache.on(
            add=lambda new: seen.append(f"add {new.data['x']}"),
            update=lambda old, new: seen.append(f"update {old.data['x']} {new.data['x']}"),
            delete=lambda last: seen.append(f"delete {last.data['y']}"),
        )
        await cache.synced()
        assert [item.data["x"] for item in cache.all()] == ["1"]
        (item,) = cache.all()
        assert item.meta.name == "n"
        changed = await client.update(note(x="2", y="2"))
        await client.sleep(1)
        await client.delete(changed)

    world = world_of(alpha=alpha)
    world.table.audits = True
    world.add(note(x="1", y="2"))
    with pytest.raises(ScenarioError, match=r"alpha reads data\.y"):
        world.run(Calm(), driver="direct")
    assert seen == ["add 1", "update 1 2"]
