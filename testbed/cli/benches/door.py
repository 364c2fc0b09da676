"""bench door: how fast a real program is served, compared with an actor that asks the same.

Both ask the API server of a World with 5,000 pods: one as a process of its own over HTTP, one thing
at a time, so that after each answer and each line it is waited for; the other as a task. They get,
patch and list 500 pods; then 200 watches are told of changes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import attrs

from testbed.child import child_command
from testbed.choosers.calm import Calm
from testbed.client.actor import Actor
from testbed.client.client import Client
from testbed.errors import HarnessBug
from testbed.objects import Map, Pod, Revision
from testbed.objects.codec import decode
from testbed.store.endpoint import Operation
from testbed.store.selector import Selector
from testbed.turns.garbage import collected_between
from testbed.turns.trace import Trace
from testbed.world.attendance import Attendance
from testbed.world.world import World

PODS, IN_NAMESPACE = 5_000, 500
REQUESTS, LISTS = 500, 20
LINES, WATCHES = 20, 200
TURNS_MAX = 1 << 30
NAME = "knocking"
RATES = ("get", "patch", "list", "line")


def _nothing(_: int) -> None:
    """Tell nobody how far it is."""


def length() -> int:
    """How many Worlds are played."""
    return 2


def measure(
    pods: int = PODS,
    requests: int = REQUESTS,
    lists: int = LISTS,
    lines: int = LINES,
    watches: int = WATCHES,
    done: Callable[[int], None] = _nothing,
) -> dict[str, Any]:
    """Requests and lines per second through the door and in process, and their ratio."""
    counts = (requests, lists, lines, watches)
    inside: dict[str, float] = {}
    _play(Asking(NAME, counts=counts, rates=inside), pods)
    done(1)
    outside = _attended(pods, counts)
    done(1)
    figures: dict[str, Any] = {}
    for what in RATES:
        many = f"{what}_of_{min(pods, IN_NAMESPACE)}" if what == "list" else what
        figures[f"{many}_per_s"] = round(outside[what])
        figures[f"{many}_in_process_per_s"] = round(inside[what])
        figures[f"{many}_ratio"] = round(outside[what] / inside[what], 4)
    return {**figures, "pods": pods, "watches": watches}


def _attended(pods: int, counts: tuple[int, ...]) -> dict[str, float]:
    """The rates that a real program has measured."""
    # Only here: h11 is an extra, and no other bench needs it.
    from testbed.attended.doorman import Doorman
    from testbed.attended.troupe import Troupe
    from testbed.attended.wall_times import WallTimes

    command = (*child_command("testbed.cli.benches.knocking"), *map(str, counts))
    with TemporaryDirectory() as folder:
        troupe = Troupe({NAME: command}, Path(folder))
        _play(Asking(NAME), pods, Doorman(troupe, WallTimes(start_s=0.03)))
        rates: dict[str, float] = decode(troupe.output_of(NAME).read_bytes())
        return rates


def _play(asking: Actor, pods: int, attendance: Attendance | None = None) -> None:
    """One Run, to the end of that actor, or of the program in place of it."""
    world = World("bench", attendance=attendance)
    world.limit(turns_max=TURNS_MAX, instant_turns_max=TURNS_MAX)
    # The testbed may not import `actors`, so the server is found by name.
    world.serve(import_module("actors.apiserver").ApiServer)
    world.add(*[Pod.of(f"ns{n // IN_NAMESPACE}/p{n % IN_NAMESPACE}") for n in range(pods)])
    world.start(asking)
    with collected_between():
        verdict = world.run(Calm(), driver="direct", trace=Trace({}))
    if not verdict.is_held:
        raise HarnessBug(f"bench door: {verdict}")


@attrs.frozen
class Asking(Actor):
    """Asks what the program asks, in process, and notes how fast it was answered."""

    counts: tuple[int, ...] = ()
    rates: dict[str, float] = attrs.field(factory=dict, eq=False)

    async def run(self, client: Client) -> None:
        requests, lists, lines, watches = self.counts
        await self._rate(client, "get", [_of(n, "get") for n in range(requests)])
        await self._rate(client, "patch", [_patch(n, n) for n in range(requests)])
        listing = Operation("list", "pods", selector=Selector(namespace="ns0"))
        await self._rate(client, "list", [listing] * lists)
        revision = (await client.ask(_of(0, "get"))).meta.revision
        watching = Operation("watch", "pods", revision=Revision(revision))
        streams = [await client.ask(watching) for _ in range(watches)]
        began = perf_counter()
        readers = [client.spawn("reader", partial(_read, stream, lines)) for stream in streams]
        for number in range(lines):
            await client.ask(_patch(number, number + 1))
        for reader in readers:
            await client.join(reader)
        self.rates["line"] = lines * watches / (perf_counter() - began)

    async def _rate(self, client: Client, what: str, operations: list[Operation]) -> None:
        began = perf_counter()
        for operation in operations:
            await client.ask(operation)
        self.rates[what] = len(operations) / (perf_counter() - began)


async def _read(stream: Any, lines: int) -> None:
    for _ in range(lines):
        await stream.next()


def _of(number: int, verb: str, body: Any = None, **said: Any) -> Operation:
    name = f"p{number % IN_NAMESPACE}"
    return Operation(verb, "pods", name, "ns0", body, **said)


def _patch(number: int, value: int) -> Operation:
    body = Map(metadata=Map(labels=Map(n=str(value))))
    return _of(number, "patch", body, options=Map(how="merge"))
