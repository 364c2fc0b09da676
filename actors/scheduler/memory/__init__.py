"""Memory: all that one life of a scheduler knows, and the handlers that keep it up to date.

May use: switches, cluster, queue, decisions, plugins, placing.
In order: glance, leading, permit, ticks, informers, beliefs, timers, books, cycle_record, digest,
  handlers.
"""
