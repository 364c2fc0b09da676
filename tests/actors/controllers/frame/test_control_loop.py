"""The control loop: syncs what has changed, again what has failed, and nothing before it knows."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.controllers.frame.control_loop import ControlLoop, KeyedController
from testbed import Client
from testbed.errors import Unavailable
from testbed.objects import Event, Node, Note
from tests.shared.stage import play, world_of

SEEN: list[tuple[int, str]] = []


class Marking(ControlLoop):
    """Writes down when it syncs which note; fails for as long as the note says so."""

    def __init__(self, settings: KeyedController, client: Client) -> None:
        super().__init__(settings, client)
        self.notes = self.cache(Note, reads=("data",))
        self.notes.on(add=self.want, update=self.want)
        self.cache(Node, reads=())
        self.tries = 0

    async def sync(self, key: str) -> None:
        """Fail twice if the note says so."""
        assert all(cache.has_synced for cache in self._caches)
        SEEN.append((self.client.now(), key))
        self.note(self.notes.items[key], "Synced", "once more")
        if "fails" in self.notes.items[key].data and self.tries < 2:
            self.tries += 1
            raise Unavailable("try again")


@attrs.frozen
class Marker(KeyedController):
    """A controller of notes."""

    loop = Marking


def synced(*notes: Note, **given: Any) -> tuple[list[tuple[int, str]], int]:
    """When which note was synced, and how many Events there are."""

    async def user(client: Client) -> None:
        for note in notes:
            await client.create(note)
        await client.sleep(100)

    SEEN.clear()
    world = world_of(user=user)
    world.serve(ApiServer)
    world.start(Marker("marker", **given))
    play(world)
    return list(SEEN), len(world.store.snapshot(f"{Event.plural}/"))


@pytest.mark.spec("CTL-1")
def test_what_has_changed_is_synced_once_all_is_known() -> None:
    """Each note once; the Event of each is written."""
    assert synced(Note("a"), Note("b")) == ([(0, "notes/default/a"), (0, "notes/default/b")], 2)


@pytest.mark.spec("CTL-1")
def test_what_has_failed_is_synced_again_after_a_backoff() -> None:
    """After 5 ms, and after 10 ms more; it does not end the actor."""
    key = "notes/default/a"
    assert synced(Note("a", data={"fails": "yes"}))[0] == [(0, key), (5, key), (15, key)]


def test_events_can_be_switched_off() -> None:
    """They only make Runs longer."""
    assert synced(Note("a"), switches={"events": "off"})[1] == 0
