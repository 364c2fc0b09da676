"""Controllers: each compares what exists with what is wanted, and closes the gap.

May use: framework, shared.
In order: switches, kinship, frame; then siblings, invariants,
  proving_grounds, deleting_mutants, mutants.
"""
