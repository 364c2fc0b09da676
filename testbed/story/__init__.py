"""The story: reads a Trace and tells who knew what, and why a claim broke.

May use: version, objects, words, store, turns, faults, invariant, races.
In order: causality, sightings, knowledge, requests, slice, wording, promises, cause, causes,
  opening, beat, sentences, diagram, mermaid, explain, growth, parting.
"""
