"""The sweep: every place of the calm run, each struck once, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import ScenarioError, Unavailable
from testbed.fault import Fault
from testbed.faults.break_watch import BreakWatch
from testbed.faults.compact import Compact
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.faults.stall import Stall
from testbed.invariant import Evidence, quiescent
from testbed.objects import Note
from testbed.search.sweep import Cell, sweep
from testbed.store.endpoint import BETWEEN, Handler, Operation
from testbed.store.store_endpoint import StoreEndpoint
from testbed.turns.option import FAULT, Choice
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.world.scenario import Scenario, find, known, of
from testbed.world.world import World
from tests.models.worlds.recipes import recipes
from tests.shared.stage import Puppet, note

LOST_UPDATE = find("lost_update")


class Again(Chooser):
    """Plays the choices of another Run, and counts what else it is asked."""

    def __init__(self, choices: Sequence[Choice]) -> None:
        self.choices = list(choices)

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("again")

    def choose(self, options: Options | Alternatives) -> Choice:
        return self.choices.pop(0)


def steps_of(recipe: Scenario, fault: Fault, cell: Cell) -> list[Step]:
    """The Steps of a cell's Run, played again from its choices alone."""
    world = recipe.world()
    world.allow(fault)
    chooser = Again(cell.choices)
    verdict = world.run(chooser, driver="direct", trace=Trace({}, keep=True))
    assert not chooser.choices
    assert (verdict.outcome, verdict.violations) == (cell.verdict.outcome, cell.verdict.violations)
    return world.trace.steps


def said(cells: Sequence[Cell]) -> list[str]:
    """Where each of them strikes, whom, and what came of it."""
    return [
        f"{p.actor}: {p.when} {p.operation}, {p.target}: {cell.verdict.outcome}"
        for cell in cells
        for p in [cell.place]
    ]


async def moves(client: Client) -> None:
    """Takes from one note and gives to another, in two writes."""
    await client.create(note("taken"))
    await client.create(note("given"))


def both_or_none(see: Evidence) -> str | None:
    """Whatever was taken was given."""
    there = [see.store.peek(f"notes/default/{name}") is not None for name in ("taken", "given")]
    return None if there[0] == there[1] else "taken, and not given"


def mover(world: World) -> None:
    """Dies between its two writes, if it may."""
    world.start(Puppet("alpha", moves))
    world.claim(quiescent(both_or_none))


def test_every_place_is_struck_and_those_between_two_writes_are_red() -> None:
    """A crash before the second write, and after the first one, leaves half of the work; a crash
    before the first, or when the second is done, does not. What is sent is still on its way."""
    swept = sweep(of(mover), Crash("*"))
    assert said(swept.cells) == [
        "alpha: before create notes/default/taken, alpha: violated",
        "alpha: after create notes/default/taken, alpha: violated",
        "alpha: told create notes/default/taken, alpha: held",
        "alpha: before create notes/default/given, alpha: held",
        "alpha: after create notes/default/given, alpha: held",
    ]
    assert [v.invariant for c in swept.of("violated") for v in c.verdict.violations] == [
        "both_or_none"
    ] * 2
    # Told of the first and before the second is one turn, so it is one Run.
    assert (swept.runs, swept.left) == (4, 0)


SWEPT = (Crash(restart_after_ms=0), Compact(), LoseReply())


@pytest.mark.parametrize("recipe", recipes())
@pytest.mark.parametrize("cells_max", [5, pytest.param(10_000, marks=pytest.mark.long)])
def test_a_fault_strikes_where_its_cell_says(recipe: Scenario, cells_max: int) -> None:
    """Replayed from its choices: before it the Step of that row is still to come; after it that
    Step is the last thing that happened, or else the telling of its caller is. In the short form
    one of the faults strikes, another one in the next scenario."""
    calm = recipe.world()
    if calm.needs_no_race:
        pytest.skip("its calm run is violated, so nothing is swept")
    calm.run(Again([0] * 1000), driver="direct", trace=Trace({}, keep=True))
    place = [each.name for each in known()].index(recipe.name) % len(SWEPT)
    for fault in SWEPT if cells_max > 5 else SWEPT[place : place + 1]:
        cells = sweep(recipe, fault).cells
        for cell in cells[:: 1 + len(cells) // cells_max]:
            strikes_as_it_says(recipe, fault, cell, calm)


def strikes_as_it_says(recipe: Scenario, fault: Fault, cell: Cell, calm: World) -> None:
    """The Run of a cell of a sweep is the calm one up to there."""
    steps = steps_of(recipe, fault, cell)
    (at,) = (n for n, step in enumerate(steps) if step.kind == FAULT)
    assert steps[at].option.verb == fault.word
    row = calm.trace.steps[cell.place.step - 1]
    last = steps[at - 1]
    match cell.place.when:
        case "before":
            assert at == cell.place.step - 1
        case "after":
            assert (last.number, last.sentence) == (row.number, row.sentence)
        case told:
            assert told == "told"
            assert (last.kind, last.causes[-1]) == ("answer", row.number)


def test_a_fault_of_a_request_strikes_only_that_of_its_row() -> None:
    """Two tasks of one actor ask at the same time: each row loses its own request."""

    async def asks_twice(client: Client) -> None:
        async def ask(name: str) -> None:
            try:
                await client.create(note(name))
            except Unavailable:
                client.record(f"lost {name}")

        tasks = [client.spawn(name, lambda name=name: ask(name)) for name in ("one", "two")]
        for task in tasks:
            await client.join(task)

    def build(world: World) -> None:
        world.start(Puppet("alpha", asks_twice))

    for fault, when in ((LoseRequest(), "before"), (LoseReply(), "after")):
        swept = sweep(of(build), fault)
        assert said(swept.cells) == [
            f"alpha: {when} create notes/default/{name}, "
            f"alpha/{name} create notes/default/{name}: held"
            for name in ("one", "two")
        ]


class Slow(StoreEndpoint):
    """Writes in two parts."""

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        if operation.verb == "create":
            yield BETWEEN
        return (yield from super().handle(operation, caller, now_ms))


def test_each_part_of_an_operation_is_a_row() -> None:
    """Between its parts, too, somebody may die; and its reply can be lost only after the last."""

    def build(world: World) -> None:
        world.serve(Slow)
        world.start(Puppet("alpha", lambda client: client.create(note())))

    crashed = [cell.place for cell in sweep(of(build), Crash("alpha")).cells]
    assert [f"{place.when} {place.operation}" for place in crashed] == [
        "before create notes/default/n",
        "after create notes/default/n",
        "before create.2 notes/default/n",
        "after create.2 notes/default/n",
    ]
    (lost,) = sweep(of(build), LoseReply()).cells
    assert (lost.place.when, lost.place.operation) == ("after", "create.2 notes/default/n")


def watched(world: World) -> None:
    """One writes and sleeps, the other watches."""

    async def writes(client: Client) -> None:
        await client.sleep(5, "nap")
        await client.create(note("late"))

    async def watches(client: Client) -> None:
        cache = Cache(client, Note)
        await cache.synced()
        await client.queue("news", idle=True).get()

    world.start(Puppet("alpha", writes), Puppet("beta", watches))


def test_deliveries_and_timers_are_rows_too() -> None:
    """Before and after each; a watch is broken, an actor stalled, at any of them."""
    stalled = sweep(of(watched), Stall()).cells
    rows = list(dict.fromkeys(f"{cell.place.actor}: {cell.place.operation}" for cell in stalled))
    assert rows == [
        "beta: list notes",
        "beta: watch notes",
        "alpha: wake of nap",
        "alpha: create notes/default/late",
        "beta: delivery of notes/default/late",
    ]
    broken = [f"{c.place.when} {c.place.operation}" for c in sweep(of(watched), BreakWatch()).cells]
    assert broken == [
        "after watch notes",
        "told watch notes",
        "before delivery of notes/default/late",
    ]


def test_what_all_share_is_struck_in_every_row() -> None:
    """A crash of the Store's Endpoint, at what each actor does; a target picks the actor."""
    shared = sweep(LOST_UPDATE, Crash("store", restart_after_ms=0)).cells
    assert {cell.place.actor for cell in shared} == {"alpha", "beta"}
    assert {cell.place.target for cell in shared} == {"store"}
    own = sweep(LOST_UPDATE, Crash("beta")).cells
    assert {(cell.place.actor, cell.place.target) for cell in own} == {("beta", "beta")}


def test_what_the_scenario_allows_itself_is_not_what_is_swept() -> None:
    """Its own crashes start again later, and strike another; the sweep's are for good."""

    def build(world: World) -> None:
        mover(world)
        world.start(Puppet("beta", moves_nothing))
        world.allow(Crash("beta"), Crash("alpha", restart_after_ms=50))

    swept = sweep(of(build), Crash("alpha"))
    assert {cell.place.actor for cell in swept.cells} == {"alpha"}
    assert {cell.verdict.virtual_ms for cell in swept.cells} == {0}


def test_a_row_says_which_of_several_it_is_and_picks_are_no_turns() -> None:
    """The second write of one key is `#2`; a pick within a turn moves no place."""

    async def picks(client: Client) -> None:
        for _ in range(2):
            name = client.pick("name", ["n", "m"])
            await client.update(note(name), whatever_it_was=True)

    def build(world: World) -> None:
        world.add(note("n"))
        world.start(Puppet("alpha", picks))

    cells = sweep(of(build), LoseRequest()).cells
    assert said(cells) == [
        "alpha: before update notes/default/n, alpha update notes/default/n: violated",
        "alpha: before update notes/default/n#2, alpha update notes/default/n#2: violated",
    ]


async def moves_nothing(client: Client) -> None:
    """Looks, and does nothing about it."""
    await client.list(Note)


def test_both_drivers_fill_the_same_table() -> None:
    """Cell for cell, choice for choice."""
    fault = Crash(restart_after_ms=0)
    one, other = (sweep(LOST_UPDATE, fault, driver=driver) for driver in ("trio", "direct"))
    assert one == other


def test_what_is_left_out_is_counted() -> None:
    """A limit on the Runs leaves places out, says how many, and plays the first ones."""
    told: list[tuple[int, int]] = []
    swept = sweep(of(mover), Crash(), runs_max=3, on_run=lambda *done: told.append(done))
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert (swept.runs, swept.left, len(swept.cells)) == (3, 1, 4)


@pytest.mark.parametrize(
    ("scenario", "fault", "expected"),
    [
        (LOST_UPDATE, Lag(), "lag of '*' can strike nowhere in the calm run"),
        (LOST_UPDATE, Crash("gamma"), "crash of 'gamma' can strike nowhere in the calm run"),
    ],
)
def test_a_fault_that_can_strike_nowhere_is_refused(
    scenario: Scenario, fault: Fault, expected: str
) -> None:
    """An empty table would look like a good one."""
    with pytest.raises(ScenarioError, match=re.escape(expected)) as refused:
        sweep(scenario, fault)
    assert str(refused.value).splitlines()[-1].startswith("Next: testbed sweep lost_update")


def test_a_calm_run_that_is_violated_is_refused() -> None:
    """No fault could be blamed for what happens without any."""

    def build(world: World) -> None:
        world.start(Puppet("alpha", lambda client: client.create(note("taken"))))
        world.claim(quiescent(both_or_none))

    with pytest.raises(ScenarioError, match="violated without any fault") as refused:
        sweep(of(build, "half"), Crash())
    assert str(refused.value).endswith("Next: testbed run half")
