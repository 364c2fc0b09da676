"""Maps: each state that a small World can be in, and each move between them.

May use: errors, objects, words, switches, store, turns, fault, invariant, invariants,
  chooser, choosers, world, story.
In order: describing, looks, saying, sameness, believing, graph, merging, walking, state_map,
  mapping.
"""
