"""Code: what the testbed asks of what it is given: what a path leads to, what of a text can be
printed, whose a piece of code is and what it can be called with; and how a frozen class is made
quickly.

May use: errors.
In order: files, printable, whose, takes, twin, copier, quick.
"""
