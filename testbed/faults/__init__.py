"""The kinds of Fault, one file each.

May use: errors, store, turns, fault.
Siblings: no file here imports another.
"""
