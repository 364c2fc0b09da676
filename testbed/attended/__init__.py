"""Attended Runs: real programs in place of actors, over HTTP.

May use: objects, errors.
In order: http.
"""
