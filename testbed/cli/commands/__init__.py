"""The commands of the command line, one file each.

May use: show, jobs, playing, recorded, progress, compared, raised, races, profiled, own, attaching.
Siblings: no file here imports another.
"""
