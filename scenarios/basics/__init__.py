"""Races of any clients of one store: updates lost, reads torn, work undone.

May use: nothing beside it.
Siblings: no file here imports another.
"""
