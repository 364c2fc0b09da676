"""Caches that are behind: after a restart, behind a slow server, with an answer lost.

May use: nothing beside it.
Siblings: no file here imports another.
"""
