"""Testbed: deterministic races and faults for Kubernetes-like control planes.

Data walks one road, and the modules stand in this order, each importing only what is before it:

  words    errors · version · spoken · counted · objects/ · switches · policy · budget · change ·
           option · document · scalar · documents
  ground   life · pending · txn · store · selector · delivery · watch · endpoint · store_endpoint ·
           trace
  table    turns · drivers/ · waits · stream · request · wire · audit · client · cache · actor
  rules    fault · settings · faults/ · fault_kinds · invariant · likeness · moment · invariants/
  world    judge · ending · watchdog · session · chooser · pattern · race · racefile · chance ·
           learned · profiler · sampler · asides · classes · certificate · tree · in_force ·
           assembly · world · lapping · choosers/ · chooser_kinds · scenario · choosing · allowed ·
           manifest
  search   racing · reason · shrink · window · sweep · expecting · rewriting · healing · job ·
           bounds · player · engine · engines/ · coverage · finding · sources · ledger · portfolio ·
           effort · search
  telling  causality · knowledge · matter · tale · diagram · mermaid · explain · necessity ·
           growth · parting · failing · run · seeking · mutant
  doors    __init__ · strategies · pytest_plugin · checks/ · benches/ · cli/ · __main__

The names below are promised; everything else can be imported, and may change.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from testbed.version import VERSION

if TYPE_CHECKING:
    from testbed.actor import Actor
    from testbed.cache import Cache
    from testbed.chooser import Chooser, Plan
    from testbed.choosers.calm import Calm
    from testbed.choosers.uniform import Uniform
    from testbed.client import Client
    from testbed.endpoint import BETWEEN, Operation, Pause
    from testbed.errors import ApiError, Conflict, Expired, NotFound, Unavailable
    from testbed.fault import Fault
    from testbed.invariant import Evidence, Invariant, Verdict, always, eventually, quiescent
    from testbed.invariants.confluence import confluent
    from testbed.invariants.lasso import no_lasso
    from testbed.scenario import Scenario
    from testbed.selector import Selector
    from testbed.store_endpoint import StoreEndpoint
    from testbed.trace import Trace
    from testbed.world import World

__version__ = VERSION

_HOMES = {
    "Actor": "actor",
    "ApiError": "errors",
    "BETWEEN": "endpoint",
    "Cache": "cache",
    "Calm": "choosers.calm",
    "Chooser": "chooser",
    "Client": "client",
    "Conflict": "errors",
    "Evidence": "invariant",
    "Expired": "errors",
    "Fault": "fault",
    "Invariant": "invariant",
    "NotFound": "errors",
    "Operation": "endpoint",
    "Pause": "endpoint",
    "Plan": "chooser",
    "Scenario": "scenario",
    "Selector": "selector",
    "StoreEndpoint": "store_endpoint",
    "Trace": "trace",
    "Unavailable": "errors",
    "Uniform": "choosers.uniform",
    "Verdict": "invariant",
    "World": "world",
    "always": "invariant",
    "confluent": "invariants.confluence",
    "eventually": "invariant",
    "no_lasso": "invariants.lasso",
    "quiescent": "invariant",
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
]


def __getattr__(name: str) -> Any:
    """Load a name when it is first asked for: `testbed --help` needs none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'testbed' has no attribute {name!r}")
    return getattr(import_module(f"testbed.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
