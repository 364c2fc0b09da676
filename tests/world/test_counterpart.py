"""Counterpart: a struck Run is held against the calm run that the same faults strike alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, ClassVar

import attrs
import pytest

from testbed import Client, World, confluent
from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.bounded import Bounded
from testbed.choosers.complete import Complete
from testbed.choosers.uniform import Uniform
from testbed.errors import (
    AlreadyExists,
    Conflict,
    Expired,
    InternalError,
    Unavailable,
    WatchBroken,
)
from testbed.fault import Fault, Levers, Way
from testbed.faults.break_watch import BreakWatch
from testbed.faults.clock_step import ClockStep
from testbed.faults.compact import Compact
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.faults.partition import Partition
from testbed.faults.restart import Restart
from testbed.faults.server_error import ServerError
from testbed.faults.stall import Stall
from testbed.objects import Map, Node, Note
from testbed.races.playing import play, race_of
from testbed.races.racefile import parse
from testbed.races.shrink import shrink
from testbed.turns.option import DELIVER, FAULT, SERVE, LetPass
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.world.counterpart import key_of_hits, play_counterpart
from testbed.world.fault_kinds import parse_fault
from testbed.world.scenario import Scenario, find, of, play_runs
from tests.models.worlds.small_worlds import Watched
from tests.shared.stage import Puppet, note

CRASH = Crash("alpha", restart_after_ms=0)


def half_again(world: World, *, guard: bool = False) -> None:
    """Alpha does its work in two halves. After a crash it does the second one only if it finds
    beta's note missing: without a crash, no order matters."""

    async def alpha(client: Client) -> None:
        work = await client.get(Note, "work")
        is_again = work.data.get("half") == "done"
        if not is_again:
            with suppress(Conflict):  # with what an earlier life had sent
                await client.update(attrs.evolve(work, data=Map(half="done")))
        elif not guard and any(item.meta.name == "b" for item in (await client.list(Note)).items):
            return
        with suppress(AlreadyExists):
            await client.create(note("second"))

    async def beta(client: Client) -> None:
        await client.create(note("b"))

    world.add(note("work"))
    world.start(Puppet("alpha", alpha), Puppet("beta", beta))
    world.claim(confluent())


def easily_put_off(world: World, *, guard: bool = False) -> None:
    """Alpha watches, and then does its work. If anything has gone wrong before, it does that only
    if it finds beta's note missing."""

    async def alpha(client: Client) -> None:
        went_wrong = False
        try:
            since = (await client.list(Note)).revision
            await client.create(note("first"))
            stream = await client.watch(Note, since=since)
            while (await stream.next()).key != "notes/default/first":
                pass
        except (Expired, WatchBroken):
            went_wrong = True
        except Unavailable:
            went_wrong = True
            await client.sleep(10, "retry")
        if went_wrong and not guard:
            items = (await client.list(Note)).items
            if any(item.meta.name == "b" for item in items):
                return
        for name in ("first", "work"):
            with suppress(AlreadyExists):
                await client.create(note(name))

    async def beta(client: Client) -> None:
        for name in ("a", "b", "b", "b"):
            try:
                await client.create(note(name))
            except AlreadyExists:
                continue
            except Unavailable:
                await client.sleep(10, "retry")

    world.start(Puppet("alpha", alpha), Puppet("beta", beta))
    world.claim(confluent())


def verdicts(
    recipe: Scenario, runs: int, *faults: Fault, chooser: Any = None, **switches: Any
) -> list[World]:
    """The Worlds of so many Runs."""
    found: list[World] = []

    def look(world: World) -> bool:
        found.append(world)
        return True

    play_runs(
        recipe, chooser or Uniform(5), look, runs_max=runs, switches=switches, faults=faults,
        driver="direct",
    )  # fmt: skip
    return found


def said(worlds: list[World]) -> set[str]:
    """All that confluent said of them."""
    return {
        v.said for world in worlds for v in world.judge.violations if v.invariant == "confluent"
    }


def test_an_order_that_matters_only_under_a_crash_is_found() -> None:
    """Held against the calm run with the same crash, what was left undone is a difference."""
    recipe = of(half_again)
    assert not said(verdicts(recipe, 200))
    assert said(verdicts(recipe, 200, CRASH)) == {
        "the calm run with the same fault ends otherwise, so the fault alone does not decide: "
        "notes/default/second is only there"
    }
    assert said(verdicts(recipe, 400, CRASH, chooser=Bounded(deviations_max=2)))


def test_with_its_guard_no_crash_raises_an_alarm() -> None:
    """Of the struck Runs, most are compared."""
    worlds = verdicts(of(half_again), 300, CRASH, guard=True)
    assert not said(worlds)
    struck = [world for world in worlds if world.hits]
    compared = [world for world in struck if not world.verdict.note]  # type: ignore[union-attr]
    assert len(compared) >= len(struck) * 3 // 4, f"{len(compared)} of {len(struck)}"


@pytest.mark.parametrize("fault", ["crash:store,restart=1ms", "compact", "break_watch:alpha"])
def test_a_struck_endpoint_store_or_watch_is_found_to_matter(fault: str) -> None:
    """An actor that gives up its work if something has gone wrong, and beta was faster: that is a
    difference; with its guard it is none, and most Runs are compared."""
    strikes = parse_fault(fault)
    assert not said(verdicts(of(easily_put_off), 50))
    found = said(verdicts(of(easily_put_off), 100, strikes))
    assert any("notes/default/work is only" in each for each in found)
    assert all("with the same fault ends otherwise, so the fault alone" in each for each in found)
    struck = [
        world for world in verdicts(of(easily_put_off), 100, strikes, guard=True) if world.hits
    ]
    assert not said(struck)
    compared = [world for world in struck if not world.verdict.note]  # type: ignore[union-attr]
    assert len(compared) >= len(struck) // 2, f"{len(compared)} of {len(struck)}"


# -- the same points ------------------------------------------------------------------------------

KINDS: list[Fault] = [
    CRASH, Stall("alpha"), Partition("alpha"), LoseReply("alpha"), LoseRequest("alpha"),
    ServerError("alpha"), ClockStep("alpha"),
]  # fmt: skip
SERVED: list[Fault] = [Crash("store", restart_after_ms=7), Compact(), BreakWatch("alpha")]
"""They strike an Endpoint, the Store's history and a watch."""


def titled(fault: Fault) -> str:
    """A name for a test of it."""
    return fault.word if fault.target in ("alpha", "*") else f"{fault.word} {fault.target}"


@pytest.mark.parametrize("fault", [*KINDS, *SERVED], ids=titled)
def test_the_counterpart_of_a_calm_struck_run_is_that_run(fault: Fault) -> None:
    """Turn by turn, wherever the fault strikes: so it strikes at the very same point."""
    recipe = of(reading if fault in SERVED[1:] else lonely)
    compared = 0
    for turn in range(1, 40):
        for number in range(2):
            chooser = AtTurn(turn, number)
            world = recipe.world(faults=[fault])
            world.run(chooser, driver="direct", trace=Trace({}, keep=True))
            if not world.hits:
                continue
            other = recipe.world(faults=[fault])
            assert not play_counterpart(other, world.hits, Trace({}, keep=True)), world.hits
            assert facts(other) == facts(world)
            assert other.hits == world.hits
            compared += 1
    assert compared >= 4


def lonely(world: World) -> None:
    """One actor that reads, writes and sleeps, and lives through whatever fails."""

    async def alpha(client: Client) -> None:
        for name in ("a", "b"):
            with suppress(Unavailable, InternalError, AlreadyExists):
                await client.list(Note)
                await client.create(note(name))
            await client.sleep(100, "rest")

    world.start(Puppet("alpha", alpha))
    world.claim(confluent())


def reading(world: World) -> None:
    """The same actor, which also hears of what it writes."""

    async def alpha(client: Client) -> None:
        for name in ("a", "b"):
            with suppress(Unavailable, InternalError, AlreadyExists, Expired):
                listing = await client.list(Note)
                await client.create(note(name))
                stream = await client.watch(Note, since=listing.revision)
                await stream.next()
                stream.close()
            await client.sleep(100, "rest")

    world.start(Puppet("alpha", alpha))
    world.claim(confluent())


class AtTurn(Chooser):
    """Calm, but that at one turn a fault strikes if any can."""

    def __init__(self, turn: int, number: int) -> None:
        self.turn, self.number = turn, number

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("at a turn")

    def choose(self, options: Options | Alternatives) -> int:
        self.turn -= 1
        if not self.turn and isinstance(options, Options) and len(options.faults) > self.number:
            return options.ready + self.number
        return 0


def facts(world: World) -> list[tuple[Any, int]]:
    """What its servers did and when; a fault has a place among that if that matters to it."""
    is_strict = all(getattr(hit.point, "crosses", False) for hit in world.hits)
    kinds = (SERVE, DELIVER, *([FAULT] if is_strict else []))
    return [(s.sentence, s.now_ms) for s in world.trace.steps if s.kind in kinds]


@pytest.mark.parametrize(
    "faults",
    [
        *([fault] for fault in (*KINDS, *SERVED[:2])),
        [Restart("alpha"), CRASH],
        [Restart("store"), Crash("store")],
        [Compact(), Crash("store", restart_after_ms=0)],
        [LoseRequest("alpha"), Compact()],
    ],
    ids=lambda faults: " and ".join(map(titled, faults)),
)
def test_runs_of_one_class_have_one_counterpart(faults: list[Fault]) -> None:
    """What a complete search takes for the same is compared with the same."""
    recipe = of(half_again)
    watched = Watched(Uniform(11))
    keys: dict[object, set[object]] = {}
    runs: dict[object, int] = {}

    def look(world: World) -> bool:
        if watched.form is not None:
            keys.setdefault(watched.form, set()).add(key_of_hits(world.hits))
            runs[watched.form] = runs.get(watched.form, 0) + bool(world.hits)
        return True

    play_runs(recipe, watched, look, runs_max=100, faults=faults, driver="direct")
    assert all(len(each) == 1 for each in keys.values())
    assert max(runs.values()) > 1


@pytest.mark.parametrize("guard", [False, True])
def test_a_complete_search_sees_what_random_runs_see(guard: bool) -> None:
    """And with the guard on, it can say that no order matters, whenever alpha crashes."""
    found = said(verdicts(of(half_again), 2_000, CRASH, chooser=Complete(), guard=guard))
    assert found == said(verdicts(of(half_again), 500, CRASH, guard=guard))
    assert bool(found) is not guard


# -- where it strikes ---------------------------------------------------------------------------


class Struck(Chooser):
    """Calm; but as soon as it may, it lets each fault strike whose time has come, in order. A time
    comes after that many turns, at a moment, or at rest."""

    def __init__(self, *when: tuple[str, int | str, int]) -> None:
        self.when = list(when)
        self.turns = 0

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("struck")

    def choose(self, options: Options | Alternatives) -> int | LetPass:
        if isinstance(options, Options) and self.when:
            key, turns, at_ms = self.when[0]
            if turns == self.turns and options.now_ms < at_ms:
                return LetPass(at_ms)
            if turns == self.turns and (found := self._found(options, key)) is not None:
                return found
        self.turns += 1
        return 0

    def strike(self, options: Options) -> int | None:
        is_now = bool(self.when) and self.when[0][1] == "rest"
        return self._found(options, self.when[0][0]) if is_now else None

    def _found(self, options: Options, key: str) -> int | None:
        for index, option in enumerate(options.faults):
            if option.key == key:
                del self.when[0]
                return options.ready + index
        return None


def compared(build: Any, chooser: Chooser, *faults: Fault) -> tuple[World, World]:
    """A struck Run, and its counterpart, which there is."""
    recipe = of(build)
    world, other = recipe.world(faults=faults), recipe.world(faults=faults)
    world.run(chooser, driver="direct", trace=Trace({}, keep=True))
    assert not play_counterpart(other, world.hits, Trace({}, keep=True))
    assert set(other.hits) == set(world.hits)
    assert world.hits
    return world, other


def says_the_time(world: World) -> None:
    """One actor that names a Note by its clock, and does no more."""

    async def alpha(client: Client) -> None:
        with suppress(AlreadyExists):
            await client.create(note(f"at-{client.now()}"))
        await client.sleep(1000, "rest")

    world.start(Puppet("alpha", alpha))
    world.claim(confluent())


def test_it_strikes_at_the_same_moment_and_not_before() -> None:
    """While nothing moves: time passes up to it, and what is begun again is begun then."""

    world, other = compared(says_the_time, Struck(("alpha", 3, 50)), CRASH)
    assert [hit.now_ms for hit in other.hits] == [50]
    assert facts(other) == facts(world)
    assert other.store.peek("notes/default/at-50") is not None


def test_a_request_of_the_next_life_is_another_one() -> None:
    """The crash comes when the first life has its answer; what is lost is sent by the second."""

    def build(world: World) -> None:
        async def alpha(client: Client) -> None:
            with suppress(Unavailable, AlreadyExists):
                await client.create(note("n"))
            await client.sleep(10, "rest")

        world.start(Puppet("alpha", alpha))
        world.claim(confluent())

    chooser = Struck(("alpha", 3, 0), ("alpha create notes/default/n", 4, 0))
    world, other = compared(build, chooser, CRASH, LoseRequest("alpha"))
    for each in (world, other):
        assert [hit.fault.word for hit in each.hits] == ["crash", "lose_request"]
    assert facts(other) == facts(world)


def test_two_faults_on_one_actor_strike_in_their_order() -> None:
    """Both could strike at once; a clock that jumps before a crash is another one for the actor."""

    faults = (Crash("alpha"), Restart("alpha"), ClockStep("alpha", by_ms=7))
    for given in (faults, faults[::-1]):
        chooser = Struck(("alpha", 3, 0), ("alpha", 3, 0))
        world, other = compared(says_the_time, chooser, *given)
        assert [hit.fault.word for hit in other.hits] == [hit.fault.word for hit in world.hits]
        assert facts(other) == facts(world)


def alike_twins(world: World) -> None:
    """Two actors that do the same at the same times, so that each comes where the other is; gamma
    is there for longer."""

    async def twin(client: Client) -> None:
        with suppress(Unavailable, InternalError, AlreadyExists, WatchBroken):
            stream = await client.watch(Note, since=(await client.list(Note)).revision)
            await client.create(note(client.name))
            await stream.next()
        await client.sleep(100, "rest")
        client.exit()

    async def gamma(client: Client) -> None:
        await client.sleep(200, "rest")

    world.latency("* notes*", serve_ms=5, answer_ms=5)
    world.start(Puppet("alpha", twin), Puppet("beta", twin), Puppet("gamma", gamma))
    world.claim(confluent())


GLOBS: list[Fault] = [
    Crash(restart_after_ms=0), Stall(), Partition(), LoseReply(), LoseRequest(), ServerError(),
    ClockStep(), BreakWatch(), Restart(),
]  # fmt: skip


@pytest.mark.parametrize("fault", GLOBS, ids=titled)
def test_of_several_targets_of_a_glob_the_same_one_is_struck(fault: Fault) -> None:
    """Whichever of two actors it was, also if both can be struck there."""
    assert fault.target == "*"
    struck = {0: set[str](), 1: set[str]()}
    for turn in range(1, 30):
        for number, targets in struck.items():
            world, other = [of(alike_twins).world(faults=[fault]) for _ in range(2)]
            world.run(AtTurn(turn, number), driver="direct")
            if world.hits:
                assert not play_counterpart(other, world.hits)
                assert other.hits == world.hits
                targets.add(world.hits[0].target.replace("beta", "alpha"))
    assert struck[0] & struck[1]


def test_of_several_kinds_the_same_one_strikes() -> None:
    """Whichever could strike the same actor there; and of one kind, the one that says the same."""
    kinds = [Stall("alpha"), ClockStep("alpha", by_ms=7), ClockStep("alpha", by_ms=-7)]
    for number, kind in enumerate(kinds):
        world, other = [of(lonely).world(faults=kinds) for _ in range(2)]
        world.run(AtTurn(5, number), driver="direct")
        assert [hit.fault for hit in world.hits] == [kind]
        assert not play_counterpart(other, world.hits)
        assert other.hits == world.hits


def test_what_strikes_at_rest_strikes_at_rest() -> None:
    """Nothing can move any more in either Run, and then an actor begins again."""

    def build(world: World) -> None:
        async def alpha(client: Client) -> None:
            items = (await client.list(Note)).items
            await client.create(note(f"n{len(items)}"))
            await client.queue("inbox", idle=True).get()

        world.start(Puppet("alpha", alpha))
        world.claim(confluent())

    for at_rest in (CRASH, Crash("store", restart_after_ms=0), Stall("alpha")):
        target = at_rest.target
        world, other = compared(build, Struck((target, "rest", 0)), at_rest)
        assert facts(other) == facts(world)


def many_tasks(world: World) -> None:
    """Two tasks of alpha, one of which also reads a watch, and whichever is first."""

    async def alpha(client: Client) -> None:
        async def asks(name: str) -> None:
            for _ in range(3):
                with suppress(Unavailable, WatchBroken):
                    await client.list(Note)
            with suppress(Unavailable):
                await client.create(note(name))

        async def hears() -> None:
            with suppress(WatchBroken):
                since = (await client.list(Node)).revision
                await (await client.watch(Node, since=since)).next()

        for name in ("x", "y"):
            client.spawn(name, asks, name)
        client.spawn("hears", hears)

    world.start(Puppet("alpha", alpha))
    world.claim(confluent())


@pytest.mark.parametrize("fault", [LoseRequest("alpha"), BreakWatch("alpha")], ids=titled)
def test_what_other_tasks_have_done_does_not_matter(fault: Fault) -> None:
    """A request is its own task's, and a watch its reader's: so every Run has a counterpart,
    whichever task was faster."""
    worlds = [world for world in verdicts(of(many_tasks), 60, fault) if world.hits]
    assert len(worlds) > 20
    missed = [world for world in worlds if world.judge.not_compared]
    named = [hit.target for world in missed for hit in world.hits]
    assert not missed, named


def test_a_watch_of_the_next_life_is_another_one() -> None:
    """The reader of either life was told nothing yet; the first one lives on for a while."""

    def build(world: World) -> None:
        async def alpha(client: Client) -> None:
            with suppress(WatchBroken):
                since = (await client.list(Note)).revision
                stream = await client.watch(Note, since=since)
                await client.list(Node)
                await client.sleep(5, "rest")
                await stream.next()

        world.start(Puppet("alpha", alpha))
        world.claim(confluent())

    chooser = Struck(("alpha", 7, 0), ("notes to alpha", 12, 0))
    world, other = compared(build, chooser, CRASH, BreakWatch("alpha"))
    assert [getattr(hit.point, "life", 0) for hit in world.hits] == [1, 2]
    assert [hit.fault.word for hit in other.hits] == ["crash", "break_watch"]
    assert facts(other) == facts(world)


@pytest.mark.parametrize("task", ["main", "x"])
def test_a_request_to_which_a_task_came_another_way_is_not_the_same(task: str) -> None:
    """Alpha asks once more if beta was faster, and then for the same: what it had to do by then is
    another thing."""

    def build(world: World) -> None:
        async def asks(client: Client) -> None:
            if (await client.list(Note)).items:
                await client.list(Node)
            with suppress(Unavailable):
                await client.create(note("work"))

        async def alpha(client: Client) -> None:
            if task == "main":
                await asks(client)
            else:
                client.spawn(task, asks, client)

        async def beta(client: Client) -> None:
            await client.create(note("b"))

        world.start(Puppet("alpha", alpha), Puppet("beta", beta))
        world.claim(confluent())

    fault = LoseRequest("alpha")
    worlds = verdicts(of(build), 100, fault)
    lost = [w for w in worlds if any("create" in hit.target for hit in w.hits)]
    asked = {len(hit.point.sent) for w in lost for hit in w.hits if hit.point}  # type: ignore[attr-defined]
    assert asked == {2, 3}
    assert {bool(w.judge.not_compared) for w in lost} == {False, True}


def test_a_watch_breaks_when_its_reader_was_told_the_same() -> None:
    """After the first of two, and not before."""

    def build(world: World) -> None:
        async def alpha(client: Client) -> None:
            stream = await client.watch(Note, since=(await client.list(Note)).revision)
            with suppress(WatchBroken):
                for name in ("a", "b"):
                    await client.create(note(name))
                    await stream.next()

        world.start(Puppet("alpha", alpha))
        world.claim(confluent())

    broken = 0
    for turn in range(1, 12):
        world, other = (
            of(build).world(faults=[BreakWatch()]),
            of(build).world(faults=[BreakWatch()]),
        )
        world.run(AtTurn(turn, 0), driver="direct", trace=Trace({}, keep=True))
        if world.hits:
            assert not play_counterpart(other, world.hits, Trace({}, keep=True))
            assert len(other.store) == len(world.store)
            broken += 1
    assert broken >= 4


def test_what_comes_to_its_point_at_another_time_does_not_come_to_it() -> None:
    """In calm order alpha waits for beta, and sends the same only then."""

    def build(world: World) -> None:
        async def alpha(client: Client) -> None:
            if not (await client.list(Note)).items:
                await client.sleep(100, "wait")
            await client.create(note("work"))

        async def beta(client: Client) -> None:
            await client.create(note("b"))

        world.start(Puppet("alpha", alpha), Puppet("beta", beta))
        world.claim(confluent())

    worlds = [w for w in verdicts(of(build), 200, Crash("alpha")) if w.hits]
    sent = [(w, len(getattr(w.hits[0].point, "sent", ())), w.hits[0].now_ms) for w in worlds]
    assert any(count == 2 and now_ms == 0 for _, count, now_ms in sent)
    for world, count, now_ms in sent:
        assert bool(world.judge.not_compared) is (count == 2 and now_ms == 0)


def test_two_kinds_on_one_actor_keep_their_order() -> None:
    """Whatever their words are: the first that has struck strikes first."""
    for faults in ([Partition("alpha"), ClockStep("alpha")], [ClockStep("alpha"), Stall("alpha")]):
        for order in (faults, faults[::-1]):
            chooser = Struck(("alpha", 3, 0), ("alpha", 3, 0))
            _, other = compared(lonely, chooser, *order)
            assert [hit.fault for hit in other.hits] == order


def test_an_actor_that_has_come_as_far_waits_for_the_others() -> None:
    """In calm order one of two is done before the other begins; an Endpoint that dies between, and
    a history that is forgotten there, are found all the same."""

    def build(world: World) -> None:
        async def writes(client: Client) -> None:
            for name in ("1", "2", "3"):
                with suppress(Unavailable, AlreadyExists):
                    await client.create(note(f"{client.name}-{name}"))

        world.start(Puppet("alpha", writes), Puppet("beta", writes))
        world.claim(confluent())

    for fault in (Crash("store", restart_after_ms=0), Compact()):
        struck = [world for world in verdicts(of(build), 120, fault) if world.hits]
        missed = [world for world in struck if world.judge.not_compared]
        assert len(struck) > 30
        assert len(missed) <= len(struck) // 10, f"{len(missed)} of {len(struck)}"


def test_one_side_of_a_switch_is_not_held_against_the_other() -> None:
    """A scenario that ends otherwise by its switch has two calm runs."""

    def build(world: World, *, name: str = "a") -> None:
        world.add(note(name))
        world.claim(confluent())

    recipe = of(build)
    for name in ("a", "b", "a"):
        assert not recipe.world({"name": name}).run(Uniform(1), driver="direct").is_violated


def test_history_is_forgotten_after_the_same_commits_and_lists() -> None:
    """Turn by turn; a get between them tells nothing of the history."""

    def build(world: World) -> None:
        async def alpha(client: Client) -> None:
            for name in ("a", "b"):
                await client.create(note(name))
                await client.list(Note)
                await client.get(Note, name)

        world.start(Puppet("alpha", alpha))
        world.claim(confluent())

    def before(world: World) -> list[str]:
        kinds = [step.kind for step in world.trace.steps]
        steps = world.trace.steps[: kinds.index(FAULT)]
        return [s.option.verb for s in steps if s.kind == SERVE and s.option.verb != "get"]

    seen = set()
    for turn in range(1, 14):
        world, other = [of(build).world(faults=[Compact()]) for _ in range(2)]
        world.run(AtTurn(turn, 0), driver="direct", trace=Trace({}, keep=True))
        if world.hits:
            assert not play_counterpart(other, world.hits, Trace({}, keep=True))
            assert before(other) == before(world)
            assert other.store.compacted == world.store.compacted
            seen.add(len(before(world)))
    assert seen == {1, 2, 3, 4}


def test_each_switch_and_each_strike_has_its_own_counterpart() -> None:
    """One scenario plays Runs of both sides, in turn: neither is held against the other's."""
    recipe = of(half_again)
    for number in range(60):
        for guard in (False, True):
            world = recipe.world({"guard": guard}, faults=[CRASH])
            verdict = world.run(Uniform(5), number=number, driver="direct")
            alone = of(half_again).world({"guard": guard}, faults=[CRASH])
            assert verdict == alone.run(Uniform(5), number=number, driver="direct")


# -- what is not compared -------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Curse(Fault):
    """A fault of one's own that touches nothing by which it could be found again."""

    word: ClassVar[str] = "curse"

    def ways(self, levers: Levers) -> Iterator[Way]:
        yield Way("store", lambda: None)


def test_a_run_without_a_counterpart_says_so() -> None:
    """Its Verdict does, and why; it is no alarm, and no claim that all is well."""
    recipe = of(half_again)
    (world,) = verdicts(recipe, 1, Curse(), chooser=AtTurn(9, 0))
    assert world.hits
    assert world.verdict is not None
    assert world.verdict.is_held
    assert world.verdict.note == (
        "confluent has compared it with nothing: no point of work says where a fault has struck."
    )
    assert world.verdict.note in str(world.verdict)
    (calm,) = verdicts(recipe, 1, Curse(), chooser=AtTurn(999, 0))
    assert not calm.hits
    assert not calm.verdict or not calm.verdict.note


def test_a_run_whose_calm_run_comes_to_no_rest_says_so() -> None:
    """Also if nothing has struck: in calm order beta waits for alpha's sign, turn for turn, until
    no more turns may be played."""

    def build(world: World) -> None:
        async def alpha(client: Client) -> None:
            await client.sleep(1, "wait")
            await client.create(note("sign"))

        async def beta(client: Client) -> None:
            while not (await client.list(Note)).items:
                pass

        world.start(Puppet("alpha", alpha), Puppet("beta", beta))
        world.limit(turns_max=60, delay_max_ms=5)
        world.claim(confluent())

    held = [world.verdict for world in verdicts(of(build), 20) if world.verdict.is_held]  # type: ignore[union-attr]
    assert held
    assert {verdict.note for verdict in held if verdict} == {
        "confluent has compared it with nothing: the calm run comes to no rest."
    }


def test_a_point_that_calm_order_never_comes_to_is_compared_with_nothing() -> None:
    """In calm order beta never sees the gap, so the request that was lost is never sent."""

    def build(world: World) -> None:
        async def alpha(client: Client) -> None:
            await client.create(note("x"))

        async def beta(client: Client) -> None:
            if not (await client.list(Note)).items:
                with suppress(Unavailable):
                    await client.create(note("gap"))

        world.start(Puppet("alpha", alpha), Puppet("beta", beta))
        world.claim(confluent(ignoring=["notes"]))

    worlds = verdicts(of(build), 300, LoseRequest("beta"))
    gaps = [w for w in worlds if any("gap" in hit.target for hit in w.hits)]
    assert gaps
    assert not said(worlds)
    assert {w.verdict.note for w in gaps if w.verdict} == {
        "confluent has compared it with nothing: the calm run does not come to the points of work "
        "at which the same faults can strike."
    }


def test_a_world_made_by_hand_has_no_note() -> None:
    """It is compared with nothing even if nothing strikes."""

    async def alpha(client: Client) -> None:
        await client.create(note())

    world = World("by hand")
    world.start(Puppet("alpha", alpha))
    world.allow(Crash())
    world.claim(confluent())
    assert not world.run(AtTurn(2, 0)).note
    assert world.hits


# -- schedulers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "faults", "runs"),
    [
        ("double_bind", ("crash,restart=1s", "stall", "partition", "lose_reply", "lose_request",
                         "server_error", "lag", "clock_step"), 30),
        ("late_bind", ("lose_reply", "lose_request", "server_error", "server_error,code=409",
                       "server_error,code=503"), 30),
    ],
)  # fmt: skip
def test_no_struck_run_of_a_confluent_scheduler_is_an_alarm(
    name: str, faults: tuple[str, ...], runs: int
) -> None:
    """Most of them are compared."""
    recipe = also_confluent(name)
    worlds = [
        world
        for fault in faults
        for world in verdicts(recipe, runs, parse_fault(fault), guard=True)
        if world.hits
    ]
    assert not said(worlds)
    compared = [world for world in worlds if world.verdict and not world.verdict.note]
    assert len(compared) > len(worlds) // 2, f"{len(compared)} of {len(worlds)}"


@pytest.mark.spec("SCH-18", "SCH-69")
@pytest.mark.parametrize(
    ("fault", "field"),
    [
        ("crash:kubelet-n1", "status.conditions.PodScheduled.message"),
        ("lose_request:alpha", "status.nominated_node_name"),
    ],
)
def test_an_order_that_shows_only_under_a_fault_is_an_alarm_of_a_scheduler_too(
    fault: str, field: str
) -> None:
    """If a change of its victim comes within its cycle, a pod is tried once more, and says so, and
    its lost nomination is written after all. Otherwise the next write hides that. Nothing else
    differs, and so a scenario can leave it out."""
    strikes = parse_fault(fault)
    found = said(
        verdicts(also_confluent("stolen_slot"), 40, strikes, chooser=Uniform(3), guard=True)
    )
    assert len(found) == 1
    assert f"alone does not decide: pods/default/urgent {field} is " in found.pop()
    recipe = also_confluent("stolen_slot", f"pods.{field.partition('.PodScheduled')[0]}")
    assert not said(verdicts(recipe, 20, strikes, chooser=Uniform(3), guard=True))


def also_confluent(name: str, *ignoring: str) -> Scenario:
    """A scenario of the testbed that must be confluent, too."""
    recipe = find(name)

    def build(world: World, *, guard: bool = False) -> None:
        recipe.build(world, guard=guard)
        world.claim(confluent(ignoring=ignoring))

    return of(build)


# -- the same again -------------------------------------------------------------------------------


def test_its_race_and_its_trace_say_the_same() -> None:
    """Through the text of the race file, from the choices, and in another order of Runs."""
    recipe = of(half_again, "own:half_again")
    worlds = verdicts(recipe, 120, CRASH)
    for number, world in reversed(list(enumerate(worlds))):
        if not world.hits:
            continue
        race = race_of(recipe, {}, world.trace.choices, faults=[CRASH])
        again = play(parse(race.text(), "own.yaml"), recipe).verdict
        assert {v.said for v in again.violations} == {v.said for v in world.judge.violations}
        assert again.note == (world.verdict and world.verdict.note)
        alone = of(half_again).world(faults=[CRASH]).run(Uniform(5), number=number, driver="direct")
        assert alone == world.verdict


def test_what_it_finds_shrinks_to_the_crash_and_one_hold() -> None:
    """Neither is enough: without the crash no order matters, and without the hold it is alike."""
    recipe = of(half_again)
    world = next(w for w in verdicts(recipe, 200, CRASH) if said([w]))
    shrunk = shrink(race_of(recipe, {}, world.trace.choices, faults=[CRASH]), recipe).race
    assert [len(shrunk.faults), len(shrunk.holds), len(shrunk.picks)] == [1, 1, 0]
    assert [v.invariant for v in play(shrunk, recipe).verdict.violations] == ["confluent"]
