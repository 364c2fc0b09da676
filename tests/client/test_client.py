"""The Client: what an actor asks for is what it gets; nothing else of the World is in reach."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from testbed.client.client import Client, Task
from testbed.errors import (
    AlreadyExists,
    Conflict,
    Crashed,
    NotFound,
    ScenarioError,
    TimedOut,
    Unavailable,
)
from testbed.faults.clock_step import ClockStep
from testbed.faults.crash import Crash
from testbed.objects import Meta, Note, Pod
from testbed.store.endpoint import Operation
from testbed.turns.because import Because
from tests.shared.stage import note, play, world_of

# -- what is asked of Endpoints -----------------------------------------------------------------


def test_an_object_is_created_read_updated_and_deleted() -> None:
    """Each verb answers what the Store holds then; the revision in hand is the precondition."""
    held: list[object] = []

    async def alpha(client: Client) -> None:
        made = await client.create(note(a="1"))
        held.append(await client.get(Note, "n") == made)
        newer = await client.update(made.saying(a="2"))
        held.append(newer.meta.revision != made.meta.revision)
        for refused in (client.update(made.saying(a="3")), client.delete(made)):
            with pytest.raises(Conflict):
                await refused
        with pytest.raises(AlreadyExists):
            await client.create(note())
        await client.delete(newer)
        with pytest.raises(NotFound):
            await client.get(Note, "n")
        held.append(await client.get(Note, "n", at=newer.meta.revision) == newer)

    world = world_of(alpha=alpha)
    play(world)
    assert held == [True, True, True]
    assert not len(world.store)


def test_whatever_it_was_is_overwritten_and_deleted() -> None:
    """Said so, the last writer wins, and a delete strikes whatever bears the name now."""

    async def alpha(client: Client) -> None:
        first = await client.create(note(a="1"))
        await client.update(first.saying(a="2"))
        last = await client.update(first.saying(a="3"), whatever_it_was=True)
        assert last.data == {"a": "3"}
        await client.delete(last)
        await client.create(note())
        with pytest.raises(Conflict):
            await client.delete(first)
        await client.delete(first, whatever_it_was=True)

    world = world_of(alpha=alpha)
    play(world)
    assert not len(world.store)


def test_a_subresource_is_part_of_the_sentence() -> None:
    """It is what its Endpoint makes of it; the Store's own has none."""

    async def alpha(client: Client) -> None:
        with pytest.raises(Exception, match="cannot update/status pods/default/p"):
            await client.update(Pod("p"), subresource="status")

    played = play(world_of(alpha=alpha))
    assert played.only("serve alpha/main update/status pods/default/p").outcome == "Invalid"


def test_a_deadline_passes_before_a_late_answer() -> None:
    """TimedOut is an Unavailable: it may have happened, and it had. In time, nothing is said."""
    said: list[str] = []

    async def alpha(client: Client) -> None:
        await client.create(note("early"), timeout_ms=100)
        try:
            await client.create(note("late"), timeout_ms=100)
        except Unavailable as error:
            said.append(f"{client.now()} {type(error) is TimedOut} {error}")

    world = world_of(alpha=alpha)
    world.limit(delay_max_ms=1_000)
    played = play(
        world, "serve * notes/default/late", "wake *", late=("answer * notes/default/late",)
    )
    assert said == [
        "100 True create notes/default/late: no answer within 100 ms; it may have happened"
    ]
    assert len(world.store) == 2
    timers = [step for step in played.steps if step.kind == "wake"]
    assert [str(step.sentence) for step in timers] == [
        "wake alpha/main timeout of create notes/default/late"
    ]


# -- time and tasks -----------------------------------------------------------------------------


def test_an_actor_has_its_own_clock() -> None:
    """It says virtual time until a step shifts it, for its next life as well; timers run on."""
    read: list[int] = []

    async def alpha(client: Client) -> None:
        for _ in range(2):
            read.append(client.now())
            await client.sleep(1_000)

    world = world_of(alpha=alpha)
    world.allow(ClockStep("alpha", by_ms=-300), Crash("alpha", restart_after_ms=500))
    cues = ("start *", "fault * clock_step *", "wake *", "fault * crash *")
    world.limit(delay_max_ms=10)
    played = play(world, *cues)
    assert read == [0, 700, 1_200, 2_200]
    assert played.verdict.virtual_ms == 3_500


def test_a_task_can_be_waited_for_and_ended() -> None:
    """`spawn` gives it a name; `join` its result, or None if it was cancelled."""
    ends: list[object] = []

    async def alpha(client: Client) -> None:
        async def double(n: int) -> int:
            await client.sleep(n)
            return 2 * n

        task: Task = client.spawn("double", double, 21)
        other = client.spawn("double", double, 1_000)
        ends.append(task.has_ended)
        ends.append(await client.join(task))
        client.cancel(other)
        ends.append(await client.join(other))
        ends.extend([task.has_ended, other.has_ended, client.now()])

    played = play(world_of(alpha=alpha))
    assert ends == [False, 42, None, True, True, 21]
    assert "start alpha/double#2" not in list(played.said("wake"))
    assert {"start alpha/double", "start alpha/double#2"} <= set(played.said("start"))


def test_a_client_belongs_to_one_life() -> None:
    """Another actor that got hold of it, or a later life, gets an error that names its owner."""
    kept: list[Client] = []

    async def alpha(client: Client) -> None:
        kept.append(client)
        await client.sleep(10)

    async def beta(client: Client) -> None:
        await kept[0].sleep(1)
        kept[0].now()

    async def gamma(client: Client) -> None:
        await kept[0].get(Note, "n")

    for thief in (beta, gamma):
        kept.clear()
        with pytest.raises(ScenarioError, match=r"t/main uses the Client of alpha, life 1"):
            play(world_of(alpha=alpha, t=thief))


def test_a_dead_life_can_do_nothing() -> None:
    """Each call of its Client in a `finally` is refused by Crashed; nothing is written."""
    refused: list[str] = []

    async def alpha(client: Client) -> None:
        try:
            await client.sleep(1_000)
        finally:
            for call in (
                lambda: client.record("late"),
                lambda: client.now(),
                lambda: client.pick("label", ["a", "b"]),
                lambda: client.tell(Operation("create", "notes", "m", "default", note("m"))),
                lambda: client.spawn("late", alpha, client),
            ):
                with pytest.raises(Crashed):
                    call()
                refused.append("sync")
            with pytest.raises(Crashed):
                await client.create(note())
            refused.append("async")

    world = world_of(alpha=alpha)
    world.allow(Crash("alpha"))
    play(world, "start *", "fault *")
    assert refused == ["sync"] * 5 + ["async"]
    assert not len(world.store)
    assert not world.evidence.records


# -- choices and records ------------------------------------------------------------------------


def test_a_pick_is_a_step_but_no_turn() -> None:
    """The dullest comes first; alternatives are shown by key, by name, or as they are; and one
    that is no choice is none."""
    picked: list[object] = []

    async def alpha(client: Client) -> None:
        picked.append(client.pick("pod", [Pod("p"), Pod("q")]))
        picked.append(client.pick("number", [1, 2, 3]))
        picked.append(client.pick("number", ["only"]))
        picked.append(client.now())

    played = play(world_of(alpha=alpha))
    assert picked == [Pod("p"), 1, "only", 0]
    assert [step.option.label for step in played.every("pick *")] == ["pods/default/p", "1"]
    assert [step.of for step in played.every("pick *")] == [2, 3]
    assert [step.causes for step in played.every("pick *")] == [(1,), (1,)]


def test_an_object_with_a_value_of_the_wrong_type_is_refused() -> None:
    """Where the actor asks to write it, and even if the actor catches the error."""
    unfit = Pod(Meta("p", finalizers="x"))  # type: ignore[arg-type]

    async def create(client: Client) -> None:
        with suppress(Exception):
            await client.create(unfit)

    async def update(client: Client) -> None:
        await client.update(unfit, whatever_it_was=True)

    async def of_a_text(client: Client) -> None:
        await client.update("p", whatever_it_was=True)  # type: ignore[type-var]

    said = "Pod 'p', but meta.finalizers is 'x': expected a tuple of texts.\nNext: say ('x',)"
    for alpha, refused in (
        (create, f"client.create was given {said}"),
        (update, f"client.update was given {said}"),
        (of_a_text, "client.update was given 'p': expected an object of testbed.objects.\nNext: "),
    ):
        with pytest.raises(ScenarioError) as caught:
            play(world_of(alpha=alpha))
        place, _, text = str(caught.value).partition(": ")
        assert text.startswith(refused)
        assert place.startswith(f"{__file__}, line ")


def test_a_list_that_an_actor_writes_becomes_a_tuple() -> None:
    """As it is stored, and as it is answered."""
    answered: list[Pod] = []

    async def alpha(client: Client) -> None:
        answered.append(await client.create(Pod(Meta("p", finalizers=["x"]))))  # type: ignore[arg-type]

    world = world_of(alpha=alpha)
    play(world)
    stored: Any = world.store.get("pods/default/p")
    assert stored.value.meta.finalizers == answered[0].meta.finalizers == ("x",)


def test_a_pick_from_nothing_is_refused() -> None:
    """The task and the label are named."""

    async def alpha(client: Client) -> None:
        client.pick("node", [])

    with pytest.raises(ScenarioError, match=r"alpha/main picks 'node' from nothing"):
        play(world_of(alpha=alpha))


def test_a_record_is_written_into_the_trace_and_read_by_no_actor() -> None:
    """What the actor is given tells it nothing; its facts may have any name."""
    given: list[Because] = []

    async def alpha(client: Client) -> None:
        given.append(client.record("decided", node="n1"))
        await client.sleep(5)
        given.append(client.record("decided", {"from": 1, "name": "x"}, to=2))

    world = world_of(alpha=alpha)
    played = play(world)
    first, second = world.evidence.records
    assert [first.number, second.number] == [1, 2]
    assert {*map(str, given)} == {"<a record>"}
    assert given[0] != given[1]
    with pytest.raises(TypeError):
        int(given[0])  # type: ignore[call-overload]
    assert (first.path, first.now_ms, first.facts) == ("alpha/main", 0, {"node": "n1"})
    assert second.facts == {"from": 1, "name": "x", "to": 2}
    assert second.step == played.only("wake *").number
