"""Fresh operators: incidents of small controllers, as a newcomer writes them on the first day.

Each counts, cleans up or keeps a bucket by its own informer. The cause of each was written down
before its story was read; `tests/story/test_fresh_causes.py` holds the stories against it.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from actors.apiserver import ApiServer
from testbed import ApiError, Cache, Client, Evidence, StoreEndpoint, World, quiescent
from testbed.faults.crash import Crash
from testbed.objects import ConfigMap, Meta, Note, Owner, Pod
from tests.models.incidents import note, notes_of
from tests.shared.stage import Puppet

FINALIZER = "example.com/bucket"

# -- a Cache that lacks the actor's own writes ----------------------------------------------------


async def count_by_cache(client: Client) -> None:
    """Add one, twice."""
    notes = Cache(client, Note)
    await notes.synced()
    for _ in range(2):
        if (old := notes.get("n", "default")) is not None:
            await client.update(old.saying(c=str(int(old.data["c"]) + 1)), whatever_it_was=True)


async def count_by_read(client: Client) -> None:
    """Add one to what was read."""
    old = await client.get(Note, "n")
    await client.update(old.saying(c=str(int(old.data["c"]) + 1)), whatever_it_was=True)


def two_are_counted(see: Evidence) -> str | None:
    """Each of two turns counts."""
    counted = notes_of(see)["n"].data["c"]
    return f"counted {counted} of 2" if counted != "2" else None


def adds_to_its_own(world: World) -> None:
    """A counter adds to what its informer shows.

    TRUTH: counter updated the note to what it was by a Cache without its own last update.
    """
    world.serve(StoreEndpoint)
    world.add(note("n", c="0"))
    world.start(Puppet("counter", count_by_cache))
    world.claim(quiescent(two_are_counted, reads=()))
    world.needs_no_race = "its watch never tells it in time"


def counted_twice(world: World) -> None:
    """Two count by what they read.

    TRUTH: one updated the note to what it was, for it had read it before the other had updated it.
    """
    world.serve(StoreEndpoint)
    world.add(note("n", c="0"))
    world.start(Puppet("ann", count_by_read), Puppet("ben", count_by_read))
    world.claim(quiescent(two_are_counted, reads=()))


# -- by what the act itself speaks of -------------------------------------------------------------


async def collect(client: Client) -> None:
    """Delete each pod whose owner is not there."""
    seen = client.queue("pods", idle=True)
    owners, pods = Cache(client, Note), Cache(client, Pod)
    pods.on(add=seen.put)
    await owners.synced()
    while True:
        pod = await seen.get()
        if owners.get(pod.meta.owners[0].name, "default") is None:
            await client.delete(pod, whatever_it_was=True)


async def make_owned(client: Client) -> None:
    """Make an owner, and then its pod."""
    owner = await client.create(Note("set"))
    owners = (Owner("v1", "Note", "set", uid=owner.meta.uid),)
    await client.create(Pod(Meta("p", "default", owners=owners)))
    client.record("made")


def what_has_an_owner_stays(see: Evidence) -> str | None:
    """A pod with an owner is not collected."""
    is_made = any(record.name == "made" for record in see.records)
    is_gone = is_made and see.store.peek("pods/default/p") is None
    return "p has its owner, and was collected" if is_gone else None


def collected(world: World) -> None:
    """A garbage collector looks for owners in its informer.

    TRUTH: gc deleted the pod not knowing of the owner that maker had made before it.
    """
    world.serve(StoreEndpoint)
    world.start(Puppet("gc", collect), Puppet("maker", make_owned))
    world.claim(quiescent(what_has_an_owner_stays, reads=()))


# -- a bucket and its finalizer -------------------------------------------------------------------


async def keep_buckets(client: Client, *, is_bucket_first: bool) -> None:
    """Keep a bucket for each ConfigMap, and remove it when the ConfigMap is to go."""
    news = client.queue("news", idle=True)
    maps = Cache(client, ConfigMap)
    maps.on(add=news.put, update=lambda _, new: news.put(new))
    while True:
        item = await news.get()
        bucket, finalizers = Note(f"bucket-{item.meta.name}"), item.meta.finalizers
        with suppress(ApiError):
            if item.meta.is_terminating:
                with suppress(ApiError):
                    await client.delete(bucket, whatever_it_was=True)
                await client.update(item.with_meta(finalizers=()))
            elif FINALIZER in finalizers:
                if not is_bucket_first:
                    await client.create(bucket)
            else:
                if is_bucket_first:
                    await client.create(bucket)
                await client.update(item.with_meta(finalizers=(FINALIZER,)))


async def use_and_delete(client: Client) -> None:
    """Make a ConfigMap, and delete it a second later."""
    item = await client.create(ConfigMap("db"))
    await client.sleep(1000, "use")
    await client.delete(item, whatever_it_was=True)


def no_bucket_is_orphaned(see: Evidence) -> str | None:
    """A bucket has its ConfigMap."""
    for name in notes_of(see):
        name = name.removeprefix("bucket-")
        if see.store.peek(f"configmaps/default/{name}") is None:
            return f"bucket of {name} is left behind"
    return None


def _buckets(world: World, *, is_bucket_first: bool) -> None:
    world.serve(ApiServer)
    keep = partial(keep_buckets, is_bucket_first=is_bucket_first)
    world.start(Puppet("user", use_and_delete), Puppet("op", keep))
    world.claim(quiescent(no_bucket_is_orphaned, reads=()))


def late_bucket(world: World) -> None:
    """An operator makes a bucket, and adds its finalizer after that.

    TRUTH: op created the bucket of a ConfigMap that user had deleted; that its update was then
    refused is only a symptom.
    """
    _buckets(world, is_bucket_first=True)


def of_a_dead_life(world: World) -> None:
    """An operator adds its finalizer first, and may crash.

    TRUTH: what op had sent before it crashed created the bucket after its next life had looked for
    the bucket to delete it; the delete of user believed nothing of finalizers.
    """
    _buckets(world, is_bucket_first=False)
    world.allow(Crash("op", restart_after_ms=2000))


# -- what was refused is the cause, after all -----------------------------------------------------


async def beat_and_finish(client: Client) -> None:
    """Say that it is alive, and finish a job by what was read before that."""
    job, pulse = await client.get(Note, "job"), await client.get(Note, "pulse")
    await client.update(pulse.saying(beats="1"), whatever_it_was=True)
    with suppress(ApiError):
        await client.update(job.saying(state="done"))


async def tag(client: Client) -> None:
    """Tag the job."""
    await client.update((await client.get(Note, "job")).saying(tag="x"), whatever_it_was=True)


def the_job_is_done(see: Evidence) -> str | None:
    """In the end the job is done."""
    return None if notes_of(see)["job"].data["state"] == "done" else "job is never done"


def alive_and_refused(world: World) -> None:
    """A worker that says that it is alive before it writes what it has done.

    TRUTH: worker's update of the job was refused, for tagger had updated it; that it said that it
    was alive in between is no part of that.
    """
    world.serve(StoreEndpoint)
    world.add(note("job", state="", tag=""), note("pulse", beats="0"))
    world.start(Puppet("worker", beat_and_finish), Puppet("tagger", tag))
    world.claim(quiescent(the_job_is_done, reads=()))
