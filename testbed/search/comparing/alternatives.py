"""Alternative: one setting of a scenario's switches that is compared with others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product

import attrs

from testbed.errors import ScenarioError

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
    several such switches, every combination is an alternative."""
    groups: dict[str, list[str]] = {}
    for text in given:
        groups.setdefault(text.partition("=")[0], []).append(text)
    common = [texts[0] for texts in groups.values() if len(texts) == 1]
    varied = [list(dict.fromkeys(texts)) for texts in groups.values() if len(texts) > 1]
    if not varied or any(len(texts) == 1 for texts in varied):
        raise ScenarioError(
            f"{_told(given)}: expected a switch that is given several times, to compare.\n"
            "Next: testbed compare who_preempts --switch preemptor=scheduler "
            "--switch preemptor=kubelet"
        )
    for_all = _pairs(",".join(common))
    return tuple(
        Alternative(",".join(own), {**for_all, **_pairs(",".join(own))}) for own in product(*varied)
    )


def _told(given: Sequence[str]) -> str:
    return " ".join(f"--switch {text}" for text in given) or "no --switch"


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
