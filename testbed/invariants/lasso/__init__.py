"""No ping-pong: a Run that comes back to the same state for ever, proved by playing the lap again.

In order: likeness, moment, no_lasso.
"""
