"""Writes: all that a scheduler writes to the API server, and in which order.

May use: cluster, queue, decisions, plugins, memory.
In order: difference, deed, fail, bind, make_room.
"""
