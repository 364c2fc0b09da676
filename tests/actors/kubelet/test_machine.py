"""Machine: what runs on an instance of a provider, and is gone with it."""

from __future__ import annotations

import pytest

from actors.kubelet import MachineRuntime
from actors.kubelet.containers import Report
from actors.shared.machines import CloudInstance
from testbed.errors import Unavailable
from testbed.objects import Meta, Pod
from testbed.store.endpoint import Operation, answer_at_once
from testbed.store.store import Store


class Place:
    """A runtime, and the instance that it is on."""

    def __init__(self) -> None:
        self.store = Store()
        self.runtime = MachineRuntime(self.store, "g-1")

    def instance(self, uid: str, gone_ms: int | None = None) -> None:
        """The provider has this instance now."""
        item = CloudInstance(Meta("g-1", uid=uid), group="g", gone_ms=gone_ms)
        self.store.put(item.key, item)

    def boot(self, uid: str) -> None:
        """It comes up."""
        answer_at_once(self.runtime, Operation("boot", uid=uid), "kubelet-g-1")

    def start(self, name: str) -> None:
        """A pod runs there."""
        pod = Pod.of(name).with_meta(uid=name)
        operation = Operation("start", "pods", name, "default", pod, uid=name)
        answer_at_once(self.runtime, operation, "kubelet-g-1")

    def listed(self) -> tuple[Report, ...]:
        """What its kubelet is told."""
        return answer_at_once(self.runtime, Operation("list"), "kubelet-g-1")  # type: ignore[no-any-return]

    def reported(self, now_ms: int) -> list[str]:
        """What claims see."""
        return [each.pod.meta.name for each in self.runtime.reports(now_ms)]


@pytest.fixture
def place() -> Place:
    """An instance is up, and a pod runs there."""
    made = Place()
    made.instance("one")
    made.boot("one")
    made.start("p")
    return made


def test_a_machine_that_is_off_answers_nothing() -> None:
    """Before its instance has come up, and once it is gone."""
    place = Place()
    with pytest.raises(Unavailable, match="the machine of runtime-g-1 is off"):
        place.listed()
    place.instance("one")
    with pytest.raises(Unavailable):
        place.listed()
    place.boot("one")
    assert place.listed() == ()
    place.store.delete("cloudinstances/g-1")
    with pytest.raises(Unavailable):
        place.listed()


def test_what_runs_is_gone_with_its_instance(place: Place) -> None:
    """To the millisecond, whoever has heard of it."""
    place.instance("one", gone_ms=5000)
    assert (place.reported(4999), place.reported(5000)) == (["p"], [])
    assert place.runtime.digest_at(5000) == {"is_on": False}


def test_another_instance_begins_empty(place: Place) -> None:
    """Though it has the name of the one before."""
    place.instance("two")
    assert place.reported(0) == []
    place.boot("two")
    assert place.listed() == ()
