"""Alternative: one setting of a scenario's switches that is compared with others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product

import attrs

from testbed.errors import ScenarioError
from testbed.world.scenario import GUARD, Scenario

PROFILES = ["profile=k8s-1.26", "profile=k8s-modern"]
BETWEEN = re.compile(r",(?=[A-Za-z_][\w.-]*=)")
"""A comma before another switch; one within a value, as in `filters=-A,-B`, is none."""


@attrs.frozen
class Alternative:
    """Some switches, and what tells them from those of the others."""

    name: str
    """The switches that are its own, as on the command line."""
    switches: Mapping[str, str]
    """All that the scenario is given."""


def alternatives_of(given: Sequence[str]) -> tuple[Alternative, ...]:
    """What `--switch` texts ask for: the values of a switch that is given several times are
    compared, each with the switches that stand behind it; a switch given once is for all. With
    several such switches, every combination is an alternative. Without any there is one."""
    groups: dict[str, list[str]] = {}
    for text in given:
        groups.setdefault(text.partition("=")[0], []).append(text)
    common = [texts[0] for texts in groups.values() if len(texts) == 1]
    varied = [list(dict.fromkeys(texts)) for texts in groups.values() if len(texts) > 1]
    for_all = _pairs(",".join(common))
    return tuple(
        Alternative(",".join(own), {**for_all, **_pairs(",".join(own))}) for own in product(*varied)
    )


def two_of(recipe: Scenario, given: Sequence[str]) -> list[str]:
    """The `--switch` texts of one alternative, and one more that makes two of it: another value of
    a switch that the scenario has, if there is one that is on or off, or a number."""
    named = {text.partition("=")[0]: text for text in given}
    known = [switch for switch in recipe.switches.values() if switch.kind is not str]
    if not known:
        return [*dict.fromkeys(given), *PROFILES]
    # What is on or off has a second value for sure. A switch that was named is likelier meant.
    switch = min(known, key=lambda s: (s.kind is int, s.name not in named, s.name != GUARD))
    if switch.name in named:
        own, value = [], _pairs(named[switch.name])[switch.name]
    else:
        own, value = [f"{switch.name}={switch.shown}"], switch.shown
    return [*dict.fromkeys(given), *own, f"{switch.name}={switch.another(value)}"]


def _pairs(text: str) -> dict[str, str]:
    pairs = {}
    for each in filter(None, BETWEEN.split(text)):
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise ScenarioError(
                f"--switch {each}: expected NAME=VALUE, such as --switch guard=on.\n"
                "Next: testbed list shows the switches of each scenario."
            )
        pairs[name] = value
    return pairs
