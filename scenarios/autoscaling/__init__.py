"""Races between a cluster autoscaler and those that use its nodes.

May use: nothing beside it.
Siblings: no file here imports another.
"""
