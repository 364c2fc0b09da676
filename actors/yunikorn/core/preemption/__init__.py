"""Who has to go for an ask that requires its node: filtered, sorted, selected.

May use: allocation, node, partition.
In order: filtering, sorting, strategies, preemptor, __init__.
"""
