"""Room that was made for a pod: who keeps it free, and who takes it.

May use: nothing beside it.
Siblings: no file here imports another.
"""
