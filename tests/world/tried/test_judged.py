"""Judged: in which Runs nothing was tried, so that none of them is Held."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

import pytest

from testbed import ApiError, Cache, Calm, Client, Evidence, World, always, eventually, quiescent
from testbed.errors import Forbidden, Invalid
from testbed.faults.crash import Crash
from testbed.invariant import Invariant
from testbed.objects.note import Note
from testbed.store.endpoint import Handler, Operation
from testbed.store.store_endpoint import READS, StoreEndpoint
from testbed.turns.pending import Alternatives, Options
from testbed.world.tried.judged import tried_in
from testbed.world.tried.saying import figures, notable
from tests.each_row import each_row
from tests.shared.stage import Doing, Puppet, note, world_of


class Guarded(StoreEndpoint):
    """Refuses each write of alpha."""

    is_front = True
    error: ApiError = Forbidden('notes "web-1" is forbidden: may not use a numeric priority')

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Refuse it, as admission does."""
        if operation.verb not in READS and caller == "alpha":
            raise self.error
        return super().handle(operation, caller, now_ms)


async def does_nothing(client: Client) -> None:
    """Returns at once."""


async def looks(client: Client) -> None:
    """Fills a Cache, as a controller does, and does nothing about it."""
    await Cache(client, Note).synced()
    await client.sleep(1000)


async def insists(client: Client) -> None:
    """Tries again and again to write."""
    for _ in range(15):
        with suppress(ApiError):
            await client.create(note("b"))
        await client.sleep(1000)


async def tells(client: Client) -> None:
    """Records what it has read."""
    client.record("read", count=len((await client.list(Note)).items))


async def writes(client: Client) -> None:
    """Gets something done."""
    await client.create(note("b"))


def all_is_well(see: Evidence) -> str | None:
    """Looks at the notes."""
    return (
        "a bad one"
        if any(each.key.endswith("/bad") for each in see.store.snapshot("notes/"))
        else None
    )


def pods_are_well(see: Evidence) -> str | None:
    """Looks at pods, of which there is none."""
    return "a bad one" if see.store.snapshot("pods/") else None


def all_was_read(see: Evidence) -> str | None:
    """Looks at what was recorded."""
    return None if all(each.facts["count"] for each in see.records) else "nothing was read"


def caches_are_well(see: Evidence) -> str | None:
    """Looks at what actors remember."""
    return None if all(role.life and role.life.caches for role in see.actors) else "no cache"


def nothing_is_deleted(see: Evidence) -> str | None:
    """Looks at the commits of each turn."""
    return "deleted" if any(change.after is None for change in see.changes) else None


def run(doing: Doing, claims: Iterable[Invariant], endpoint: type[StoreEndpoint]) -> World:
    """A World with one actor, which has ended."""
    world = World("test")
    world.serve(endpoint)
    world.add(note())
    world.start(Puppet("alpha", doing))
    world.claim(*claims)
    world.run(Calm(), driver="direct")
    return world


NO_WRITE = "no write of alpha was served"
IN_VAIN = f"{NO_WRITE}; alpha was refused 15 × 403 may not use a numeric priority"
NO_PODS = "no claim had anything to judge: pods_are_well looks at pods, and there never was any"


@each_row(
    ("doing", "claims", "endpoint", "why"),
    [
        (does_nothing, [quiescent(all_is_well)], Guarded, NO_WRITE),
        (does_nothing, [], Guarded, NO_WRITE),
        (looks, [quiescent(all_is_well)], Guarded, NO_WRITE),
        (insists, [always(all_is_well)], Guarded, IN_VAIN),
        (insists, [], Guarded, IN_VAIN),
        (insists, [quiescent(all_was_read)], Guarded, IN_VAIN),
        (writes, [always(pods_are_well)], StoreEndpoint, NO_PODS),
        (writes, [always(pods_are_well), eventually(all_is_well)], StoreEndpoint, ""),
        (writes, [always(nothing_is_deleted)], StoreEndpoint, ""),
        (writes, [], StoreEndpoint, ""),
        (tells, [quiescent(all_was_read)], StoreEndpoint, ""),
        (looks, [quiescent(caches_are_well)], StoreEndpoint, ""),
        (looks, [], StoreEndpoint, ""),
    ],
)  # fmt: skip
def test_a_run_in_which_nothing_was_tried_is_undecided(
    doing: Doing, claims: list[Invariant], endpoint: type[StoreEndpoint], why: str
) -> None:
    """Who does nothing, who only looks though no claim looks at that, who is refused everything;
    and a claim about what never was. A right World that only reads is Held."""
    verdict = run(doing, claims, endpoint).verdict
    assert verdict is not None
    assert (verdict.outcome, verdict.nothing) == ("undecided" if why else "held", why)
    assert verdict.end == "quiet"
    said = f"Undecided: nothing was tried: {why}." if why else "Held."
    assert str(verdict).startswith(said)


def test_what_nobody_may_make_was_something_to_judge() -> None:
    """A claim that no pod comes to be judges those that were asked for and refused."""

    async def main(client: Client) -> None:
        await client.create(note("b"))
        with suppress(ApiError):
            await client.ask(Operation("create", "pods", "p", "default"))

    class NoPods(StoreEndpoint):
        is_front = True

        def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
            if operation.plural == "pods":
                raise Invalid("no pods here")
            return super().handle(operation, caller, now_ms)

    assert run(main, [always(pods_are_well)], NoPods).verdict.outcome == "held"  # type: ignore[union-attr]


def test_who_dies_at_once_is_never_held() -> None:
    """By itself it breaches a claim of every World. By a fault it is no news in this one Run, and
    is counted for the search that plays it."""

    async def dies(client: Client) -> None:
        raise ValueError("no config")

    assert run(dies, [quiescent(all_is_well)], StoreEndpoint).verdict.is_violated  # type: ignore[union-attr]

    class Strikes(Calm):
        def choose(self, options: Options | Alternatives) -> int:
            return options.ready if options.faults else 0

    async def is_late(client: Client) -> None:
        await client.sleep(5)
        await client.create(note("b"))

    world = world_of(alpha=is_late)
    world.add(note())
    world.claim(quiescent(all_is_well))
    world.allow(Crash("alpha"))
    verdict = world.run(Strikes(), driver="direct")
    assert (verdict.outcome, verdict.nothing) == ("held", NO_WRITE)
    assert tried_in(world).why_nothing == NO_WRITE


def test_what_never_happened_is_told() -> None:
    """In sentences what is notable; in figures all. Of a healthy Run nothing is notable."""
    world = run(insists, [always(all_is_well), quiescent(pods_are_well)], Guarded)
    told = tried_in(world)
    assert notable(told) == [
        "pods_are_well never had anything to judge: no pods.",
    ]
    assert "alpha: 0 writes and 0 reads served" in figures(told)
    assert notable(tried_in(run(writes, [always(all_is_well)], StoreEndpoint))) == []
    other = tried_in(run(tells, [quiescent(all_was_read)], StoreEndpoint))
    many = told.add(other)
    assert many == other.add(told) == type(told).of(many.as_data())
    assert (told.why_nothing, many.why_nothing) == (IN_VAIN, "")
    assert notable(many)[:2] == [
        "alpha never had a write served in 2 runs.",
        'alpha: 15 × 403 "may not use a numeric priority" in 2 runs.',
    ]


def test_a_record_that_never_came_is_told() -> None:
    """Of several Runs, if it came in none."""
    told = tried_in(run(writes, [quiescent(all_was_read)], StoreEndpoint))
    never = "all_was_read reads what actors record, and none recorded anything in 2 runs."
    assert notable(told) == []
    assert notable(told.add(told)) == [never]
    came = tried_in(run(tells, [quiescent(all_was_read)], StoreEndpoint))
    assert notable(told.add(came)) == []


def test_what_was_left_is_told() -> None:
    """Who had timers at the end, in the verdict; and that no time was played at all."""

    async def main(client: Client) -> None:
        await client.create(note("b"))
        await client.sleep(60_000)
        await client.delete(note("b"), whatever_it_was=True)

    world = world_of(alpha=main, beta=looks)
    world.claim(quiescent(all_is_well))
    world.limit(until_ms=10)
    verdict = world.run(Calm(), driver="direct")
    assert "0 ms virtual time (alpha and beta still had timers)" in str(verdict)
    assert notable(tried_in(world))[0] == "0 ms were played; alpha and beta still had timers."


@pytest.mark.parametrize("claim", [always, quiescent, eventually])
def test_a_claim_sees_through_the_window_what_is_there(
    claim: Callable[[Callable[[Evidence], str | None]], Invariant],
) -> None:
    """Until it has found something it is shown no more and no less than the Evidence."""
    seen: list[object] = []

    def sees(see: Evidence) -> str | None:
        store = see.store
        seen.append(
            (store.peek("notes/default/b"), store.snapshot("pods/"), len(store.log("x").changes))
        )
        seen.append((see.now_ms, len(see.records), len(see.deaths), store.revision, len(store)))
        return None

    run(writes, [claim(sees)], StoreEndpoint)
    assert len(seen) >= 2
