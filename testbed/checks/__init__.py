"""What checks our output and trusts nothing of ours: no file here imports the testbed.

May use: nothing.
Siblings: no file here imports another.
"""
