"""The cluster as one pass of the autoscaler sees it, and where pods would find room in it.

May use: nothing beside it.
In order: simulation, packer.
"""
