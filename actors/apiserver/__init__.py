"""The API server: what every other program speaks to; a file for each family of its verbs.

May use: nothing.
In order: names, switches, memory, call, rules, admission, bootstrap, housekeeping, verbs, server,
  __init__, invariants, proving_ground, mutants.
"""

from actors.apiserver.server import ApiServer

__all__ = ["ApiServer"]
