"""The world: one cluster, assembled from a scenario, played under a Chooser, and judged.

May use: errors, version, code, objects, words, switches, policy, store, turns, client, fault,
  faults, invariant, invariants, chooser, choosers.
In order: tried, fault_settings, budget, seen_store, audited_evidence, judge, ending, asides, gate,
  attendance, fault_kinds, chooser_kinds, in_force, header, play, reading, world, lap_proof,
  counterpart, keeping, users_code, scenario, shelf, chooser_by_name.
"""
