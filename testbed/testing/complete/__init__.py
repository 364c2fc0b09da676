"""The complete search with one part of it edited, and Worlds in which it then misses a class.

May use: mutant.
In order: worlds, edits, unsound, mutants.
"""
