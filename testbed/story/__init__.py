"""The story: from a Trace to who knew what, and why it broke.

May use: objects, words, store, turns, faults, invariant, races.
In order: causality, knowledge, slice, wording, sentences, diagram, mermaid, explain, growth,
  parting.
"""
