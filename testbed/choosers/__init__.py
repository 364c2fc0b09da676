"""The Choosers, one file each.

May use: errors, code, words, store, turns, chooser.
In order: deviations, sampling, equivalence; then siblings.
"""
