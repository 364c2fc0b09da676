"""The scenarios that come with the testbed: each a race, and the guard that keeps it away.

May use: testbed, actors.
Siblings: no file here imports another.
"""
