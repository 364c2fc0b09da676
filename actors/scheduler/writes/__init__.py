"""Writes: all that a scheduler writes, and in which order.

May use: cluster, queue, decisions, plugins, memory.
In order: difference, patches, fail, bind, make_room.
"""
