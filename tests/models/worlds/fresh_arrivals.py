"""Fresh arrivals: incidents in which something had been sent in time, and came too late.

All that the actors had read was true when they acted, or a rule of the server would have made up
for it. The cause of each was written down before its story was read;
`tests/story/test_fresh_causes.py` holds the stories against it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from testbed import ApiError, Client, Evidence, StoreEndpoint, World, always
from testbed.objects import Pod
from tests.models import planted
from tests.models.incidents import note
from tests.shared.stage import Puppet

# -- a rule of the server would have refused it ---------------------------------------------------


async def mourn(client: Client) -> None:
    """Say so when no pod is left."""
    for _ in range(3):
        await client.sleep(1000, "look")
        if not (await client.list(Pod)).items:
            client.record("outage")
            return


def no_outage(see: Evidence) -> str | None:
    """None was recorded."""
    found = [record for record in see.records if record.name == "outage"]
    return "watchman recorded an outage" if found else None


# -- no rule, but in the other order nothing would have broken ------------------------------------


async def archive(client: Client) -> None:
    """Mark the job as archived."""
    with suppress(ApiError):
        await client.update(note("job", archived="yes"), whatever_it_was=True)


async def clean(client: Client) -> None:
    """Delete the job, whatever it is by then."""
    await client.delete(note("job"), whatever_it_was=True)


def kept(*, is_ever: bool) -> Callable[[Evidence], str | None]:
    """A job is deleted only when it is archived, or never."""

    def check(see: Evidence) -> str | None:
        for change in see.changes:
            old: Any = change.old
            if change.new is None and old and (is_ever or not old.value.data["archived"]):
                return f"{change.key} is gone, archived {old.value.data['archived'] or 'never'}"
        return None

    return check


def late_archive(world: World) -> None:
    """TRUTH: cleaner deleted the job before archivist's update of it came, and that was refused."""
    world.serve(StoreEndpoint)
    world.add(note("job", archived=""))
    world.start(Puppet("archivist", archive), Puppet("cleaner", clean))
    world.claim(always(kept(is_ever=False)))


def no_matter(world: World) -> None:
    """The same, but that a job may never be deleted: then it does not matter what came too late."""
    world.serve(StoreEndpoint)
    world.add(note("job", archived=""))
    world.start(Puppet("archivist", archive), Puppet("cleaner", clean))
    world.claim(always(kept(is_ever=True)))
    world.needs_no_race = "cleaner deletes it in any"


def outage(world: World) -> None:
    """TRUTH: as in late_report; watchman only says that no pod is left."""
    does = {"kubelet": planted.reports, "north": planted.drainer("web-1")}
    does |= {"south": planted.drainer("web-2"), "watchman": mourn}
    world.add(planted.web("web-1", is_running=True), planted.web("web-2", is_running=False))
    planted.guarded(world, planted.budget(), no_outage, does)
