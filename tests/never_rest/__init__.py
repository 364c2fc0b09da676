"""Twelve Worlds in which something polls, ticks, renews or counts: each has its bug and its guard,
and is written as the author of a controller would."""
