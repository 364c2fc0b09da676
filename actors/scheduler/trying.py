"""Trying: one node as it would be with some pods more or less, in whichever way is the quicker."""

from __future__ import annotations

from actors.scheduler.judging import Judging
from actors.scheduler.room import Room
from actors.scheduler.trial import Trial

AnyTrial = Trial | Room
"""Where nothing but what is left matters, sums are enough."""


def trial_of(judging: Judging, name: str) -> AnyTrial:
    """A node to try things on; KeyError if there is none of that name."""
    node, asked = judging.node(name), judging.only_room
    if asked is None or any(f.check(s, node) is not None for f, s in judging.fixed):
        return Trial(judging, node)
    return Room(*asked, node, judging.nominated_on(name))
