"""Code: what the testbed asks of Python code that it is given: whose it is, what it can be called
with.

May use: errors.
In order: whose, takes.
"""
