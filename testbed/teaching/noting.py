"""Noting: a Run of an answer played again by its choices, and each turn of it written down.

What is written down is enough to play any one life of the answer without the others (`alone`): what
was performed and when, what each request asked, and what each life was about to do after a turn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo, fault_of
from testbed.fault import Fault
from testbed.policy import own
from testbed.store.endpoint import Operation
from testbed.turns.garbage import collected_between
from testbed.turns.happening import Key, key_of
from testbed.turns.life import Role
from testbed.turns.option import ASIDE, FAULT, PICK, RESUME, SERVE, START, WAKE, Choice, Option
from testbed.turns.pending import Alternatives, Options
from testbed.turns.session import play_all
from testbed.turns.table import Table
from testbed.turns.trace import Record, Step, Trace
from testbed.turns.verdict import Verdict
from testbed.world.scenario import Scenario
from testbed.world.world import World

OWN_MOVES = (SERVE, START, RESUME, WAKE)
"""The kinds of Options that the code of an actor offers by itself."""
Lives = tuple[str, int]
"""The name of an actor, and the number of one of its lives."""
Next = tuple[tuple[Any, ...], ...]
"""What a life may do next: the sentence of each of its Options, and of a timer when it is due."""


class PlayedRun(NamedTuple):
    """One Run that has held: how it was chosen, and how it ended."""

    choices: tuple[Choice, ...]
    faults: tuple[Fault, ...]
    """The faults that were allowed beside the scenario's own."""
    outcome: tuple[str, str, int]
    """The Verdict in short, see `outcome_of`."""


class NotedTurn(NamedTuple):
    """One turn of a Run, or one pick in it."""

    key: Key
    actor: str
    life: int
    now_ms: int
    picked: int = 0
    """The number of the alternative, if it is a pick."""
    operation: Operation | None = None
    """What was asked, if a request was served."""
    post: str = ""
    """The name of the Endpoint that has served it."""
    next: Next = ()
    """What its life was about to do after it; empty if it was no turn of a life."""
    records: tuple[tuple[str, Any], ...] = ()
    """What was recorded in it."""
    role: tuple[Any, ...] = ()
    """What outlives a life of its actor, when a life begins."""


def outcome_of(verdict: Verdict) -> tuple[str, str, int]:
    """The Verdict of a Run in short: what it was, why it ended, after how many turns."""
    return verdict.among_others, verdict.end, verdict.turns


def actors_of(world: World, program: str) -> list[str]:
    """The names of the actors of that World which the user's class of that name stands for."""
    kind = own()[program]
    return [name for name, role in world.table.roles.items() if type(role.factory()) is kind]


def next_of(table: Table, name: str, life: int) -> Next:
    """What that life may do next."""
    pending = table.pending
    found = [
        (*option.sentence, option.due_ms if option.kind == WAKE else 0)
        for option in (*pending, *pending.held)
        if option.actor == name and option.kind in OWN_MOVES and option.life == life
    ]
    return tuple(sorted(found))


def begins_life(option: Option) -> bool:
    """Whether it begins a life of an actor."""
    return option.kind == START and option.seat is None and bool(option.actor)


def recorded_in(records: Sequence[Record]) -> tuple[tuple[str, Any], ...]:
    """What the Records say, without their numbers."""
    return tuple((record.name, record.facts) for record in records)


def needed(turns: Sequence[NotedTurn], mine: Lives, actors: Collection[str]) -> list[NotedTurn]:
    """The turns without those that say nothing to that life, without what only others do, and up to
    its last one: no code of it runs after that."""
    found = list[NotedTurn]()
    last = max(place for place, turn in enumerate(turns) if turn.actor == mine[0])
    for turn in turns[: last + 1]:
        kind, is_mine = turn.key[0].kind, (turn.actor, turn.life) == mine
        if is_mine or turn.actor not in actors or kind == FAULT:
            found.append(turn)
        elif kind == SERVE:
            found.append(turn._replace(next=(), records=()))
    return found


class _Noting(Chooser):
    """Makes the choices of a Run again, and notes its turns."""

    def __init__(self, choices: Sequence[Choice], table: Table) -> None:
        self.turns: list[NotedTurn] = []
        self._left = list(reversed(choices))
        self._table = table

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("the same choices again")

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        return self._left.pop() if self._left else CUT

    def strike(self, options: Options) -> int | None:
        fault = fault_of(self._left[-1], options) if self._left else None
        if fault is not None:
            self._left.pop()
        return fault

    def ended(self, step: Step) -> None:
        option, table = step.option, self._table
        if option.kind in ASIDE:
            return
        begins = begins_life(option)
        life = option.nth if begins else option.life
        post = getattr(option.source, "post", None)
        self.turns.append(
            NotedTurn(
                key=key_of(option),
                actor=option.path.partition("/")[0] if option.kind == PICK else option.actor,
                life=life,
                now_ms=step.now_ms,
                picked=step.choice if option.kind == PICK and isinstance(step.choice, int) else 0,
                operation=step.operation,
                post="" if post is None else post.name,
                next=next_of(table, option.actor, life),
                records=recorded_in(step.records),
                role=state_of(table.roles[option.actor]) if begins else (),
            )
        )


def state_of(role: Role) -> tuple[Any, ...]:
    """What of an actor outlives its lives and is not in the Store: its clock and its network."""
    return role.clock_shift_ms, role.cut_off_until_ms, dict(role.lags)


def noted(
    recipe: Scenario, switches: Mapping[str, Any], runs: Sequence[PlayedRun]
) -> list[tuple[Verdict, list[NotedTurn]]]:
    """Play these Runs again, in this order; of each, its Verdict and its turns."""
    found = list[tuple[Verdict, list[NotedTurn]]]()

    def worlds() -> Iterator[World]:
        for run in runs:
            world = recipe.world(switches, faults=run.faults)
            chooser = _Noting(run.choices, world.table)
            world.prepare(chooser, trace=Trace({}, keep=False))
            yield world
            assert world.verdict is not None
            found.append((world.verdict, chooser.turns))

    with collected_between():
        play_all(worlds(), driver="direct")
    return found
