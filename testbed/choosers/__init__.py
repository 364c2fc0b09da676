"""The Choosers, one file each.

May use: errors, code, words, store, turns, invariant, chooser.
In order: deviations, sampling, equivalence; then siblings.
"""
