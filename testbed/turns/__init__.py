"""Turns: what may happen next, which task moves, the record of it, and what that has shown.

May use: errors, code, objects, words, store.
In order: option, life, pending, because, trace, found, verdict, recorded, suspects, shared,
  imprint, happening, head, table, acting, forgotten, garbage, drivers, waits, timers, watchdog,
  session.
"""
