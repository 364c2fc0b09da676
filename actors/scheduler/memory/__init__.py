"""Memory: all that one life of a scheduler knows, and what tells it.

May use: switches, cluster, queue, decisions, plugins, placing.
In order: glance, leading, permit, ticks, books, digest, handlers.
"""
