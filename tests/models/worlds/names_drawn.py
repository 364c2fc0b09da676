"""Which public names drawn Worlds owe, and which are the testbed's own."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import get_type_hints

import testbed
import testbed.errors
import testbed.faults
from testbed.client.cache import Cache
from testbed.client.client import Client, Task
from testbed.client.stream import NextDelivery, Stream
from testbed.errors import ApiError
from testbed.invariant import Evidence, Invariant
from testbed.objects.meta import Revision
from testbed.store.delivery import Delivery
from testbed.store.endpoint import Endpoint, Listing, Operation, Pause
from testbed.store.selector import Selector
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.turns.timers import Alarm, Sleep
from testbed.turns.trace import Record
from testbed.turns.waits import First, Join, Queue, Signal
from testbed.world.world import World
from tests.models.worlds import drawn_claims
from tests.models.worlds.drawn_endpoints import Diary, Gate, Ledger, Pocket
from tests.models.worlds.name_spy import Spy, names_of, parameters_of, wanted

HELD = (
    Client, Task, Cache, Signal, Queue, Alarm, Sleep, Join, First, Stream, NextDelivery, Listing,
    Delivery, Revision, Evidence, Record, Store, World,
)  # fmt: skip
"""What an actor, an Endpoint, a claim or a scenario holds: each name of it."""
MADE = (Operation, Pause, Selector, StoreEndpoint)
"""What they make: each parameter of its constructor."""


def _is_maker(name: str) -> bool:
    """Whether it is a function that returns a claim."""
    held = getattr(testbed, name)
    made = get_type_hints(held).get("return") if inspect.isfunction(held) else None
    return isinstance(made, type) and issubclass(made, Invariant)


FACADE_MAKERS = {name: getattr(testbed, name) for name in testbed.__all__ if _is_maker(name)}
"""The claim makers of the facade."""

WAIT = "the Table's side of a wait, which a program awaits and does not look at"
OWN = "for the testbed itself, as its docstring says"
PLAY = "how a World is played, not assembled"
PLAIN = "a plain value, which nothing of the World decides"
OURS: dict[str, str] = {
    **{f"{kind}.{name}": WAIT for kind in ("Sleep", "Join", "First", "NextDelivery")
       for name in ("arm", "disarm", "note", "reason", "is_idle")},
    "Stream.error": "raised in the task that reads, too",
    "Cache.upto": OWN,
    "Delivery.change": OWN,
    "Delivery.error": "raised in the task that waits, which does not get the Delivery",
    **{f"World.{name}": PLAY for name in (
        "__init__", "again", "allowed", "attendance", "beside", "budget", "chooser", "client_for",
        "close", "conclude",
        "evidence", "faults_max", "faults_struck", "find_faults", "forbid", "goes_on", "here",
        "hits", "in_force", "judge", "needs_no_race", "offer_start", "play", "prepare", "run",
        "scenario", "store", "switches", "table", "trace", "turns_expected", "verdict", "wire",
        "without")},
    "Evidence.choices": "how `no_lasso` plays a lap again",
    "Evidence.happened": "how `no_lasso` plays a lap again",
    "Evidence.laps_from": "how `no_lasso` plays a lap again",
    "Evidence.play_lap": "how `no_lasso` plays a lap again",
    "Evidence.go_on": "how `no_lasso` goes on calmly from what has happened",
    "Evidence.calm_end": "how `confluent` has the calm run played",
    "Evidence.forget_scenario": "called by the World while it is assembled",
    "Evidence.table": "the testbed's own parts, for its own claims",
    "Evidence.named_in": "how a claim of ours says what its breach is about",
    "Evidence.waiting": "the tasks behind `stuck`, for the claim of ours that tells of them",
    "Evidence.reads": "how it is known what claims read that grows by itself",
    "Evidence.ask": "how the World shows a claim no more than it has declared",
    "Evidence.wire": "the testbed's own parts, for its own claims",
    **{f"Store.{name}": "the harness's side of the Store, as its docstring says" for name in (
        "marks", "clock", "window", "check_readable", "check_since", "heard", "look_back",
        "mark_revision_read", "listeners", "touched", "first_after", "compact", "unmarked",
        "has_given_log")},
    **{f"{kind}.{name}": PLAIN for kind in ("Listing", "Delivery", "Record")
       for name in ("__eq__", "__hash__", "__repr__")},
    **{f"Record.{name}": "how a trace and a story show it" for name in (
        "line", "said", "speaks_of", "facts")},
}  # fmt: skip
"""Public names that no drawn World owes, and why."""


def fault_kinds() -> Iterator[type]:
    """The class of each file in `testbed/faults/`."""
    for module in pkgutil.iter_modules(testbed.faults.__path__):
        held = importlib.import_module(f"testbed.faults.{module.name}")
        yield getattr(held, "".join(part.title() for part in module.name.split("_")))


def spied(spy: Spy) -> None:
    """Watch all of it."""
    for kind in (*HELD, *MADE, *fault_kinds()):
        spy.watch(kind)
    for error in vars(testbed.errors).values():
        if isinstance(error, type) and issubclass(error, ApiError):
            spy.watch(error, "ApiError")
    for name in FACADE_MAKERS:
        spy.watch_function(drawn_claims, name)


def unused(used: set[str]) -> set[str]:
    """The names that drawn Worlds owe and do not use."""
    owed = set().union(*map(wanted, HELD))
    for kind in (*MADE, *fault_kinds()):
        owed |= {name for name in wanted(kind) if name.startswith(f"{kind.__name__}.__init__")}
    owed |= {f"ApiError.{name}" for name in ("code", "reason", "retry_after_s", "causes")}
    for name, maker in FACADE_MAKERS.items():
        owed |= {name, *(f"{name}({each})" for each in parameters_of(maker))}
    built = {
        name for kind in HELD if kind not in (Cache, Revision)
        for name in owed if name.startswith(f"{kind.__name__}.__init__")
    }  # fmt: skip
    ours = {name for name in owed if {name, name.partition("(")[0]} & set(OURS)}
    return owed - built - ours - used


def not_overridden() -> set[str]:
    """What a claim or an Endpoint of one's own may say, and none of a drawn World says."""
    listener = {*names_of(drawn_claims.Listener), *vars(drawn_claims.LISTENERS["commit"])}
    endpoints = set().union(*(vars(kind) for kind in (Ledger, Diary, Pocket, Gate)))
    given = {"name", "switches", "on_behind"}
    wanted_there = {f"Endpoint.{name}" for name in names_of(Endpoint) if name not in given}
    said = {f"Endpoint.{name}" for name in endpoints} | {f"Invariant.{name}" for name in listener}
    return (wanted_there | {f"Invariant.{name}" for name in names_of(Invariant)}) - said
