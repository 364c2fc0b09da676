"""Tape: what has joined an attended Run, so that it can be played again without the programs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import attrs

from testbed.attended.program import standing_for
from testbed.client.actor import Actor
from testbed.errors import ApiError, HarnessBug, ReplayDiverged, TraceRefused
from testbed.store.delivery import Delivery
from testbed.store.endpoint import Operation
from testbed.store.retold import operation_of
from testbed.turns.head import Waiter
from testbed.turns.option import ASIDE, JOIN, PICK, is_from_outside
from testbed.world.attendance import Attendance, Standing
from testbed.world.gate import Gate
from testbed.world.scenario import Scenario


@attrs.frozen
class Joined:
    """One thing that came from outside."""

    step: int
    """The number of its Step."""
    turns: int
    """How many turns had been played before it."""
    kind: str
    """join, leave, say, exit, stop, or pass."""
    path: str
    operation: Operation | None = None
    now_ms: int = 0
    said: str = ""


class _Nowhere:
    """The way back to a program that is not there."""

    def answer(self, value: Any) -> None:
        """Say nothing."""

    def refuse(self, error: ApiError) -> None:
        """Say nothing."""

    def open(self) -> None:
        """Say nothing."""

    def tell(self, delivery: Delivery) -> None:
        """Say nothing."""

    def end(self, error: ApiError | None) -> None:
        """Say nothing."""


class Tape(Attendance):
    """Brings into a Run what has joined it once, at the same places.

    A place is the number of a Step. If the same turns are to be played under other holds, the Steps
    in between are not the same, and a place is a number of turns (`by_turns`).
    """

    def __init__(
        self,
        names: Collection[str],
        joined: Iterable[Joined],
        *,
        guests: Collection[str] = (),
        by_turns: bool = False,
    ) -> None:
        self.names = frozenset(names)
        self.guests = sorted(guests)
        self._joined = tuple(joined)
        self._by_turns = by_turns
        self._played = 0

    def program(self, actor: Actor) -> Actor:
        return standing_for(actor, _begin_nothing)

    def begin(self, gate: Gate) -> None:
        self._gate = gate
        self._played = 0

    def attend(self, look: Callable[[], Standing]) -> Waiter | None:
        while self._played < len(self._joined) and not self._gate.is_ending:
            joined, moment = self._joined[self._played], look()
            is_next = (
                joined.turns <= moment.turns if self._by_turns else joined.step <= moment.step + 1
            )
            if not is_next:
                break
            self._played += 1
            try:
                self._let_join(joined)
            except HarnessBug as error:
                raise ReplayDiverged(
                    f"step {joined.step}: what joined the Run then cannot join it now: {error}.\n"
                    "The code has changed since, or the file.\nNext: record it again."
                ) from error
        return None

    def _let_join(self, joined: Joined) -> None:
        gate, path = self._gate, joined.path
        match joined.kind:
            case "join":
                assert joined.operation is not None
                gate.join(path.partition("/")[0], joined.operation, _Nowhere())
            case "leave":
                gate.leave(path)
            case "say":
                gate.say(path.partition("/")[0], joined.said)
            case "exit":
                gate.exit(path.partition("/")[0], joined.said)
            case "pass":
                gate.pass_to(joined.now_ms)
            case "stop":
                gate.stop(joined.said)

    def close(self) -> None:
        """Nothing to close: there is no program."""


def _begin_nothing(_: str) -> None:
    """Start no program: what it did is on the tape."""


def with_tape(
    recipe: Scenario, names: Collection[str], steps: Iterable[Mapping[str, Any]],
    *, guests: Collection[str] = (), by_turns: bool = False,
) -> Scenario:  # fmt: skip
    """That Scenario with what has joined a Run of it, of which these are the Steps."""
    joined = tuple(joined_of(steps))
    return attrs.evolve(
        recipe, attendance=lambda: Tape(names, joined, guests=guests, by_turns=by_turns)
    )


def joined_of(steps: Iterable[Mapping[str, Any]]) -> Iterator[Joined]:
    """What came from outside, of all Steps of a trace, each as its line has it."""
    turns = 0
    for step in steps:
        kind, number = step["do"], step["n"]
        if is_from_outside(kind, step["who"]):
            yield Joined(
                number, turns, kind, step["who"], _operation(step), step["choice"],
                step.get("label", ""),
            )  # fmt: skip
        turns += kind not in ASIDE and kind != PICK


def _operation(step: Mapping[str, Any]) -> Operation | None:
    if step["do"] != JOIN:
        return None
    try:
        return operation_of(step["asks"])
    except (KeyError, ValueError) as error:
        raise TraceRefused(
            f"step {step['n']}: what has joined cannot be read: {error}.\n"
            "Next: use the file as it was recorded; to change a Run, record another."
        ) from error
