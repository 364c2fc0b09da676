"""Who is preempted for which pod, and by what order.

May use: nothing beside it.
Siblings: no file here imports another.
"""
