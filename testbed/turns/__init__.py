"""Turns: what may happen next, which task moves, and the record of it.

May use: errors, code, objects, store.
In order: option, life, pending, because, trace, recorded, suspects, shared, imprint, happening,
  head, table, acting, forgotten, garbage, drivers, waits, timers, watchdog, session.
"""
