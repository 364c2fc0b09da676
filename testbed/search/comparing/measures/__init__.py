"""What alternatives are compared by, one file each.

A new measure is a new file here: a class with a name that reads a RunHistory.

May use: sample, run_history, made_room, taken_room, machine_life, measure.
Siblings: no file here imports another.
"""
