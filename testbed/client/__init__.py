"""The client: all that an actor touches, down to the wire.

May use: errors, objects, switches, store, turns.
In order: stream, request, wire, audit, client, cache, actor.
"""
