"""Lives: what no commit may take back of an object, and that nobody bears another's uid."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.invariants.lives import EveryUidIsNew, LivesGoOneWay
from testbed.objects import Note, Object, Pod
from testbed.store.store_endpoint import StoreEndpoint
from testbed.turns.found import TAKEN_BACK, About
from testbed.turns.verdict import Violation
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import Puppet


class Lax(StoreEndpoint):
    """Takes whatever it is given for what there is, identity and all."""

    def _revised(self, item: Object, old: Object) -> Object:
        return item.with_meta(revision=super()._revised(item, old).meta.revision)


def breaches_of(was: Object, *then: Any) -> list[Violation]:
    """What the claim finds when an object becomes what these make of it, one after the other."""

    async def write(client: Client) -> None:
        item: Any = await client.get(type(was), was.meta.name)
        for change in then:
            item = await client.update(change(item))

    world = World("test")
    world.serve(Lax)
    world.add(was)
    world.start(Puppet("writer", write))
    world.claim(LivesGoOneWay())
    verdict = world.run(Calm(), driver="direct")
    return [each for each in verdict.violations if each.invariant.startswith("lives")]


def spec(**changes: Any) -> Any:
    """A change of the spec."""
    return lambda pod: attrs.evolve(pod, spec=attrs.evolve(pod.spec, **changes))


def status(**changes: Any) -> Any:
    """A change of the status."""
    return lambda pod: attrs.evolve(pod, status=attrs.evolve(pod.status, **changes))


def meta(**changes: Any) -> Any:
    """A change of the Meta."""
    return lambda item: item.with_meta(**changes)


GOING = meta(deleted_ms=5000, grace_s=5)


@pytest.mark.spec("INV-3")
@each_row(
    ("then", "said", "field"),
    [
        ((spec(node_name="n1"), spec(node_name="n2")), "was on n1, and is on n2", "spec.node_name"),
        ((spec(node_name="n1"), spec(node_name="")), "was on n1, and is on none", "spec.node_name"),
        ((GOING, spec(node_name="n1")), "was to go, and was given to n1", "spec.node_name"),
        (
            (status(phase="Failed"), status(phase="Running")),
            "was Failed, and is Running again",
            "status.phase",
        ),
        (
            (GOING, meta(deleted_ms=None, grace_s=None)),
            "was to go, and is not any more",
            "meta.deleted_ms",
        ),
        (
            (GOING, meta(deleted_ms=6000)),
            "was to go by 5000 ms, and now by 6000 ms",
            "meta.deleted_ms",
        ),
        ((GOING, meta(grace_s=6)), "had 5 s of grace, and now 6 s", "meta.grace_s"),
        ((GOING, meta(grace_s=None)), "had 5 s of grace, and now None s", "meta.grace_s"),
        ((meta(uid="other"),), "was scenario-1, and is other", "meta.uid"),
        ((meta(created_ms=7000),), "was created at 0 ms, and now at 7000 ms", "meta.created_ms"),
    ],
)
def test_what_may_not_be_taken_back_is_found(then: Any, said: str, field: str) -> None:
    """Each of them, in the words that name it."""
    (breach,) = breaches_of(Pod.of("p"), *then)
    assert said in breach.said
    assert breach.about == About("pods/default/p", field)
    assert breach.reason == TAKEN_BACK
    assert breach.since == int(breach.said.rpartition(" ")[2])


@pytest.mark.spec("INV-3")
def test_a_life_that_goes_one_way_is_left_alone() -> None:
    """Bound, running, over; to go, sooner, and with less grace."""
    then = (
        spec(node_name="n1"), status(phase="Running"), GOING, meta(deleted_ms=3000, grace_s=3),
        status(phase="Failed"), status(phase="Succeeded"), meta(deleted_ms=0, grace_s=0),
    )  # fmt: skip
    assert breaches_of(Pod.of("p"), *then) == []
    assert breaches_of(Note("n"), meta(labels={"a": "b"})) == []


@pytest.mark.spec("API-2")
def test_a_uid_that_somebody_had_is_found() -> None:
    """One that the World began with is known, too, and one that is gone is not forgotten."""

    class Forgetful(StoreEndpoint):
        def _made(self, item: Object, caller: str, now_ms: int) -> Object:
            return super()._made(item, caller, now_ms).with_meta(uid="scenario-1")

    async def again(client: Client) -> None:
        await client.delete(Note("n"), whatever_it_was=True)
        await client.create(Note("n"))

    world = World("test")
    world.add(Note("n"))
    world.serve(Forgetful)
    world.start(Puppet("a", again))
    world.claim(EveryUidIsNew())
    (violation,) = world.run(Calm(), driver="direct").violations
    assert (
        violation.said
        == "notes/default/n of rv 4 has the uid scenario-1 of notes/default/n of rv 2"
    )
