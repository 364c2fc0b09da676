"""Testing: what a test holds and calls.

May use: errors, words, turns, fault, invariant, chooser, choosers, world, races, search, story.
In order: failure, run, seek, mutant.
"""
