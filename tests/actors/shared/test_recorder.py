"""Recorder: Events as client-go writes them, and that no actor decides by them."""

from __future__ import annotations

from typing import Any

import pytest

from actors.apiserver import ApiServer
from actors.shared.recorder import MESSAGE_MAX, REFRESH_MS, SERIES_MS, Recorder
from testbed import Client, Operation, World
from testbed.invariants.events import nobody_decides_by_events
from testbed.objects import Event, Pod, Reference, Revision
from tests.each_row import each_row
from tests.shared.stage import Doing, Played, Puppet, play

MINUTE_MS = 60_000
POD = Pod.of("p").with_meta(uid="u1", revision=Revision("7"))


def world_with(do: Doing) -> World:
    """A World of one API server and one actor."""
    world = World("test")
    world.serve(lambda store: ApiServer(store))
    world.start(Puppet("alpha", do))
    world.claim(nobody_decides_by_events())
    return world


def said_by(do: Any, *cues: str) -> tuple[list[Event], Played]:
    """The Events that are there when an actor has used its Recorder so, and the Run."""

    async def run(client: Client) -> None:
        await do(client, Recorder(client, "scheduler"))

    world = world_with(run)
    played = play(world, *cues)
    events: list[Any] = [entry.value for entry in world.store.snapshot("events/")]
    return sorted(events, key=lambda event: event.event_ms), played


@pytest.mark.spec("API-49")
def test_an_event_tells_who_did_what_to_which_object_and_why() -> None:
    """All that Kubernetes' own says: the object at its revision, another one it is about, the
    component and the one of it that speaks, and when. Nobody waits for it."""

    async def do(client: Client, recorder: Recorder) -> None:
        await client.sleep(1500)
        preemptor = Pod.of("q")
        recorder.note(POD, "Preempted", "by q", "Warning", action="Preempting", related=preemptor)

    (event,), played = said_by(do)
    assert event.involved == Reference("v1", "Pod", "p", "default", "u1", Revision("7"))
    assert event.related == Reference("v1", "Pod", "q", "default")
    assert (event.type, event.reason, event.message) == ("Warning", "Preempted", "by q")
    assert (event.action, event.event_ms, event.series) == ("Preempting", 1500, None)
    assert (event.reporting_component, event.reporting_instance) == ("scheduler", "alpha")
    assert event.meta.name.startswith("p.")
    assert len(event.meta.name) == len("p.") + 16
    assert not played.every("answer alpha/main create events/*")


@pytest.mark.spec("API-49")
def test_what_is_said_again_is_folded() -> None:
    """The first repetition is one patch, with count 2 and the old text; later ones are silent."""

    async def do(client: Client, recorder: Recorder) -> None:
        for number in range(5):
            recorder.note(POD, "FailedScheduling", f"attempt {number}")
            await client.sleep(MINUTE_MS)

    (event,), played = said_by(do)
    assert event.message == "attempt 0"
    assert event.series is not None
    assert (event.series.count, event.series.last_ms) == (2, MINUTE_MS)
    assert [str(s.sentence).split()[2] for s in played.every("serve *")] == ["create", "patch"]


@pytest.mark.spec("API-49")
def test_a_series_ends_when_nothing_was_said_for_minutes() -> None:
    """Its last count is written then, and what is said after that is an Event of its own; so is
    what was said but once."""

    async def do(client: Client, recorder: Recorder) -> None:
        for _ in range(4):
            recorder.note(POD, "FailedScheduling", "full")
        recorder.note(POD, "Scheduled", "once")
        await client.sleep(SERIES_MS + 1)
        for reason in ("FailedScheduling", "Scheduled"):
            recorder.note(POD, reason, "again")

    events, _ = said_by(do)
    counts = [(e.reason, e.message, e.series.count if e.series else 0) for e in events]
    assert sorted(counts) == [
        ("FailedScheduling", "again", 0), ("FailedScheduling", "full", 4),
        ("Scheduled", "again", 0), ("Scheduled", "once", 0),
    ]  # fmt: skip


@pytest.mark.spec("API-49")
def test_a_series_that_goes_on_is_written_now_and_then() -> None:
    """Once in half an hour, so that it does not expire; by `keep_up` even if nothing is noted."""

    async def do(client: Client, recorder: Recorder) -> None:
        for _ in range((REFRESH_MS + 2 * SERIES_MS) // MINUTE_MS):
            recorder.note(POD, "FailedScheduling", "full")
            await client.sleep(MINUTE_MS)

    (event,), played = said_by(do)
    assert len(played.every("serve * patch *")) == 2
    assert event.series is not None
    assert event.series.count > REFRESH_MS // MINUTE_MS

    async def quiet(client: Client, recorder: Recorder) -> None:
        for _ in range(3):
            recorder.note(POD, "FailedScheduling", "full")
        task = client.spawn("events", recorder.keep_up)
        await client.sleep(3 * SERIES_MS)
        client.cancel(task)

    (event,), _ = said_by(quiet)
    assert event.series is not None
    assert event.series.count == 3


@pytest.mark.spec("API-49")
def test_a_long_message_is_cut_short() -> None:
    """To 1024 characters, as the scheduler does; one of exactly that length is left alone."""

    async def do(_: Client, recorder: Recorder) -> None:
        recorder.note(POD, "Long", "x" * (MESSAGE_MAX + 1))
        recorder.note(POD, "Fits", "x" * MESSAGE_MAX)

    long, fits = sorted(said_by(do)[0], key=lambda event: event.reason != "Long")
    assert (len(long.message), long.message[-5:]) == (MESSAGE_MAX, "x ...")
    assert fits.message == "x" * MESSAGE_MAX


@pytest.mark.spec("API-49")
@each_row("verb", ["get", "list", "watch"])
def test_nobody_decides_by_events(verb: str) -> None:
    """An actor that reads one breaches the claim, which names the actor and what it asked."""
    made = world_with(lambda client: reads(client, verb))
    play(made, is_held=False)
    (violation,) = made.verdict.violations  # type: ignore[union-attr]
    assert violation.invariant == "nobody_decides_by_events"
    assert violation.said.startswith(f"alpha/main reads Events: {verb} events")


async def reads(client: Client, verb: str) -> None:
    """Read an Event, or all."""
    within = ("none", "default") if verb == "get" else ("", "")
    await client.ask(Operation(verb, "events", *within))
