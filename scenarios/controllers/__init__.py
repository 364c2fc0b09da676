"""Controllers that act by old news, or against each other.

May use: nothing beside it.
Siblings: no file here imports another.
"""
