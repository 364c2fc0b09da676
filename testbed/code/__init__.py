"""Code: what the testbed asks of what it is given: what a path leads to, what of a text can be
printed, which folder hides ours, whose a piece of code is, what it can be called with, whether what
it makes can change; and how a frozen class is made quickly.

May use: errors.
In order: files, printable, hidden, whose, takes, twin, copier, quick, changing.
"""
