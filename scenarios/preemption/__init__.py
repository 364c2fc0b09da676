"""Who preempts, and by what order: the alternatives that Kubernetes has rejected, side by side.

May use: nothing beside it.
Siblings: no file here imports another.
"""
