"""The cluster autoscaler: it adds nodes for pods that find no room, and removes idle ones.

May use: framework, shared.
In order: settings, pass_record, pass_sight, listing_order, node_capacity, asking, simulation,
  state, templates, expander, expanders, switches, announcer, listers, scale_down, memory, scale_up,
  maintenance, pods_to_help, passing, quiet, telling, autoscaler, __init__, invariants,
  proving_grounds, growth_mutants, mutants.
"""

from actors.autoscaler.autoscaler import Autoscaler
from actors.autoscaler.expander import Expander, Expansion
from actors.autoscaler.settings import AutoscalerSettings

__all__ = ["Autoscaler", "AutoscalerSettings", "Expander", "Expansion"]
