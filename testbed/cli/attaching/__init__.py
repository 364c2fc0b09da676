"""What the commands share that play Runs with real programs.

May use: nothing beside it.
In order: places, programs, attended.
"""
