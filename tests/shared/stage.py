"""What these tests play on: actors that are functions, and a Chooser that takes cues."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from fnmatch import fnmatchcase
from typing import Any

import attrs

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.client.actor import Actor
from testbed.client.client import Client
from testbed.objects.meta import Map
from testbed.objects.note import Note
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict
from testbed.world.world import World

Doing = Callable[[Client], Coroutine[Any, Any, Any]]


@attrs.frozen
class Puppet(Actor):
    """Does what a function says; the test learns of it by what that function closes over."""

    do: Doing

    async def run(self, client: Client) -> None:
        await self.do(client)


@attrs.frozen
class Apart(Puppet):
    """A Puppet whose tasks share nothing but Caches, queues and signals."""

    shares_memory = False


class Cued(Chooser):
    """Calm, but for its cues.

    Each cue is a glob over sentences: the first Option it fits is performed as soon as it is
    offered, then the next cue is due. What is `late` is passed over while anything else is ready.
    """

    def __init__(self, *cues: str, late: tuple[str, ...] = ()) -> None:
        self.cues = list(cues)
        self.late = late
        self.offered: list[list[str]] = []
        """The faults that could strike at each turn: word and target."""

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("cued")

    def choose(self, options: Options | Alternatives) -> int:
        if isinstance(options, Options):
            self.offered.append([f"{fault.verb} {fault.key}" for fault in options.faults])
        if self.cues:
            for index, option in enumerate(options):
                if fnmatchcase(str(option.sentence), self.cues[0]):
                    del self.cues[0]
                    return index
        for index in range(options.ready):
            sentence = str(options[index].sentence)
            if not any(fnmatchcase(sentence, pattern) for pattern in self.late):
                return index
        return 0


@attrs.frozen
class Played:
    """A Run that is over: its Verdict and its Steps."""

    verdict: Verdict
    steps: list[Step]
    offered: list[list[str]]
    """The faults that could have struck instead of each turn: word and target."""

    def every(self, pattern: str) -> list[Step]:
        """The Steps whose sentence fits."""
        return [step for step in self.steps if fnmatchcase(str(step.sentence), pattern)]

    def only(self, pattern: str) -> Step:
        """The one Step whose sentence fits."""
        (step,) = self.every(pattern)
        return step

    def said(self, *kinds: str) -> Iterator[str]:
        """The sentences of these kinds, in order."""
        return (str(step.sentence) for step in self.steps if step.kind in kinds)


def world_of(**puppets: Doing) -> World:
    """A World with these actors."""
    world = World("test")
    for name, do in puppets.items():
        world.start(Puppet(name, do))
    return world


def play(
    world: World,
    *cues: str,
    late: tuple[str, ...] = (),
    is_held: bool = True,
    driver: str = "direct",
) -> Played:
    """Play it; every cue must have been taken, and every claim held unless it is said not to."""
    chooser = Cued(*cues, late=late)
    trace = Trace({}, keep=True)
    verdict = world.run(chooser, driver=driver, trace=trace)
    assert not chooser.cues, f"never offered: {chooser.cues}; verdict: {verdict}"
    assert (verdict.among_others == "held") is is_held, str(verdict)
    return Played(verdict, trace.steps, chooser.offered)


def note(name: str = "n", **data: str) -> Note:
    """A Note in the default namespace."""
    return Note(name, data=Map(data))
