"""The cluster as a scheduler believes it is: the cache, and the nominations.

May use: nothing.
In order: cache, nominator.
"""
