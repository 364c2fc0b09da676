"""The cluster as this scheduler believes it is: its cache, and the nominations it knows of.

May use: nothing.
In order: cache, nominator.
"""
