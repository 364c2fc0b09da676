"""Why an act is not as in the twin, one file each: `told` renders it, and searches nothing.

May use: knowledge, requests, slice, values, wording, refusing, twins, cause, deciding,
  believing.
Siblings: no file here imports another.
"""
