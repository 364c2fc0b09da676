"""The shapes of causes, one file each: `found` yields those that a trace shows, the best first.

May use: knowledge, requests, slice, wording, promises, cause.
Siblings: no file here imports another.
"""
