"""Alone: one life of an answer played again without the others, to see whether it does the same.

What a program does may follow from what its Client has shown it, and from nothing else. So one life
of it can be played where no code of any other life of the answer runs at all, in a process of its
own: it is shown what it was shown in the whole Run, and must ask what it asked there. If it does
not, something has told it of the others: a dict of some module, an attribute of a class, a default,
a cache, a registry, whatever two programs in one process can both reach. No list of such places is
needed, and none would be complete.

1. A World is assembled as ever. The actors of the answer never start, but for the life in question.
2. The turns of the Run are played again in their order. What another life of the answer has asked
   is served as it was asked then, without that life; its other turns are left out. All else, such
   as a fault, a timer of that one life, or an actor that is not the answer's, happens again.
3. After each turn of that life it is compared with then: what it was about to do next, what it
   asked for, what it recorded.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

from testbed.errors import ApiError, ReplayDiverged
from testbed.store.watch import Watch
from testbed.teaching.looks import Stage
from testbed.teaching.noting import (
    Lives,
    NotedTurn,
    PlayedRun,
    actors_of,
    needed,
    next_of,
    noted,
    outcome_of,
    recorded_in,
)
from testbed.turns.garbage import collected_between
from testbed.turns.happening import Key, key_of
from testbed.turns.head import Head
from testbed.turns.life import Role, Seat
from testbed.turns.option import FAULT, PICK, SERVE, START, Option
from testbed.turns.session import play_all
from testbed.turns.table import Table
from testbed.turns.trace import Record
from testbed.world.world import World


def lives_in(turns: Sequence[NotedTurn], actors: Sequence[str]) -> list[Lives]:
    """The lives of these actors that begin in that Run."""
    begun = [turn for turn in turns if turn.key[0].kind == START and turn.role]
    return [(turn.actor, turn.life) for turn in begun if turn.actor in actors]


class Alone(Head):
    """Plays the turns of one Run for one life alone; it sits at the head of the Table."""

    def __init__(
        self, world: World, mine: Lives, actors: Sequence[str], turns: Sequence[NotedTurn]
    ) -> None:
        self.table: Table = world.table
        self.turns_max = world.budget.turns_max
        self._world = world
        self._name, self._life = mine
        self._role: Role = world.table.roles[self._name]
        self._actors = frozenset(actors)
        self._turns = turns
        self._at = 0
        self._open: NotedTurn | None = None
        """The turn of that life which is under way."""
        self._recorded: list[Record] = []
        self._served: dict[tuple[Any, ...], Generator[Any, Any, Any]] = {}
        """By request, what serves it, if it is half served."""
        pending = self.table.pending
        pending.until_ms = world.budget.until_ms
        for option in [each for each in pending if each.actor in self._actors]:
            pending.remove(option)
        for post in world.wire.posts.values():
            post.endpoint.begin()
        self.table.begin(self)

    def close(self) -> None:
        """Nothing outside has taken part."""

    def conclude(self) -> None:
        """Raise ReplayDiverged if that life did not do what it did then."""
        if self.table.failure is not None:
            raise self.table.failure

    # -- at the head of the Table ---------------------------------------------------------------

    def advance(self) -> Seat | None:
        while True:
            try:
                return self._advance()
            except BaseException as error:  # noqa: BLE001 - no task may see it; `conclude` raises it
                self.table.fail(error)

    def pick(self, seat: Seat, label: str, alternatives: Sequence[object]) -> int:
        if len(alternatives) == 1 or self.table.failure is not None:
            return 0
        turn = self._turns[self._at] if self._at < len(self._turns) else None
        if turn is None or turn.key[0].kind != PICK or turn.key[0].path != seat.path:
            self.table.fail(self._unlike(f"picks {label}"))
            return 0
        self._at += 1
        return min(turn.picked, len(alternatives) - 1)

    def recorded(self, record: Record) -> None:
        self._recorded.append(record)

    def begin_again(self, role: Role, after_ms: int) -> None:
        if role.name not in self._actors:
            self._world.offer_start(role, after_ms)

    # -- the turns ------------------------------------------------------------------------------

    def _advance(self) -> Seat | None:
        table = self.table
        while True:
            if table.dying:
                return table.next_dying()
            self._end_turn()
            if table.failure is not None or table.stop is not None or self._at == len(self._turns):
                if self._is_torn_down():
                    return None
                continue
            turn = self._turns[self._at]
            self._at += 1
            mover = self._perform(turn)
            if mover is not None:
                return mover

    def _perform(self, turn: NotedTurn) -> Seat | None:
        """Perform that turn if it is one of that life, or of what is not the answer's."""
        table, kind = self.table, turn.key[0].kind
        table.step += 1
        table.pending.now_ms = turn.now_ms
        for marked in (table.marks.reads, table.marks.writes, table.marks.changes):
            marked.clear()
        is_mine = turn.actor == self._name and turn.life == self._life
        if kind == FAULT:
            is_mine = turn.actor == self._name and self._role.is_up
        if turn.actor in self._actors and not is_mine:
            if kind == SERVE:
                self._serve(turn)
            return None
        if kind == PICK:
            raise self._unlike(f"does not pick {turn.key[0].verb}")
        if is_mine and kind != FAULT and kind != SERVE:
            self._open = turn
        if is_mine and turn.role:
            return self._begin(turn)
        option = self._found(turn.key)
        if option is None:
            raise self._unlike(f"does not {turn.key[0]}")
        table.pending.remove(option)
        asked = getattr(option.source, "operation", None)
        if kind == SERVE and asked != turn.operation:
            raise self._unlike(f"asks for another thing by its {turn.key[0]}")
        seat: Seat | None = option.perform()
        return seat

    def _begin(self, turn: NotedTurn) -> Seat | None:
        """Begin that life, with what the lives before it have left of their actor."""
        role = self._role
        role.lives = self._life - 1
        role.clock_shift_ms, role.cut_off_until_ms, role.lags = turn.role
        return self._world._begin_life(role)

    def _found(self, key: Key) -> Option | None:
        """The Option, or the fault, that was performed then."""
        pending = self.table.pending
        among = self._world.find_faults() if key[0].kind == FAULT else [*pending, *pending.held]
        return next((each for each in among if key_of(each) == key), None)

    def _serve(self, turn: NotedTurn) -> None:
        """Serve what another life has asked; its answer goes nowhere."""
        sentence, life, _ = turn.key
        request = (sentence.path, sentence.verb.partition(".")[0], sentence.key, sentence.nth, life)
        serving = self._served.pop(request, None)
        try:
            if serving is None:
                endpoint = self._world.wire.posts[turn.post].endpoint
                assert turn.operation is not None
                serving = endpoint.handle(turn.operation, turn.actor, turn.now_ms)
                next(serving)
            else:
                serving.send(turn.now_ms)
        except StopIteration as done:
            if isinstance(done.value, Watch):
                done.value.close()
        except ApiError:
            pass
        else:
            self._served[request] = serving

    def _end_turn(self) -> None:
        """Note what the turn has committed, and compare what that life does with then."""
        table, wire, turn = self.table, self._world.wire, self._open
        now = (table.step, table.pending.now_ms)
        for change in table.marks.changes:
            wire.streams.commits[change.revision] = now
        if wire.paused:
            wire.release_paused()
        wire.streams.delivered.clear()
        records, self._recorded, self._open = recorded_in(self._recorded), [], None
        if turn is None or table.failure is not None:
            return
        if next_of(table, self._name, self._life) != turn.next:
            raise self._unlike(f"goes on otherwise after its {turn.key[0]}")
        if records != turn.records:
            raise self._unlike(f"records another thing in its {turn.key[0]}")

    def _is_torn_down(self) -> bool:
        """End every life that has not ended; returns whether none was left."""
        self.table.is_over = True
        for _, role in sorted(self.table.roles.items()):
            if role.life is not None:
                self.table.end_life(role.life)
        return not self.table.dying

    def _unlike(self, what: str) -> ReplayDiverged:
        return ReplayDiverged(f"{self._name}, played without the others, {what}")


Noted = tuple[PlayedRun, list[NotedTurn]]
"""A Run, and its turns."""


def runs_of(stage: Stage) -> list[PlayedRun]:
    """The Runs that were played on that stage, the last one first, and each that was drawn more
    than once only once."""
    played = (
        PlayedRun(choices, faults, outcome_of(verdict))
        for verdict, choices, faults in reversed(stage.kept or [])
    )
    return [*dict.fromkeys(played)]


def noted_again(
    stage: Stage, program: str, runs: Sequence[PlayedRun]
) -> list[tuple[Lives, list[Noted]]]:
    """Play these Runs again, in this order; return the lives of the program in them, and for each
    the Runs that it has a part in, but those that are the same turns to it as one before.
    ReplayDiverged if one ends otherwise."""
    found = dict[Lives, dict[object, list[Noted]]]()
    actors = actors_of(stage.recipe.world(stage.switches), program)
    for run, (verdict, turns) in zip(runs, noted(stage.recipe, stage.switches, runs), strict=True):
        if outcome_of(verdict) != run.outcome:
            raise ReplayDiverged(f"a Run {run.outcome[1]!r} ends {verdict.end!r} when it is played")
        for mine in lives_in(turns, actors):
            its = needed(turns, mine, actors)
            # What a turn asks has no hash, so only Runs with the same keys are compared in full.
            like = found.setdefault(mine, {}).setdefault(tuple(turn.key for turn in its), [])
            if not any(run.faults == other.faults and its == known for other, known in like):
                like.append((run, its))
    return [
        (mine, [each for like in by_keys.values() for each in like])
        for mine, by_keys in sorted(found.items())
    ]


def play_alone(stage: Stage, program: str, mine: Lives, runs: Sequence[Noted]) -> None:
    """Play that life alone in each of these Runs; ReplayDiverged if it does otherwise in one."""

    def heads() -> Iterator[Alone]:
        for run, turns in runs:
            world = stage.recipe.world(stage.switches, faults=run.faults)
            yield Alone(world, mine, actors_of(world, program), turns)

    with collected_between():
        play_all(heads(), driver="direct")
