"""When two Runs are equivalent: they differ only in the order of turns that commute.

May use: nothing beside it.
In order: orders, refusals, certificate, classes, tree, repeats.
"""
