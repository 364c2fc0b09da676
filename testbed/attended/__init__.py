"""Attended Runs: real programs in place of actors, over HTTP.

May use: objects.
In order: http.
"""
