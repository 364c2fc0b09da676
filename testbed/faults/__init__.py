"""The kinds of Fault, one file each, named as its word. A new file is a new kind.

May use: errors, store, turns, fault.
Siblings: no file here imports another.
"""
