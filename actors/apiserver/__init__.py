"""The API server: the Endpoint that every other program speaks to.

May use: nothing beside it.
In order: names, switches, bare_server, call, defaults, validation, kind_rules, rules, admission,
  bootstrap, housekeeping, verbs, server, __init__, invariants, proving_ground, mutants.
"""

from actors.apiserver.server import ApiServer

__all__ = ["ApiServer"]
