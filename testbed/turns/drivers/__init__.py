"""The drivers: what carries the tasks of a World. Both give identical traces.

May use: life, head, table.
Siblings: no file here imports another.
"""
