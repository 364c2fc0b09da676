"""Disruption budgets that several spend at once.

May use: nothing beside it.
Siblings: no file here imports another.
"""
