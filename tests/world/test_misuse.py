"""Misuse: what a scenario says wrongly to its World is told with the line that says it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from testbed import Found, World, always, confluent, eventually, quiescent
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.errors import HarnessError
from testbed.faults.clock_step import ClockStep
from testbed.faults.crash import Crash
from testbed.faults.partition import Partition
from testbed.invariant import Evidence
from testbed.objects import Meta, Pod
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.turns.found import About
from testbed.world.scenario import find, of
from tests.each_row import each_row
from tests.shared.stage import Puppet, note


async def idle(client: Client) -> None:
    """Do nothing."""


class Lonely:
    """An actor by its look alone."""

    name = "lonely"

    async def run(self, client: Client) -> None:
        """Do nothing."""


def named(see: Evidence, *, what: str) -> str | None:
    """Take more than the Evidence."""
    return what


async def _late_actor() -> Lonely:
    return Lonely()


def _late(world: World) -> None:
    world.start(Puppet("alpha", idle))
    world.latency("get pods", actor="alhpa", serve_ms=3)


def _twice(world: World) -> None:
    for _ in range(2):
        world.start(Puppet("alpha", idle))


WRONG: dict[str, tuple[Callable[[Any], object], str]] = {
    "limit": (lambda w: w.limit(turn_max=3), "Did you mean 'turns_max'?"),
    "limit's text": (lambda w: w.limit(turns_max="3"), "turns_max='3'): expected a whole number"),
    "limit's sign": (lambda w: w.limit(virtual_ms_max=-1), "expected a whole number from 0"),
    "limit's none": (lambda w: w.limit(turns_max=None), "expected a whole number from 1 to"),
    "latency's verb": (lambda w: w.latency("bnd pods", serve_ms=3), "Did you mean 'bind'?"),
    "latency's kind": (lambda w: w.latency("get pod", serve_ms=3), "Did you mean 'pods'?"),
    "latency's time": (lambda w: w.latency("get pods", serve_ms=0.5), "in whole milliseconds"),
    "latency's actor": (_late, "Did you mean 'alpha'?"),
    "confluent's field": (
        lambda w: w.claim(confluent(ignoring=["spec.nodename"])), "Did you mean 'spec.node_name'?"
    ),
    "confluent's word": (
        lambda w: w.claim(confluent(ignoring=["nodename"])), "Did you mean 'spec.node_name'?"
    ),
    "confluent's leaf": (
        lambda w: w.claim(confluent(unordered=["pods.status.fase"])),
        "Did you mean 'pods.status.phase'?\nKnown: pods.status.conditions,",
    ),
    "confluent's kind": (lambda w: w.claim(confluent(ignoring=["pod"])), "Did you mean 'pods'?"),
    "claim": (lambda w: w.claim(len), "expected a claim that says when it holds"),
    "always": (lambda w: w.claim(always(3)), "expected a function that says what is wrong"),  # type: ignore[arg-type]
    "allow": (lambda w: w.allow("crash"), "expected a fault"),
    "start": (lambda w: w.start(Puppet("a", idle), at="stor"), "Did you mean 'store'?"),
    "start's name": (
        lambda w: w.start(Puppet(3, idle)),  # type: ignore[arg-type]
        "actor 3, rank 0: expected a name of letters, digits",
    ),
    "start's Endpoint": (lambda w: w.start(Puppet("a", idle), at=3), "of this World '3'"),
    "start's set of Endpoints": (
        lambda w: w.start(Puppet("a", idle), at={"store"}),
        "there is no Endpoint of this World \"{'store'}\"",
    ),
    "start's list of lists": (
        lambda w: w.start(Puppet("a", idle), at=[["store"]]),
        "there is no Endpoint of this World \"['store']\"",
    ),
    "start's function": (lambda w: w.start(idle), "expected an actor, or a factory of one"),
    "start's class": (lambda w: w.start(Lonely()), "given a Lonely, which is no Actor: expected"),
    "serve": (lambda w: w.serve(3), "world.serve was given 3: expected a class of Endpoints"),
    "start's factory": (lambda w: w.start(_late_actor), "given an async function: expected"),
    "serve one made before": (
        lambda w: w.serve(StoreEndpoint(Store(), "me")), "given StoreEndpoint(…): expected a class"
    ),
    "serve nothing": (lambda w: w.serve(lambda _: None), "given what makes a NoneType: expected"),
    "add twice": (lambda w: w.add(note("n"), note("n")), "given notes/default/n a second time"),
    "add without a name": (lambda w: w.add(note("")), "given a Note without a name: expected one"),
    "latency of a kind": (
        lambda w: w.latency(Pod, serve_ms=3), "expected a text as `what`, not <class"
    ),
    "latency's actor's type": (
        lambda w: w.latency("get pods", actor=3, serve_ms=3), "expected a text as `actor`, not 3"
    ),
    "claim without the Evidence": (
        lambda w: w.claim(always(lambda: None)),  # type: ignore[arg-type,misc]
        "the claim <lambda> cannot be asked: expected a function of the Evidence alone",
    ),
    "claim of two": (
        lambda w: w.claim(always(lambda see, more: None)),  # type: ignore[arg-type,misc]
        "the claim <lambda> cannot be asked",
    ),
    "claim that is async": (
        lambda w: w.claim(quiescent(idle)),  # type: ignore[arg-type]
        "the claim idle cannot be asked: expected a function",
    ),
    "claim that must be named": (
        lambda w: w.claim(always(named)),  # type: ignore[arg-type]
        "the claim named cannot be asked: expected a function of the Evidence alone",
    ),
    "claim of a part that is async": (
        lambda w: w.claim(always(partial(idle))),  # type: ignore[arg-type]
        "the claim idle cannot be asked: expected a function",
    ),
    "claim that says True": (
        lambda w: w.claim(quiescent(lambda see: True)),  # type: ignore[arg-type,return-value]
        "the claim <lambda> returned True: expected a sentence that says what is wrong, or None",
    ),
    "claim that finds no sentence": (
        lambda w: w.claim(quiescent(lambda see: Found(3))),  # type: ignore[arg-type]
        "the claim <lambda> returned a Found with text=3: expected a sentence that says what is",
    ),
    "claim that finds it to be of no kind": (
        lambda w: w.claim(quiescent(lambda see: Found("x", reason="odd"))),
        "the claim <lambda> returned a Found with reason='odd': expected one of 'stuck', 'died'",
    ),
    "claim that finds it about a thing": (
        lambda w: w.claim(quiescent(lambda see: Found("x", About(keys=(3,))))),  # type: ignore[arg-type]
        "the claim <lambda> returned a Found with about=About(…): expected keys, fields and actors",
    ),
    "reads": (
        lambda w: w.claim(always(lambda see: None, reads="log:pods")),  # type: ignore[arg-type]
        "reads='log:pods': expected a tuple of texts.\nNext: say reads=('log:pods',)",
    ),
    "reads' type": (
        lambda w: w.claim(always(lambda see: None, reads=(3,))),  # type: ignore[arg-type]
        "reads=(3,): expected a tuple of texts",
    ),
    "reads' item": (
        lambda w: w.claim(always(lambda see: None, reads=(["log:pods"],))),  # type: ignore[arg-type]
        "reads=(['log:pods'],): expected a tuple of texts",
    ),
    "within_ms": (
        lambda w: w.claim(eventually(lambda see: None, within_ms=0.5)),  # type: ignore[arg-type]
        "within_ms=0.5: expected whole milliseconds from 0",
    ),
    "within_ms' sign": (
        lambda w: w.claim(eventually(lambda see: None, within_ms=-1)),
        "within_ms=-1: expected whole milliseconds from 0",
    ),
    "fault's target": (
        lambda w: w.allow(Crash(3)),  # type: ignore[arg-type]
        "world.allow was given a Crash, but target is 3: expected a text",
    ),
    "fault's times": (
        lambda w: w.allow(Crash("a", times_max="1")),  # type: ignore[arg-type]
        "but times_max is '1': expected a whole number.\nNext: say 1, without quotes",
    ),
    "fault's budget": (lambda w: w.allow(Crash("a", times_max=-1)), "expected 0 or more"),
    "fault's length": (
        lambda w: w.allow(Partition("a", for_ms=-60_000)),
        "a Partition, but for_ms is -60000: expected 0 or more.\nNext: say for_ms=10000",
    ),
    "fault's end": (
        lambda w: w.allow(ClockStep(by_ms=-5, until_ms=-1)), "but until_ms is -1: expected 0"
    ),
    "fault's aim": (
        lambda w: w.allow(Crash("stoer")), "target of the fault crash 'stoer'. Did you mean 'store"
    ),
    "fault's glob": (
        lambda w: w.allow(Partition("kublet-*")), "no target of the fault partition 'kublet-*'"
    ),
    "start twice": (_twice, "two actors or Endpoints are called 'alpha'"),
    "add": (lambda w: w.add("n1"), "world.add was given 'n1': expected an object"),
    "an object's field": (
        lambda w: w.add(Pod(Meta("p", finalizers="x"))),  # type: ignore[arg-type]
        "world.add was given Pod 'p', but meta.finalizers is 'x': expected a tuple of texts.\n"
        "Next: say ('x',)",
    ),
}  # fmt: skip


@each_row("name", WRONG)
def test_what_is_wrong_is_told_with_its_line(name: str) -> None:
    """The file and the line first, then what was expected, then the next step."""
    wrong, said = WRONG[name]

    def build(world: World) -> None:
        wrong(world)

    with pytest.raises(HarnessError) as refused:
        of(build).world().run(Calm(), driver="direct")
    text = str(refused.value)
    line = wrong.__code__.co_firstlineno
    lines = [f"{__file__}, line {at}: " for at in range(line, line + 4)]
    assert text.startswith(tuple(lines))
    assert text.count(__file__) == 1
    assert said in text
    assert "\nNext: " in text


def test_a_scenario_of_the_testbed_tells_no_line() -> None:
    """What is wrong there is the switch, and that is the user's."""
    with pytest.raises(HarnessError, match=r"^writers=99: expected 1 to"):
        find("lost_update").world({"writers": 99})


def test_a_claim_of_which_a_part_is_given_has_its_name() -> None:
    """A `partial` has none of its own."""

    def so_many(count: int, see: Evidence) -> str | None:
        return None if len(see.store) == count else "not so many"

    def build(world: World) -> None:
        world.add(note("n"))
        world.claim(always(partial(so_many, 1)), eventually(partial(partial(so_many), 1)))
        world.claim(quiescent(partial(so_many, 2)))

    verdict = of(build).world().run(Calm(), driver="direct")
    assert [violation.invariant for violation in verdict.violations] == ["so_many"]
