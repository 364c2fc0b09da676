"""Whole clusters in which a cloud is judged, and the mutants of its controller hunted.

May use: node_group, controller, joining, invariants.
In order: siblings.
"""
