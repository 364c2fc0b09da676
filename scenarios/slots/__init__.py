"""Races for the last place on a node.

May use: nothing beside it.
Siblings: no file here imports another.
"""
