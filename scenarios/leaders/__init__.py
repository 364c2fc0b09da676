"""Replicas of which one leads, and then another.

May use: nothing beside it.
Siblings: no file here imports another.
"""
