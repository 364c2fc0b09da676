"""The shapes of causes, one file each: `found` yields those that a trace shows, the best first.

May use: sightings, knowledge, requests, slice, wording, refusing, promises, cause, believing.
Siblings: no file here imports another.
"""
