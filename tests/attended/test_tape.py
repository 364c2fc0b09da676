"""Tape: what joins a Run from outside stands in its trace, and replays it without the programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from actors.apiserver import ApiServer
from testbed import Actor, ApiError, Calm, Chooser, Client, Operation, Trace, World
from testbed.attended.program import standing_for
from testbed.attended.tape import Tape, joined_of
from testbed.choosers.replayed import Replayed
from testbed.errors import NotFound
from testbed.objects import Pod
from testbed.objects.codec import decode
from testbed.store.delivery import Delivery
from testbed.turns.head import Waiter
from testbed.world.attendance import Attendance, Standing
from testbed.world.gate import Gate
from tests.each_row import each_row

DRIVERS = ("trio", "direct")


class Heard:
    """The way back to a program that notes all that it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def answer(self, value: Any) -> None:
        """Note the answer."""
        self.said.append(f"answer {getattr(value, 'key', '')}".strip())

    def refuse(self, error: ApiError) -> None:
        """Note the refusal."""
        self.said.append(f"refused {error.reason}")

    def open(self) -> None:
        """Note that the watch is open."""
        self.said.append("open")

    def tell(self, delivery: Delivery) -> None:
        """Note the line."""
        self.said.append(f"{delivery.type} {delivery.key}")

    def end(self, error: ApiError | None) -> None:
        """Note the end."""
        self.said.append("end")


class Scripted(Attendance):
    """Attends to a program that follows a script: by the number of turns played, what it does."""

    def __init__(self, script: dict[int, Callable[[Gate, Heard], object]]) -> None:
        self.names = frozenset({"alpha"})
        self.heard = Heard()
        self._script = dict(script)
        self.has_begun: list[str] = []

    def program(self, actor: Actor) -> Actor:
        """Note when a life begins."""
        return standing_for(actor, self.has_begun.append)

    def begin(self, gate: Gate) -> None:
        """Remember the way in."""
        self._gate = gate

    def attend(self, look: Callable[[], Standing]) -> Waiter | None:
        """Do what the script says of this moment."""
        turns = look().turns
        for when in [when for when in sorted(self._script) if when <= turns]:
            self._script.pop(when)(self._gate, self.heard)
        return None

    def close(self) -> None:
        """Nothing to close."""


class Quitter(Actor):
    """An actor in place of which a program stands."""

    async def run(self, client: Client) -> None:
        """Never called."""
        raise AssertionError


def world(attendance: Attendance) -> World:
    """An API server with a pod, and a program."""
    made = World("attended", attendance=attendance)
    made.serve(ApiServer)
    made.add(Pod.of("p"))
    made.start(Quitter("alpha"))
    return made


def ask(verb: str, name: str = "", body: Any = None) -> Callable[[Gate, Heard], object]:
    """Let a request for pods join."""
    namespace = "default" if name else ""
    operation = Operation(verb, "pods", name, namespace, body)
    return lambda gate, heard: gate.join("alpha", operation, heard)


def leave_late(gate: Gate, _: Heard) -> None:
    """Let time pass, then give up the watch."""
    gate.pass_to(1500)
    gate.leave("alpha/http")


SCRIPT: dict[int, Callable[[Gate, Heard], object]] = {
    1: ask("watch"),
    4: ask("create", "q", Pod.of("q")),
    8: ask("get", "nothing"),
    10: leave_late,
    11: lambda gate, _: gate.exit("alpha", "exit code 3"),
}


def played(attendance: Attendance, chooser: Chooser, driver: str = "direct") -> World:
    """The World after its Run, every Step kept."""
    made = world(attendance)
    made.run(chooser, driver=driver, trace=Trace({}, keep=True))
    return made


def lines_of(made: World) -> list[dict[str, Any]]:
    """The lines of its trace that are Steps."""
    return [line for each in made.trace.lines() if "do" in (line := decode(each))]


@each_row("driver", DRIVERS)
def test_what_joins_is_asked_and_answered(driver: str) -> None:
    """Requests take effect, a watch tells of them, and the end of a program is a death."""
    attendance = Scripted(SCRIPT)
    verdict = played(attendance, Calm(), driver).verdict
    assert attendance.has_begun == ["alpha"]
    said = attendance.heard.said
    assert said == [
        "open", "ADDED pods/default/p", "answer pods/default/q", "ADDED pods/default/q",
        "refused NotFound",
    ]  # fmt: skip
    assert verdict is not None
    assert "exit code 3" in str(verdict.violations)


@each_row("driver", DRIVERS)
def test_a_tape_replays_the_run_byte_for_byte(driver: str) -> None:
    """The trace of an attended Run is enough to play it again, without the program."""
    first = played(Scripted(SCRIPT), Calm())
    steps = tuple(lines_of(first))
    tape = Tape({"alpha"}, joined_of(steps))
    again = played(tape, Replayed(steps, again="no"), driver)
    assert [*again.trace.lines()] == [*first.trace.lines()]


def test_a_request_that_joins_says_what_it_asks() -> None:
    """The line of a Step that joins has the whole Operation."""
    made = played(Scripted({1: ask("get", "p")}), Calm())
    joins = [line for line in lines_of(made) if line["do"] == "join"]
    assert [(line["who"], line["verb"], line["key"]) for line in joins] == [
        ("alpha/http", "get", "pods/default/p")
    ]
    assert joins[0]["asks"]["name"] == "p"


def test_a_trace_that_nobody_reads_keeps_no_step() -> None:
    """However much joins, as in a World that is served for days."""
    made = world(Scripted(SCRIPT))
    made.run(Calm(), driver="direct", trace=Trace({}))
    assert made.trace.numbered > len(SCRIPT)
    assert made.trace.items == []


def test_a_refusal_is_an_answer() -> None:
    """NotFound reaches the program."""
    attendance = Scripted({1: ask("get", "nothing")})
    played(attendance, Calm())
    assert attendance.heard.said == [f"refused {NotFound.reason}"]
