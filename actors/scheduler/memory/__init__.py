"""State of one life of a scheduler: informers and handlers, its queue and cache, timers,
leadership; and how claims see it.

May use: switches, cluster, queue, decisions, plugins, placing.
In order: pre_check, leading, permit, ticks, informers, beliefs, timers, books, cycle_record,
  digest, handlers.
"""
