"""Checkers of what the testbed writes. They trust none of its code: no file here imports it.

May use: nothing.
Siblings: no file here imports another.
"""
