"""Important pods that wait while others are placed.

May use: nothing beside it.
Siblings: no file here imports another.
"""
