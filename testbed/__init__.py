"""Testbed: deterministic races and faults for Kubernetes-like control planes.

The files and folders below are in reading order: each imports only what stands before it. A folder
is a room. Its `__init__` says what it is for, what it may use, and in which order to read it.

In order: errors, version, code, objects, words, switches, policy, child, store, turns, client,
  fault, faults, invariant, invariants, chooser, choosers, world, attended, races, search,
  story, testing, maps, page, teaching.
Doors, in order: __init__, strategies, pytest_plugin, checks, cli, __main__.

The names below are promised. Everything else can be imported too, but may change.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from testbed.code.hidden import tell_of_hidden
from testbed.version import VERSION

if TYPE_CHECKING:
    from testbed.chooser import Chooser, Plan
    from testbed.choosers.calm import Calm
    from testbed.choosers.uniform import Uniform
    from testbed.client.actor import Actor
    from testbed.client.cache import Cache
    from testbed.client.client import Client
    from testbed.errors import ApiError, Conflict, Expired, NotFound, Unavailable
    from testbed.fault import Fault
    from testbed.invariant import Evidence, Invariant, always, eventually, quiescent
    from testbed.invariants.confluence import confluent
    from testbed.invariants.lasso.no_lasso import no_lasso
    from testbed.store.endpoint import BETWEEN, Operation, Pause
    from testbed.store.selector import Selector
    from testbed.store.store_endpoint import StoreEndpoint
    from testbed.turns.found import Found
    from testbed.turns.trace import Trace
    from testbed.turns.verdict import Verdict
    from testbed.world.keeping import scenario
    from testbed.world.scenario import Scenario
    from testbed.world.world import World

__version__ = VERSION
tell_of_hidden()

_HOMES = {
    "Actor": "client.actor",
    "ApiError": "errors",
    "BETWEEN": "store.endpoint",
    "Cache": "client.cache",
    "Calm": "choosers.calm",
    "Chooser": "chooser",
    "Client": "client.client",
    "Conflict": "errors",
    "Evidence": "invariant",
    "Expired": "errors",
    "Fault": "fault",
    "Found": "turns.found",
    "Invariant": "invariant",
    "NotFound": "errors",
    "Operation": "store.endpoint",
    "Pause": "store.endpoint",
    "Plan": "chooser",
    "Scenario": "world.scenario",
    "Selector": "store.selector",
    "StoreEndpoint": "store.store_endpoint",
    "Trace": "turns.trace",
    "Unavailable": "errors",
    "Uniform": "choosers.uniform",
    "Verdict": "turns.verdict",
    "World": "world.world",
    "always": "invariant",
    "confluent": "invariants.confluence",
    "eventually": "invariant",
    "no_lasso": "invariants.lasso.no_lasso",
    "quiescent": "invariant",
    "scenario": "world.keeping",
}

__all__ = [
    "BETWEEN",
    "Actor",
    "ApiError",
    "Cache",
    "Calm",
    "Chooser",
    "Client",
    "Conflict",
    "Evidence",
    "Expired",
    "Fault",
    "Found",
    "Invariant",
    "NotFound",
    "Operation",
    "Pause",
    "Plan",
    "Scenario",
    "Selector",
    "StoreEndpoint",
    "Trace",
    "Unavailable",
    "Uniform",
    "Verdict",
    "World",
    "__version__",
    "always",
    "confluent",
    "eventually",
    "no_lasso",
    "quiescent",
    "scenario",
]


def __getattr__(name: str) -> Any:
    """Load a name when it is first asked for: `testbed --help` needs none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'testbed' has no attribute {name!r}")
    return getattr(import_module(f"testbed.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
