"""Who goes for whom, by what order, and who takes the room that was made.

May use: nothing beside it.
Siblings: no file here imports another.
"""
