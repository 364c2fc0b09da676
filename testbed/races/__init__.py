"""Races: a Run as a few lines that can be written, read, played, shrunk, repaired and trusted.

May use: errors, code, objects, words, policy, store, turns, fault, invariant, chooser,
  choosers, world.
In order: pattern, yaml_lines, race, racefile, counting, race_chooser, noting, trust, playing,
  reason, verdicts, course, trying, leaving_out, fewer, passing, plainer, shrink, window, necessity,
  expecting, rewriting, healing.
"""
