"""The recreator: as many as are wanted, no more, and never one for another that was only late."""

from __future__ import annotations

from typing import Any

import pytest

from actors.apiserver import ApiServer
from actors.controllers.recreator import EXPECTED_MS, OWNER, Recreator
from testbed.chooser import Chooser
from testbed.choosers.bounded import Bounded
from testbed.choosers.calm import Calm
from testbed.choosers.complete import Complete
from testbed.choosers.struck import Struck
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.errors import ScenarioError
from testbed.faults.crash import Crash
from testbed.objects import Map, Pod
from testbed.turns.trace import Trace
from testbed.world.scenario import find, play_runs
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.nodes import delete
from tests.shared.stage import Cued, Doing, Puppet


def recreating(
    *pods: Pod, user: Doing | None = None, replicas: int = 2, guard: bool = False
) -> World:
    """A World with a Recreator that keeps that many replicas."""
    world = World("recreating")
    world.add(*pods)
    world.serve(ApiServer)
    template = Pod.of("web", cpu_m=100).with_meta(annotations=Map(a="b"))
    world.start(Recreator("web", template, replicas, guard))
    if user is not None:
        world.start(Puppet("user", user))
    return world


def mine(name: str, **spec: Any) -> Pod:
    """A pod of that owner."""
    return Pod.of(name, labels={OWNER: "web"}, **spec)


def calm(world: World) -> list[str]:
    """Play it calmly; the pods that are there then, those that terminate in brackets."""
    verdict = world.run(Calm(), driver="direct", trace=Trace({}, keep=True))
    assert verdict.is_held, str(verdict)
    return names(world)


def names(world: World) -> list[str]:
    """The pods that are there, those that terminate in brackets."""
    pods: list[Any] = [entry.value for entry in world.store.snapshot("pods/")]
    return [f"({p.meta.name})" if p.meta.is_terminating else p.meta.name for p in pods]


def test_with_a_guard_it_gives_the_names_itself() -> None:
    """The first numbers that are free."""
    assert calm(recreating(mine("web-1"), replicas=3, guard=True)) == ["web-0", "web-1", "web-2"]


@pytest.mark.spec("CTL-5")
def test_what_is_too_many_is_deleted() -> None:
    """The unbound before the bound, the younger before the older."""

    async def user(client: Client) -> None:
        await client.create(mine("a", node_name="n1"))
        await client.sleep(2000)
        await client.create(mine("d", node_name="n1"))

    pods = [mine("b"), mine("c", node_name="n1", grace_s=30)]
    assert calm(recreating(*pods, user=user, replicas=2)) == ["a", "c", "(d)"]


@pytest.mark.spec("CTL-2")
def test_what_it_is_told_before_its_own_answer_is_not_counted_twice() -> None:
    """The watch may be faster than the reply."""
    world = recreating(replicas=2)
    verdict = world.run(Cued(late=("answer web/main create *",)), driver="direct")
    assert verdict.is_held
    assert len(names(world)) == 2


@pytest.mark.spec("API-9", "CTL-1")
def test_a_name_that_somebody_else_has_is_tried_no_second_time() -> None:
    """The server gives another one."""
    taken = calm(recreating(replicas=1))
    found = calm(recreating(*(Pod.of(name) for name in taken), replicas=1))
    assert len(found) == 2


@pytest.mark.spec("CTL-2")
def test_it_learns_that_what_it_made_was_gone_before_it_was_told() -> None:
    """The watch expired meanwhile, and the list says nothing of it: it looks, and makes another."""

    async def user(client: Client) -> None:
        for pod in (await client.list(Pod)).items:
            await delete(client, pod.meta.name, grace_s=0)

    world = recreating(user=user, replicas=1)
    world.allow(Crash("api", restart_after_ms=1))
    cues = ("answer web/main create *", "start user/main", "answer user/main delete *")
    late = ("serve web/cache-pods watch *", "start user/main")
    chooser = Cued(*cues, "fault * crash api", late=late)
    verdict = world.run(chooser, driver="direct")
    assert verdict.is_held, str(verdict)
    assert not chooser.cues
    assert len(names(world)) == 1
    assert verdict.virtual_ms == EXPECTED_MS


# -- the scenario: created twice ------------------------------------------------------------------


def test_a_lost_reply_alone_is_no_race() -> None:
    """As long as the watch is in time, it tells what the reply did not."""
    turn = 1
    while True:
        world = find("twice_created").world()
        chooser = _Loses(turn)
        verdict = world.run(chooser, driver="direct")
        assert verdict.is_held, str(verdict)
        if not chooser.was_reached:
            return
        turn += 1


class _Loses(Struck):
    """Loses the reply that is on its way at that turn."""

    def __init__(self, turn: int) -> None:
        super().__init__(turn, "lose_reply")

    def choose(self, options: Any) -> int:
        self._turns += 1
        self.was_reached |= self._turns >= self.turn
        return options.ready if self._turns == self.turn and len(options.faults) else 0


def violated(chooser: Chooser, guard: str, runs_max: int, **switches: str) -> list[str]:
    """What a search of `runs_max` Runs finds first."""
    found: list[str] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        found.extend(violation.said for violation in world.verdict.violations)
        return not found

    given = {"guard": guard, **switches}
    recipe = find("twice_created")
    play_runs(recipe, chooser, look, runs_max=runs_max, switches=given, driver="direct")
    return found


def test_a_pod_is_created_twice_when_reply_and_watch_are_late() -> None:
    """Found by a bounded search, by name and number."""
    (said,) = violated(Bounded(), "off", 400)
    assert said.startswith("web wants 1 pods and has 2: web-")


@each_row("replicas", ["1", "2"])
def test_names_of_its_own_keep_it_from_that(replicas: str) -> None:
    """The other half of the pair, for the same budget."""
    assert violated(Bounded(), "on", 400, replicas=replicas) == []


def test_no_class_of_runs_creates_one_twice_under_names_of_its_own() -> None:
    """With time passing at rest and one reply lost, each of them is played."""
    chooser = Complete()
    assert violated(chooser, "on", 1000) == []
    assert chooser.is_complete


def test_both_hold_under_random_choices_if_nothing_is_lost() -> None:
    """A late watch alone makes no pod twice: what was made counts."""
    for guard in ("off", "on"):
        for seed in range(100):
            world = find("twice_created").world({"guard": guard, "replicas": "2"})
            world.forbid()
            assert world.run(Uniform(seed), driver="direct").is_held


def test_so_many_pods_make_no_scenario() -> None:
    """A bound is told."""
    with pytest.raises(ScenarioError, match=r"^replicas=0: expected 1 to 10\nNext: "):
        find("twice_created").world({"replicas": "0"})
