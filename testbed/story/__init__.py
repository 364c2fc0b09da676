"""The story: reads a Trace and tells who knew what, and why a claim broke.

May use: objects, words, store, turns, faults, invariant, races.
In order: causality, knowledge, slice, wording, sentences, diagram, mermaid, explain, growth,
  parting.
"""
