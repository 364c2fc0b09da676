"""The Choosers, one file each.

May use: errors, words, store, turns, invariant, chooser.
In order: deviations, sampling, equivalence; then siblings.
"""
