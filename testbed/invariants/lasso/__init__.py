"""No ping-pong: a Run that comes back to the same state for ever, proved by playing the lap again.

May use: nothing beside it.
In order: renaming, written, shown, lasting, likeness, moment, no_lasso.
"""
