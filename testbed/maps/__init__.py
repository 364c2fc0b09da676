"""Maps: each state that a small World can be in, and each move between them.

May use: errors, objects, words, switches, store, turns, fault, invariant, invariants, chooser,
  choosers, world.
In order: shown, looks, saying, sameness, believing, graph, walking, state_map, mapping.
"""
