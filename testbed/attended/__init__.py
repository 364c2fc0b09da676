"""Attended Runs: real programs in place of actors, over HTTP.

May use: nothing.
In order: http.
"""
