"""Code: what the testbed asks of Python code that it is given: whose it is, what it can be called
with; and how a frozen class is made quickly.

May use: errors.
In order: whose, takes, twin, copier, quick.
"""
