"""Testing: what a test of your own calls, and the results it gets.

May use: errors, words, code, objects, switches, policy, turns, client, fault, faults, invariant,
  chooser, choosers, world, attended, races, search, story.
In order: failure, run, seek, attended, attending, mutant, noticing, worth, complete.
"""
