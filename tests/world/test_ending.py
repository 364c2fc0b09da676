"""Why a Run ends: at rest, stuck, by a breach, at a limit; and what is judged before."""

from __future__ import annotations

import io

import pytest

from testbed.chooser import CUT, Cut
from testbed.choosers.calm import Calm
from testbed.client.cache import Cache
from testbed.client.client import Client, Task
from testbed.faults.crash import Crash
from testbed.invariant import Evidence, always, quiescent
from testbed.objects import Note
from testbed.turns.option import PICK
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import Doing, note, world_of
from tests.shared.strike import Raises

DRIVERS = ("trio", "direct")
pytestmark = pytest.mark.parametrize("driver", DRIVERS)


async def ticks(client: Client) -> None:
    """Lets time pass, for ever, and looks at its clock."""
    while True:
        client.now()
        await client.sleep(10)


async def spins(client: Client) -> None:
    """Goes on for ever, in no time."""
    while True:
        await client.sleep(0)


def end_of(verdict: Verdict) -> tuple[str, str]:
    """Its outcome, and why."""
    return verdict.outcome, verdict.end


# -- at rest ------------------------------------------------------------------------------------


def test_a_run_ends_when_nothing_can_move(driver: str) -> None:
    """All actors have returned; a World without actors ends before it begins."""

    async def main(client: Client) -> None:
        await client.sleep(5)

    verdict = world_of(alpha=main).run(Calm(), driver=driver)
    assert (end_of(verdict), verdict.turns, verdict.virtual_ms) == (("held", "quiet"), 2, 5)
    verdict = World().run(Calm(), driver=driver)
    assert (end_of(verdict), verdict.turns) == (("held", "quiet"), 0)


def test_who_waits_for_a_watch_or_an_idle_inbox_is_at_rest(driver: str) -> None:
    """Both may rightly never come; so may whichever is the first of several, if one of them may:
    who waits for work, or to be stopped, is at rest."""

    async def main(client: Client) -> None:
        async def watches() -> None:
            stream = await client.watch(Note, (await client.list(Note)).revision)
            await stream.next()

        async def either() -> None:
            stream = await client.watch(Note, (await client.list(Note)).revision)
            await client.first(stream.next(), client.signal("stop").wait())

        Cache(client, Note)
        client.spawn("watches", watches)
        client.spawn("either", either)
        await client.queue(idle=True).get()

    world = world_of(alpha=main)
    world.add(note())
    assert end_of(world.run(Calm(), driver=driver)) == ("held", "quiet")


async def waits_for_a_queue(client: Client) -> None:
    """For an inbox that is to be filled."""
    await client.queue("inbox").get()


async def waits_for_a_signal(client: Client) -> None:
    """For some task to be ready."""
    await client.signal("ready").wait()


async def waits_for_itself(client: Client) -> None:
    """For its own end, by way of another task."""
    tasks: list[Task] = []

    async def other() -> None:
        await client.join(tasks[0])

    tasks.append(client.spawn("one", other))
    tasks.append(client.spawn("two", other))


async def waits_for_either(client: Client) -> None:
    """For the one or the other, neither of which is a rest."""
    await client.first(client.queue("inbox").get(), client.signal("ready").wait())


async def waits_for_its_own_timer(client: Client) -> None:
    """For an inbox that another of its tasks fills after a second."""
    inbox = client.queue("inbox")

    async def fills() -> None:
        await client.sleep(1000)
        inbox.put("item")

    client.spawn("fills", fills)
    await inbox.get()


STUCK = [
    (waits_for_a_queue, "alpha/main waits for queue alpha/inbox"),
    (waits_for_a_signal, "alpha/main waits for signal alpha/ready"),
    (waits_for_itself, "alpha/one waits for join alpha/one; alpha/two waits for join alpha/one"),
    (waits_for_either, "alpha/main waits for queue alpha/inbox or signal alpha/ready"),
]


@each_row(("main", "said"), STUCK, ids=[main.__name__ for main, _ in STUCK])
def test_a_stuck_run_says_who_waits_for_what(driver: str, main: Doing, said: str) -> None:
    """It is Violated: `nobody_is_stuck` is claimed of every World."""
    verdict = world_of(alpha=main).run(Calm(), driver=driver)
    assert end_of(verdict) == ("violated", "stuck")
    (violation,) = verdict.violations
    assert violation.invariant == "nobody_is_stuck"
    assert violation.said == f"nothing can move, and {said}"


def test_a_dead_actor_is_not_stuck(driver: str) -> None:
    """What it waited for no longer matters."""
    world = world_of(alpha=waits_for_a_queue, beta=ticks)
    world.allow(Crash("alpha"))
    world.limit(virtual_ms_max=50)

    class Strikes(Calm):
        def choose(self, options: Options | Alternatives) -> int:
            return options.ready if options.faults else 0

    assert world.run(Strikes(), driver=driver).outcome == "undecided"


def test_a_deadlock_that_time_resolves_is_none(driver: str) -> None:
    """As long as a task has a timer, it may yet move the others."""
    verdict = world_of(alpha=waits_for_its_own_timer).run(Calm(), driver=driver)
    assert end_of(verdict) == ("held", "quiet")


# -- violated -----------------------------------------------------------------------------------


def broken(see: Evidence) -> str | None:
    """Nothing may be called `bad`."""
    return "there it is" if see.store.peek("notes/default/bad") else None


async def breaks(client: Client) -> None:
    """Does what it must not, and goes on."""
    await client.sleep(5)
    await client.create(note("bad"))
    await client.sleep(5)
    raise ValueError


def test_a_breach_ends_the_run_at_the_turn_it_was_found(driver: str) -> None:
    """Before its caller gets the answer, and so before anything else happens."""
    world = world_of(alpha=breaks)
    world.claim(always(broken))
    verdict = world.run(Calm(), driver=driver)
    assert (end_of(verdict), verdict.turns, verdict.virtual_ms) == (
        ("violated", "violated"), 3, 5,
    )  # fmt: skip
    assert [str(v) for v in verdict.violations] == ["broken: there it is (step 3, 5 ms)"]


def test_a_run_that_goes_on_after_a_breach_tells_each_claim_once(driver: str) -> None:
    """It comes to its own end, or to a limit, and is Violated all the same."""
    limit = "turns_max: 4 turns were played; alpha would go on"
    for limits, end in (({}, "quiet"), ({"turns_max": 4}, limit)):
        world = world_of(alpha=breaks)
        world.claim(always(broken))
        world.goes_on = True
        world.limit(**limits)
        verdict = world.run(Calm(), driver=driver)
        assert verdict.outcome == "violated"
        assert verdict.end.startswith(end)
        names = [violation.invariant for violation in verdict.violations]
        assert names == ["broken", "no_actor_dies"][: 1 if limits else 2]


def test_a_breach_in_the_last_turn_is_a_breach(driver: str) -> None:
    """Also if nothing is left to do after it: it was found in a turn, not at rest."""

    async def main(client: Client) -> None:
        raise ValueError

    verdict = world_of(alpha=main).run(Calm(), driver=driver)
    assert end_of(verdict) == ("violated", "violated")


def test_claims_are_judged_before_anything_is_torn_down(driver: str) -> None:
    """At rest, at a breach: what an actor does in its `finally` is not part of the Run."""
    seen: list[object] = []

    def looks(see: Evidence) -> str | None:
        (role,) = see.actors
        assert role.life is not None
        seen.append((role.is_up, sorted(role.life.seats), list(ended)))
        return None

    ended: list[str] = []

    async def main(client: Client) -> None:
        await client.create(note())
        try:
            await client.queue(idle=True).get()
        finally:
            ended.append("main")

    world = world_of(alpha=main)
    world.claim(quiescent(looks))
    assert world.run(Calm(), driver=driver).is_held
    assert seen == [(True, ["alpha/main"], [])]
    assert ended == ["main"]


CLOCK = (
    "alpha looks at a clock. To judge it up to a time, say world.limit(until_ms=45_000) or "
    '--limit until_ms=45s (docs/testing.md, "Programs that never rest")'
)
"""Why it never rests, and what to do about it."""


# -- limits -------------------------------------------------------------------------------------


@each_row(
    ("main", "limits", "said"),
    [
        (ticks, {"turns_max": 50}, f"turns_max: 50 turns were played; alpha would go on; {CLOCK}"),
        (
            ticks,
            {"virtual_ms_max": 95},
            f"virtual_ms_max: of 95 ms; next would be 100 ms; {CLOCK}",
        ),
        (
            spins,
            {"instant_turns_max": 1000},
            "instant_turns_max: 1,000 turns without time passing: alpha in a lasso, each move "
            "making the next",
        ),
    ],
    ids=["turns", "time", "instant"],
)
def test_a_limit_is_a_verdict(driver: str, main: Doing, limits: dict[str, int], said: str) -> None:
    """Undecided, and which limit it was: never a hang."""
    world = world_of(alpha=main)
    world.limit(**limits)
    verdict = world.run(Calm(), driver=driver)
    assert end_of(verdict) == ("undecided", said)
    assert str(verdict).startswith(f"Undecided: {said}. Looked at: 1 run (calm), ")


def test_every_run_has_limits_nobody_asked_for(driver: str) -> None:
    """An actor that never ends does not keep us."""
    assert "instant_turns_max: 10,000" in world_of(alpha=spins).run(Calm(), driver=driver).end
    assert "virtual_ms_max: of 86,400,000" in world_of(alpha=long).run(Calm(), driver=driver).end


async def long(client: Client) -> None:
    """Sleeps an hour, for ever, and looks at its clock."""
    while True:
        client.now()
        await client.sleep(3_600_000)


def test_a_limit_that_is_just_not_reached_is_none(driver: str) -> None:
    """No more turns are played, and no more time passes, than the limit says."""

    async def main(client: Client) -> None:
        for _ in range(4):
            await client.sleep(10)

    for limits in ({"turns_max": 5}, {"virtual_ms_max": 40}, {"instant_turns_max": 2}):
        world = world_of(alpha=main)
        world.limit(**limits)
        assert end_of(world.run(Calm(), driver=driver)) == ("held", "quiet")
    for limits in ({"turns_max": 4}, {"virtual_ms_max": 39}):
        world = world_of(alpha=main)
        world.limit(**limits)
        assert world.run(Calm(), driver=driver).outcome == "undecided"


def test_picks_are_no_turns(driver: str) -> None:
    """They do not count as turns, neither for the limit nor in the verdict."""

    async def main(client: Client) -> None:
        for _ in range(4):
            for n in range(5):
                client.pick(f"n{n}", [1, 2])
            await client.sleep(10)

    world = world_of(alpha=main)
    world.limit(turns_max=5)
    verdict = world.run(Calm(), driver=driver)
    assert (end_of(verdict), verdict.turns) == (("held", "quiet"), 5)


def test_a_lasso_names_all_who_are_in_it(driver: str) -> None:
    """Two actors that feed each other without a timer starve the others within one instant."""

    def turns(mine: str, other: str) -> Doing:
        async def main(client: Client) -> None:
            cache = Cache(client, Note)

            def answer(*_: Note) -> None:
                told.put(None)

            told = client.queue(idle=True)
            cache.on(update=answer)
            await cache.synced()
            if mine < other:
                told.put(None)
            n = 0
            while True:
                await told.get()
                n += 1
                await client.update(note("n", **{mine: str(n)}), whatever_it_was=True)

        return main

    world = world_of(alpha=turns("a", "b"), beta=turns("b", "a"), gamma=ticks)
    world.add(note())
    world.limit(instant_turns_max=200)
    verdict = world.run(Calm(), driver=driver)
    assert verdict.end.startswith("instant_turns_max: 200 turns without time passing: alpha and be")


def test_time_that_passes_ends_an_instant(driver: str) -> None:
    """The limit of one instant is counted from zero in the next."""

    async def main(client: Client) -> None:
        for _ in range(10):
            for _ in range(20):
                await client.sleep(0)
            await client.sleep(1)

    world = world_of(alpha=main)
    world.limit(instant_turns_max=30)
    assert world.run(Calm(), driver=driver).is_held


def test_a_trace_that_grows_too_large_ends_the_run(driver: str) -> None:
    """Counted while it is written; one that is not read has no size."""
    for sink in (io.BytesIO(), None):
        world = world_of(alpha=ticks)
        world.limit(trace_bytes_max=10_000, turns_max=500)
        verdict = world.run(Calm(), driver=driver, trace=Trace({}, sink=sink))
        said = "trace_bytes_max: 10,000 bytes were written" if sink else "turns_max: 500 turns"
        assert verdict.end.startswith(said)
        if sink:
            assert 10_000 < len(sink.getvalue()) < 11_000


# -- cut ----------------------------------------------------------------------------------------


class Cuts(Calm):
    """Cuts the Run short at its fourth turn, or at its first pick."""

    def __init__(self, *, at_pick: bool) -> None:
        self.at_pick = at_pick
        self.turns = 0

    def choose(self, options: Options | Alternatives) -> int | Cut:  # type: ignore[override]
        if options[0].kind == PICK:
            return CUT if self.at_pick else 0
        self.turns += 1
        return CUT if self.turns == 4 and not self.at_pick else 0


def test_a_chooser_may_cut_a_run_short(driver: str) -> None:
    """It is Undecided: the Run adds nothing. A turn that was begun is played to its end."""

    async def main(client: Client) -> None:
        await client.sleep(1)
        client.record("picked", what=client.pick("what", ["a", "b"]))
        await client.sleep(1)
        await client.sleep(1)

    for at_pick, turns in ((False, 3), (True, 2)):
        world = world_of(alpha=main)
        verdict = world.run(Cuts(at_pick=at_pick), driver=driver)
        assert end_of(verdict) == ("undecided", "cut: the chooser ended this run")
        assert verdict.turns == turns
        assert [record.facts for record in world.evidence.records] == [{"what": "a"}]


# -- interrupted --------------------------------------------------------------------------------


def test_an_interrupt_is_told_as_one_wherever_it_was_raised(driver: str) -> None:
    """In an actor, or in a Chooser while the World decides: the trace ends with the turns that were
    played, so that it can be replayed as far as it goes."""

    async def interrupts(client: Client) -> None:
        await client.sleep(1)
        raise KeyboardInterrupt

    for world, chooser, turns in (
        (world_of(alpha=ticks), Raises(3, KeyboardInterrupt()), 3),
        (world_of(alpha=interrupts), Calm(), 2),
    ):
        trace = Trace({}, keep=True)
        with pytest.raises(KeyboardInterrupt):
            world.run(chooser, driver=driver, trace=trace)
        assert trace.end is not None
        assert trace.end["end"] == f"interrupted after turn {turns}"
        assert len(trace.steps) == turns
