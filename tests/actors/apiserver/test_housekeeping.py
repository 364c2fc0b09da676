"""Housekeeping: Events expire an hour after they were last said; history is kept for minutes."""

from __future__ import annotations

from typing import Any

import pytest

from actors.apiserver import ApiServer
from actors.apiserver.housekeeping import Housekeeping
from actors.shared.recorder import Recorder
from testbed import Client, World
from testbed.faults.crash import Crash
from testbed.objects import Event, Map, Note, Pod
from tests.each_row import each_row
from tests.shared.stage import Doing, Played, Puppet, play

SECOND_MS, MINUTE_MS, HOUR_MS = 1000, 60_000, 3_600_000


def world_with(*does: Doing, **settings: Any) -> World:
    """A World with an API server, its housekeeping, and actors beside it; ten hours at most."""
    world = World("test")
    world.serve(lambda store: ApiServer(store))
    world.start(Housekeeping(**settings))
    for number, do in enumerate(does):
        world.start(Puppet(f"alpha-{number}", do))
    return world


async def stay(client: Client, minutes: int) -> None:
    """Keep the World going for so long."""
    for _ in range(minutes * 4):
        await client.sleep(15 * SECOND_MS)


def deletions(played: Played) -> list[int]:
    """When Events were deleted, in minutes."""
    return [step.now_ms // MINUTE_MS for step in played.every("serve * delete events/*")]


@pytest.mark.spec("API-49")
def test_an_event_expires_an_hour_after_it_was_last_said() -> None:
    """One that is a series, an hour after its last patch; until then both are there. A
    watch delivers the delete."""

    async def run(client: Client) -> None:
        recorder = Recorder(client, "scheduler")
        recorder.note(Pod.of("p"), "Scheduled", "to n1")
        recorder.note(Pod.of("q"), "FailedScheduling", "full")
        for _ in range(3 * 60 * 4):
            await client.sleep(15 * SECOND_MS)
            if client.now() == 5 * MINUTE_MS:
                recorder.note(Pod.of("q"), "FailedScheduling", "full")

    world = world_with(run, compacts=False)
    played = play(world)
    assert deletions(played) == [60, 65]
    assert not world.store.snapshot("events/")


def test_events_that_expire_within_a_minute_go_together() -> None:
    """None before its time, and none more than a minute late."""

    async def run(client: Client) -> None:
        recorder = Recorder(client, "scheduler")
        for number in range(6):
            recorder.note(Pod.of("p"), f"Reason{number}", "")
            await client.sleep(20 * SECOND_MS)
        await stay(client, 180)

    played = play(world_with(run, compacts=False))
    times = [s.now_ms // SECOND_MS - 3600 for s in played.every("serve * delete events/*")]
    assert times == [0, 60, 60, 60, 120, 120]
    assert len(played.every("serve * list events")) <= 7


def test_an_event_that_was_said_again_meanwhile_stays() -> None:
    """Between the look and the deletion comes a patch: the deletion is refused, and an hour later
    it goes."""

    async def run(client: Client) -> None:
        recorder = Recorder(client, "scheduler")
        recorder.note(Pod.of("p"), "Scheduled", "to n1")
        await stay(client, 60)
        (event,) = (await client.list(Event)).items
        await client.patch(
            event,
            {"series": {"count": 2, "lastObservedTime": "2025-01-01T01:00:00.000000Z"}},
        )
        await stay(client, 120)

    world = world_with(run, compacts=False)
    patch = "serve alpha-0/main patch events/*"
    played = play(world, "serve housekeeping/expire list events#2", patch, late=(patch,))
    assert deletions(played) == [60, 120]
    assert [s.outcome for s in played.every("serve * delete events/*")] == ["Conflict", ""]


@pytest.mark.spec("API-43")
@each_row("quiet_min", [0, 11])
def test_history_is_kept_for_five_to_ten_minutes(quiet_min: int) -> None:
    """What is five minutes old can be read, and what is ten is gone; also after a quiet time, in
    which there was nothing to compact."""
    at: dict[int, int] = {}

    async def run(client: Client) -> None:
        note = await client.create(Note("n"))
        await stay(client, quiet_min)
        for second in range(0, 1800, 30):
            at[second] = world.store.revision
            note = await client.update(note.saying(n=str(second)))
            await client.sleep(30 * SECOND_MS)
            oldest = min(s for s in at if at[s] >= world.store.compacted)
            assert second + 30 - oldest <= 630
            assert oldest == 0 or second + 30 - oldest >= 300

    world = world_with(run, expires=False)
    played = play(world)
    assert len(played.every("serve * compact history*")) >= 6
    assert world.store.compacted > 1


@pytest.mark.spec("API-43")
def test_two_that_keep_house_do_not_hinder_each_other() -> None:
    """One finds that the other has compacted, or that nothing has happened: it notes where the
    Store is, and goes on."""

    async def run(client: Client) -> None:
        await client.create(Note("n"))
        for number in range(40):
            await client.sleep(30 * SECOND_MS)
            if number == 30:
                await client.create(Note("m"))

    world = world_with(run, expires=False)
    world.start(Housekeeping("housekeeping-2", expires=False))
    play(world)
    assert world.store.compacted == world.store.revision - 1


def test_a_world_comes_to_rest_beside_it() -> None:
    """Its timers are in the background: nothing else to do, and the Run is over."""
    world = world_with()
    play(world)
    assert world.verdict is not None
    assert (world.verdict.end, world.verdict.virtual_ms) == ("quiet", 0)


@each_row("settings", [{"expires": False}, {"compacts": False}])
def test_each_of_its_duties_can_be_left_out(settings: dict[str, bool]) -> None:
    """The other goes on."""

    async def run(client: Client) -> None:
        await stay(client, 12)

    played = play(world_with(run, **settings))
    compacts = "expires" in settings
    assert bool(played.every("serve * compact history*")) is compacts
    assert bool(played.every("serve * list events")) is not compacts


def test_it_outlives_a_store_that_is_down() -> None:
    """It tries again when its time comes."""

    async def run(client: Client) -> None:
        Recorder(client, "scheduler").note(Pod.of("p"), "Scheduled", "to n1")
        await client.create(Note("n", data=Map(a="b")))
        await stay(client, 120)

    world = world_with(run)
    world.allow(Crash("store", restart_after_ms=20 * MINUTE_MS))
    away = "wake alpha-0/main sleep#220"
    play(world, away, "fault fault/crash crash store")
    assert not world.store.snapshot("events/")
