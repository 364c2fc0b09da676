"""Writes: all that a scheduler writes to the API server, and in which order.

May use: switches, cluster, queue, decisions, plugins, memory.
In order: difference, nomination, victim_end, deed, fail, bind, make_room.
"""
