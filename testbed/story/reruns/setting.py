"""Setting: what the components of a scenario are set to that its guard sets otherwise.

A trace shows what a program did, and not by which rule. If the guard of a scenario is a switch of a
component, such as a bug of an older Kubernetes, that switch is the rule. So two Worlds are
assembled, with the guard off and with it on, and compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from testbed.switches import PROFILE
from testbed.turns.trace import Trace

OFF, GUARD = "off", "guard"
CITED = re.compile(r" \([A-Z]+-\d+(?:, [A-Z]+-\d+)*\)|(?<=\()[A-Z]+-\d+, ")
"""A requirement that the docstring of a switch cites: no reader of a story has the list."""
PARTS_MAX = 3
"""If more parts than this are set otherwise, they are counted, and not named."""


def said(trace: Trace) -> str:
    """A sentence on the one switch that the guard sets otherwise, or the profile; empty if there is
    none, or if there are several."""
    world = trace.played_in
    make: Callable[..., Any] | None = getattr(world, "again", None)
    if make is None or world.switches.get(GUARD) != OFF:
        return ""
    differing = world.in_force.differing(make(guard="on").in_force)
    profiles = [each for each in differing if each[0] == PROFILE]
    found = profiles or list(differing)
    if len(found) != 1:
        return ""
    switch, here, there = found[0]
    parts = differing[found[0]]
    who = _listed(parts) if len(parts) <= PARTS_MAX else f"{len(parts)} components"
    doc = CITED.sub("", world.in_force.says(parts[0], switch))
    run = "runs" if len(parts) == 1 else "run"
    head = f"{who} {run} with {switch}={here}, which the guard sets to {there}"
    return f'{head}: "{doc}"' if doc else f"{head}."


def _listed(parts: list[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last
