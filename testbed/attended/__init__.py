"""Attended Runs: real programs in place of actors, over HTTP.

May use: errors, client, objects, store, turns, world.
In order: http, program, tape.
"""
