"""The client: all that an actor touches, down to the wire.

May use: errors, code, objects, words, switches, store, turns.
In order: latency, open_watch, stream, handed, request_counts, request, point, wire, audit, asking,
  spawned, client, watching, cache, actor.
"""
