"""Claims about every World, whatever runs in it; one file for each part of the testbed.

May use: errors, code, objects, words, store, turns, client, invariant.
Siblings: no file here imports another.
"""
