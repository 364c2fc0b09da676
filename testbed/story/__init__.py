"""The story: reads a Trace and tells who knew what, and why a claim broke.

May use: version, switches, objects, words, store, turns, client, faults, invariant,
  chooser, races.
In order: causality, sightings, knowledge, rerun, requests, reruns, slice, values, wording,
  refusing, twins, promises, cause, deciding, believing, causes, reasons, candidates, opening,
  lateness, sentences, diagram, mermaid, explain, chronicle, growth, parting.
"""
