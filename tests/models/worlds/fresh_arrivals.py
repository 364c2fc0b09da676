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
from testbed.objects import Note, Pod
from tests.models import planted
from tests.models.incidents import note, notes_of
from tests.shared.stage import Puppet

# -- a rule of the server would have refused it ---------------------------------------------------


def late_report(world: World) -> None:
    """TRUTH: south evicted the last pod, which no budget counts as long as it is Pending: kubelet's
    report that it runs was on its way. With that the budget would have refused the eviction."""
    planted.budget_and_kubelet(world, guard=True)


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


async def forbid(client: Client) -> None:
    """From now on no update is allowed."""
    await client.update(note("config", updates="never"), whatever_it_was=True)


async def sign(client: Client) -> None:
    """Sign the list, if that is allowed."""
    with suppress(ApiError):
        seen = await client.get(Note, "list")
        await client.update(seen.saying(signed=client.name))


def nothing_is_signed(see: Evidence) -> str | None:
    """Nobody signs."""
    signed = notes_of(see)["list"].data["signed"]
    return f"notes/default/list is signed by {signed}" if signed else None


def late_policy(world: World) -> None:
    """TRUTH: zoe signed before admin's update of the config came, after which the server would have
    refused it."""
    world.serve(lambda store: planted.Office(store, "office"))
    world.add(note("list", signed=""), note("config", updates="yes"))
    world.start(Puppet("admin", forbid), Puppet("zoe", sign), at="office")
    world.claim(always(nothing_is_signed))


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


async def sign_twice(client: Client) -> None:
    """Sign the list whatever it is; forbid updates, and try to sign it again."""
    for _ in range(2):
        with suppress(ApiError):
            await client.update(note("list", signed=client.name), whatever_it_was=True)
            await forbid(client)


async def prepare(client: Client) -> None:
    """Make the list ready to be signed."""
    with suppress(ApiError):
        await client.update(note("list", signed="", ready="yes"), whatever_it_was=True)


def signed_when_ready(see: Evidence) -> str | None:
    """The list is signed only after it was ready."""
    for change in see.changes:
        old: Any = change.old
        if change.key == "notes/default/list" and old and not any(old.value.data.values()):
            new: Any = change.new
            if new.value.data["signed"]:
                return f"{change.key} is signed, and was not ready"
    return None


def late_preparation(world: World) -> None:
    """TRUTH: zoe signed before printer's update of the list came. That zoe is refused when it signs
    again has nothing to do with it."""
    world.serve(lambda store: planted.Office(store, "office"))
    world.add(note("list", signed=""), note("config", updates="yes"))
    world.start(Puppet("printer", prepare), Puppet("zoe", sign_twice), at="office")
    world.claim(always(signed_when_ready))


def no_matter(world: World) -> None:
    """The same, but that a job may never be deleted: then it does not matter what came too late."""
    world.serve(StoreEndpoint)
    world.add(note("job", archived=""))
    world.start(Puppet("archivist", archive), Puppet("cleaner", clean))
    world.claim(always(kept(is_ever=True)))
    world.needs_no_race = "cleaner deletes it in any"


def nothing_is_archived(see: Evidence) -> str | None:
    """No job is archived."""
    for change in see.changes:
        new: Any = change.new
        if new and new.value.data["archived"]:
            return f"{change.key} is archived"
    return None


def either_way(world: World) -> None:
    """The same as late_archive, but that a job may not be archived: then either order breaks a
    claim, and it helps nobody that one write had been sent in time."""
    late_archive(world)
    world.claim(always(nothing_is_archived))
    world.needs_no_race = "archivist archives it in any"


def outage(world: World) -> None:
    """TRUTH: as in late_report; watchman only says that no pod is left."""
    does = {"kubelet": planted.reports, "north": planted.drainer("web-1")}
    does |= {"south": planted.drainer("web-2"), "watchman": mourn}
    world.add(planted.web("web-1", is_running=True), planted.web("web-2", is_running=False))
    planted.guarded(world, planted.budget(), no_outage, does)
