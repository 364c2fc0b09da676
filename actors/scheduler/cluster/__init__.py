"""The cluster as a scheduler believes it is: the cache, and the nominations.

May use: nothing beside it.
In order: cache, nominator.
"""
