"""The shapes of causes, one file each: `found` yields those that a trace shows, the best first.

May use: sightings, knowledge, requests, slice, slowness, wording, left, promises, cause.
Siblings: no file here imports another.
"""
