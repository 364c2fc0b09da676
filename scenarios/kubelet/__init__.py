"""Races of a kubelet with those that place its pods.

May use: nothing beside it.
Siblings: no file here imports another.
"""
