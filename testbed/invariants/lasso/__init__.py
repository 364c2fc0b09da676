"""What comes back to the same state for ever: ping-pong, proved by playing the lap again, and a Run
that is idle.

May use: nothing beside it.
In order: renaming, written, shown, lap, lasting, likeness, moment, coarse, differing, outside,
  idle, growth, in_place, going_round, no_lasso.
"""
