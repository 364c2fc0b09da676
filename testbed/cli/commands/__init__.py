"""The commands of the command line, one file each.

May use: output, show, limits, jobs, playing, recorded, progress, mutant_lists, worth, compared,
  raised, races, mapped, explained, wrong_answers, profiled, own, attaching.
Siblings: no file here imports another.
"""
