"""The story: reads a Trace and tells who knew what, and why a claim broke.

May use: version, switches, objects, words, store, turns, client, faults, invariant,
  chooser, races.
In order: causality, sightings, knowledge, rerun, requests, reruns, slice, behind,
  slowness, values, wording, left, promises, cause, causes, opening, beat, lateness,
  sentences, diagram, mermaid, explain, chronicle, growth, parting.
"""
