"""no_lasso: what tells an actor nothing does not hide a lap."""

from __future__ import annotations

import itertools
import re
from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.invariants.lasso.differing import difference, in_words
from testbed.invariants.lasso.moment import STORE, Moment
from testbed.invariants.lasso.no_lasso import no_lasso
from testbed.objects.affinity import Taint
from testbed.objects.condition import Condition
from testbed.objects.deployment import Deployment, DeploymentSpec
from testbed.objects.labels import LabelSelector
from testbed.objects.meta import Map, Meta
from testbed.objects.node import Node, NodeSpec, NodeStatus
from testbed.objects.pod import Pod
from testbed.objects.workload import PodTemplate
from testbed.turns.because import Because
from testbed.turns.verdict import Verdict
from testbed.world.scenario import of
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import Doing, Puppet, note


def scaled(to: int, every_ms: int = 10_000) -> Doing:
    """An actor that keeps a Deployment at so many replicas."""

    async def run(client: Client) -> None:
        while True:
            await client.sleep(every_ms, "sync")
            found = await client.get(Deployment, "web")
            if found.spec.replicas != to:
                await client.patch(found, {"spec": {"replicas": to}})

    return run


def web() -> Deployment:
    """A Deployment with three replicas."""
    labels = Map(app="web")
    template = PodTemplate(Meta(labels=labels), Pod.of("", cpu_m=1).spec)
    return Deployment("web", spec=DeploymentSpec(3, LabelSelector(labels), template))


def test_what_differs_is_named_by_object_and_field_and_writer() -> None:
    """Of a World that is not played apart, the suspicion is all there is."""
    world = World("by hand")
    world.serve(ApiServer)
    world.add(web())
    world.start(Puppet("hpa", scaled(5)), Puppet("operator", scaled(3)))
    world.claim(no_lasso())
    world.limit(turns_max=500)
    end = world.run(Calm(), driver="direct").end
    found = (
        r"this differs: deployments/default/web metadata.generation (\d+) → (\d+), set by (\w+)\."
    )
    match = re.search(found, end)
    assert match is not None, end
    assert int(match[2]) - int(match[1]) == 2
    assert match[3] in ("hpa", "operator")


def told(now: object, before: object) -> str:
    """What is said of an object that differs."""
    one, other = (Moment("", {STORE: "the same"}, objects={"k": n}) for n in (now, before))
    return difference(one, other, {"k": {"spec.taints": "scaler"}})


@each_row(
    ("now", "before", "said"),
    [
        (Node("n", spec=NodeSpec(taints=(Taint("k", "30", "NoSchedule"),))),
         Node("n", spec=NodeSpec(taints=(Taint("k", "20", "NoSchedule"),))),
         "k spec.taints[0].value '20' → '30', set by scaler"),
        (Node("n"), Node("n", spec=NodeSpec(taints=(Taint("k", "20", "NoSchedule"),))),
         "k spec.taints k:NoSchedule → nothing, set by scaler"),
        (Node(Meta("n", annotations={"at": "8"})), Node(Meta("n", annotations={"at": "7"})),
         "k metadata.annotations.at '7' → '8'"),
        (Node(Meta("n", created_ms=1, uid="u")), Node(Meta("n", created_ms=9, uid="v")),
         "the Store"),
    ],
)  # fmt: skip
def test_a_field_is_named_down_to_its_value(now: Node, before: Node, said: str) -> None:
    """Ages and uids differ in any lap, so they are not what is named."""
    assert told(now, before) == said


def test_of_what_is_named_anew_only_the_number_is_told() -> None:
    """Another name in each lap is no difference."""
    one, two = ({f"pods/default/web-{name}": None for name in names} for names in ("a", "bc"))
    moments = [Moment("", {STORE: "the same"}, objects=each) for each in (two, one)]
    assert (
        difference(moments[0], moments[1], {}, ("pods",))
        == "the objects of the Store: 1 of pods → 2"
    )
    assert "new pods/default/web-b" in difference(moments[0], moments[1], {})


@each_row(
    ("item", "said"),
    [("int 7", "7"), ("watched 7", "7"), ("str 'a'", "'a'"), ("list of 3", "3 items"),
     ("ms #2", "the time that is number 3 by age"), ("bool True", "bool True")],
)  # fmt: skip
def test_what_is_written_of_a_value_is_said_in_words(item: str, said: str) -> None:
    """No rank and no name of a type."""
    assert in_words(item) == said


def calm(*doings: Doing, items: Any = (), **limits: int) -> Verdict:
    """The calm run of a scenario with these actors, a Note and more objects."""

    def build(world: World) -> None:
        world.add(note(a="0", b="0"), *items)
        for number, do in enumerate(doings):
            world.start(Puppet(f"p{number}", do))
        world.claim(no_lasso())
        world.limit(**({"turns_max": 1_000} | limits))

    return of(build).world().run(Calm(), driver="direct")


@each_row("keeps", ["in a variable", "in a list", "not at all"])
def test_a_record_that_is_kept_hides_no_lap(keeps: str) -> None:
    """What `client.record` returns counts all records, and shows it to nobody."""

    async def run(client: Client) -> None:
        last: Because | None = None
        kept: list[Because] = []
        for value in itertools.cycle("10"):
            because = client.record("toggles", to=value)
            last = because if keeps == "in a variable" else None
            kept[:] = [because] * (keeps == "in a list")
            await client.update(note(a=value, b="0"), because=last or because)
            del because
            await client.sleep(100, "pace")

    verdict = calm(run)
    assert verdict.is_violated, verdict
    assert verdict.virtual_ms == 400


@each_row(("toggles", "outcome"), [(True, "violated"), (False, "undecided")])
def test_the_sentence_of_a_condition_is_no_state(toggles: bool, outcome: str) -> None:
    """It is for people, as an Event is: another one with each lap hides none, and is none."""

    async def run(client: Client) -> None:
        told = 0
        while True:
            told = (told + 1) % 7
            status = "False" if toggles and told % 2 else "True"
            said = Condition("Ready", status, message=f"for the {told}th time", since_ms=0)
            node = await client.get(Node, "n")
            await client.update(attrs.evolve(node, status=NodeStatus(conditions=(said,))))
            await client.sleep(1_000, "look")

    verdict = calm(run, items=(Node("n"),))
    assert verdict.outcome == outcome, verdict
    if toggles:
        assert "a lap of 6 writes in 7,000 ms" in verdict.violations[0].said


@pytest.mark.parametrize("toggles", [True, False])
def test_a_write_of_nothing_but_sentences_is_no_write_of_a_lap(toggles: bool) -> None:
    """A lap is what it changes beside them; and the Violation says that they were left out."""

    async def talks(client: Client) -> None:
        for told in itertools.cycle("ab"):
            node = await client.get(Node, "n")
            said = Condition("Ready", "True", message=told, since_ms=0)
            await client.update(attrs.evolve(node, status=NodeStatus(conditions=(said,))))
            await client.sleep(1_000, "look")

    async def writes(client: Client) -> None:
        for value in itertools.cycle("10"):
            await client.update(note(a=value, b="0"))
            await client.sleep(1_000, "pace")

    verdict = calm(talks, *([writes] if toggles else []), items=(Node("n"),))
    assert verdict.is_violated is toggles
    if toggles:
        said = verdict.violations[0].said
        assert "a lap of 2 writes in 2,000 ms" in said
        assert said.endswith("revisions, uids, the messages of conditions")
