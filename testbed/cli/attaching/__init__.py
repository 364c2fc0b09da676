"""What the commands do that play Runs with real programs.

May use: output, show, limits, playing, progress, races.
In order: places, programs, attended, attach.
"""
